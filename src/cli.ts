#!/usr/bin/env node
/** Entry of the command: says so in one line where Node is too old, before anything that needs a newer one is loaded. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 15)) {
  process.stderr.write(`sessionlake needs Node 22.15 or newer; this is ${process.version}\n`);
  process.exitCode = 1;
} else {
  const { keepCompiled } = await import('./cli/compile-cache.ts');
  keepCompiled();
  const { main } = await import('./cli/main.ts');
  process.exitCode = await main(process.argv.slice(2));
}
