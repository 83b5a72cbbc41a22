/** What stands in a store and is no file of it is told by those commands that say where they looked. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyOf, parseRows, projectFolder, run } from './support/command.ts';

const CASE = join(projectFolder, 'fixtures', 'claude', 'streamed-blocks-final-usage', 'store');

it.skipIf(process.platform === 'win32')(
  'links, FIFOs and folders in place of files do not stop a run, and are told',
  async () => {
    const store = copyOf(CASE);
    const project = join(store, 'projects', 'project');
    mkdirSync(join(project, 'folder.jsonl'), { recursive: true });
    execFileSync('mkfifo', [join(project, '0c1a0001-0000-4000-8000-000000000001.jsonl'), join(store, 'history.jsonl')]);
    symlinkSync('/etc/hostname', join(project, 'link.jsonl'));
    symlinkSync('.', join(project, 'loop'));

    const env = { CLAUDE_CONFIG_DIR: store };
    const explained = await run(['sources', '--explain', '--json', '--agent', 'claude'], env);
    const told = JSON.stringify(JSON.parse(explained.stdout));
    expect(told).toMatch(/link\.jsonl.*loop|loop.*link\.jsonl/);
    expect(told).toMatch(/is a link; links are not followed/);
    expect(told).toMatch(/is neither a file nor a folder/);

    const { status, stdout, stderr } = await run(['stream', '--agent', 'claude'], env);
    expect(status).toBe(0);
    expect(parseRows(stdout).filter(({ record }) => record === 'session')).toHaveLength(1);
    expect(stderr).toMatch(/passed by: 4 links and special files/);
  },
);
