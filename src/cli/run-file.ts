/** `sessionlake run FILE`: a pipeline definition. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { type OptionsInput, type optionsSchema, parseOptions, UsageError } from '../options.ts';

const commands = ['export', 'sync', 'stream', 'usage'] as const;

/** A definition: the command, its options, and SQL to be written beside the lake. */
const definitionSchema = z.strictObject({
  $schema: z.string().optional(),
  description: z.string().optional(),
  command: z.enum(commands),
  options: z.record(z.string(), z.unknown()).default({}),
  /** Name of a file below the lake that gets the SQL of ready-made views over it. */
  views: z.string().min(1).optional(),
});
type Definition = z.output<typeof definitionSchema>;

/** What the value of a key is, in words. */
const meanings: Readonly<Record<string, string>> = {
  $schema: 'a text',
  description: 'a text',
  command: commands.join(', ').replace(/, ([^,]*)$/, ' or $1'),
  options: 'an object, like { "agent": ["claude"] }',
  views: 'the name of a file in the lake',
};

/** Reads a definition. Throws `UsageError` that names the file and the key. */
function readDefinition(file: string): Definition {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}); name a pipeline definition`,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
  const result = definitionSchema.safeParse(json);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? `unknown key ${issue.keys.map((k) => `'${k}'`).join(', ')}; known: ${Object.keys(definitionSchema.shape).join(', ')}`
      : issue.path.length === 0
        ? 'a definition must be an object with a command and its options'
        : `'${issue.path.join('.')}' must be ${meanings[String(issue.path[0])]}`,
  );
  throw new UsageError(`${file}: ${problems.join('; ')}`);
}

const PATH_OPTIONS = ['out', 'cursor'] as const;

/** Environment variables and `~` in a path; relative paths are relative to the folder the command was started in. */
function expandPath(path: string, file: string): string {
  const expanded = path
    .replace(/^~(?=$|\/)/, homedir())
    .replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, fallback: string | undefined) => {
      const value = process.env[name] || fallback;
      if (value === undefined) throw new UsageError(`${file}: the environment variable ${name} is not set`);
      return value.replace(/^~(?=$|\/)/, homedir());
    });
  return isAbsolute(expanded) ? expanded : resolve(expanded);
}

export async function runFile(_: OptionsInput, file: string | undefined): Promise<number> {
  if (file === undefined) throw new UsageError('run needs a FILE');
  const definition = readDefinition(file);
  const options: Record<string, unknown> = { ...definition.options };
  for (const name of PATH_OPTIONS)
    if (typeof options[name] === 'string') options[name] = expandPath(options[name], file);
  try {
    parseOptions(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${file}: ${error.message.replace(/(^|; )--/g, '$1')}`);
  }
  const input = options as z.input<typeof optionsSchema>;
  const status = await runCommand(definition.command, input);
  if (definition.views !== undefined && typeof options['out'] === 'string' && status !== 3) {
    const { writeViews } = await import('./schema.ts');
    writeViews(options['out'], definition.views, String(options['format'] ?? 'parquet'));
  }
  return status;
}

async function runCommand(command: Definition['command'], input: OptionsInput): Promise<number> {
  if (command === 'usage') return (await import('./usage.ts')).usage(input);
  const read = await import('./read.ts');
  return command === 'export' ? read.exportCommand(input) : command === 'sync' ? read.sync(input) : read.stream(input);
}
