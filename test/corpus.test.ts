/** Every case through the real command. */
import { describe, expect, it } from 'vitest';
import { copyOf, parseRows, run } from './support/command.ts';
import { argumentsOf, casesOf, compareCase, environmentOf } from './support/corpus.ts';

const cases = casesOf();

describe.each([...new Set(cases.map((c) => c.agent))])('%s', (agent) => {
  it.concurrent.each(cases.filter((c) => c.agent === agent).map((c) => [c.name, c] as const))(
    'case %s gives the right answer',
    async (_, { store, expected }) => {
      const copy = copyOf(store);
      const { status, stdout, stderr } = await run(
        ['stream', ...argumentsOf(expected, copy)],
        environmentOf(expected, copy),
      );
      expect([0, 2], stderr).toContain(status);
      compareCase(expected, parseRows(stdout), copy);
    },
  );
});
