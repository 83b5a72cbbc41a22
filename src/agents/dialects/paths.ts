/** Paths as stores spell them. */

/** The path in a `file:` URI, percent-decoded; of other URIs with a path (remote folders) that path; else null. */
export function pathOfUri(uri: string | null): string | null {
  if (uri === null) return null;
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(\/.*)?$/i.exec(uri);
  if (match === null) return null;
  const path = decoded(match[3] ?? '/');
  // `/C:/work` is a Windows path; a host in a file URI is a share.
  if (/^\/[A-Za-z]:/.test(path)) return path.slice(1);
  return match[1]!.toLowerCase() === 'file' && match[2] !== '' && match[2] !== 'localhost'
    ? `//${match[2]}${path}`
    : path;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A percent sign that begins no escape: the path is as it stands.
    return path;
  }
}

/** A folder that is given as a path or as a URI; null for a blank one. */
export const folderOf = (value: string | null): string | null =>
  value === null || value.trim() === '' ? null : /^[a-z][a-z0-9+.-]+:\/\//i.test(value) ? pathOfUri(value) : value;
