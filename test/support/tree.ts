/** What stands in a folder: names, sizes, times and contents, in one text to compare. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export function treeOf(folder: string): string[] {
  const lines: string[] = [];
  const walk = (path: string): void => {
    const stat = lstatSync(path);
    const isFolder = stat.isDirectory();
    const content = isFolder ? '' : createHash('sha1').update(readFileSync(path)).digest('hex');
    lines.push([relative(folder, path), stat.mode, isFolder ? '' : stat.size, stat.mtimeMs, content].join(' '));
    if (isFolder) for (const name of readdirSync(path).sort()) walk(join(path, name));
  };
  walk(folder);
  return lines;
}
