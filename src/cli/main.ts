/** The command line: takes the arguments apart, runs a command, and says how it ended. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import type { OptionsInput } from '../options.ts';
import { type CommandSpec, commands, optionOf } from './commands.ts';
import { explainError } from './errors.ts';
import { tell } from './terminal.ts';

/** Help is laid out for a terminal of this width, or a narrower one. */
const HELP_WIDTH = 100;

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** Groups of commands, like `cursor`, and what they are for. */
const groups: Readonly<Record<string, string>> = { cursor: 'show or reset a cursor' };

const sentence = (summary: string): string => `${summary[0]!.toUpperCase()}${summary.slice(1)}.`;

function groupOf(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  return (
    known ??
    program
      .command(name)
      .summary(groups[name] ?? '')
      .description(sentence(groups[name] ?? name))
  );
}

function addCommand(program: Command, spec: CommandSpec, done: (status: number) => void): void {
  const [name, group] = spec.name.split(' ').reverse() as [string, string | undefined];
  const parent = group === undefined ? program : groupOf(program, group);
  const command = parent.command(name).summary(spec.summary).description(sentence(spec.summary));
  if (spec.argument !== undefined) command.argument(spec.argument);
  for (const option of spec.options) command.addOption(optionOf(option, spec.texts?.[option]));
  for (const option of spec.extra ?? []) command.addOption(option);
  command.addHelpText('after', `\nExample:\n  $ ${spec.example}`);
  command.action(async (...args: unknown[]) => {
    const argument = spec.argument === undefined ? undefined : (args[0] as string);
    const options = Object.fromEntries(
      Object.entries(command.opts<Record<string, unknown>>()).map(([key, value]) => [
        key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`),
        value,
      ]),
    );
    const action = await spec.load();
    done(await action(options as OptionsInput, argument));
  });
}

/** Ends by a signal run what is to be done at the end; a batch that was under way is the next run's to clear. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A reader that went away is no error; anything else that keeps output from being written is. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  tell(`sessionlake: standard output cannot be written: ${error.message}`);
  process.exit(3);
}

/** Runs the command line and gives the exit status. Never throws. */
export async function main(args: readonly string[]): Promise<number> {
  for (const [signal, code] of Object.entries(signals)) process.once(signal, () => process.exit(code));
  process.stdout.on('error', leaveQuietly);
  let status = 0;
  const done = (value: number): void => {
    status = value;
  };
  const program = new Command('sessionlake')
    .description(
      'Coding-agent session stores into warehouse tables: NDJSON on a pipe, Parquet or Arrow files, once or incrementally.',
    )
    .version(version())
    .showHelpAfterError("(see 'sessionlake help COMMAND')")
    .configureOutput({
      getOutHelpWidth: () => Math.min(HELP_WIDTH, process.stdout.columns ?? HELP_WIDTH),
      getErrHelpWidth: () => Math.min(HELP_WIDTH, process.stderr.columns ?? HELP_WIDTH),
      // Arguments are quoted in messages; they may come from a list of names that somebody else made.
      writeErr: (text) => tell(...text.replace(/\n$/, '').split('\n')),
    })
    .exitOverride()
    .addHelpText('after', '\nExample:\n  $ sessionlake export --format parquet --out ~/sessions');
  for (const spec of commands) addCommand(program, spec, done);
  // Sub-commands inherit `exitOverride` only when it was set before them; set it on all, to be sure.
  for (const command of [...program.commands, ...program.commands.flatMap((c) => c.commands)]) command.exitOverride();
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has printed its message (or the help text, status 0) already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    const { status: failed, message, detail = [] } = explainError(error);
    if (message !== null) tell(`sessionlake: ${message}`, ...detail);
    return failed;
  }
  return status;
}
