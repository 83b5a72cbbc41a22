/** A thread finds an agent by the name of its folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadFormat } from '../src/agents/load-format.ts';
import { agents } from '../src/agents/registry.ts';
import { projectFolder } from './support/command.ts';

it.each(agents.map((agent) => [agent.slug, agent] as const))(
  '%s stands in its folder, and all its formats load',
  async (slug, agent) => {
    expect(existsSync(join(projectFolder, 'src', 'agents', slug, 'index.ts'))).toBe(true);
    for (const [kind, { framing }] of Object.entries(agent.formats))
      expect(await loadFormat(slug, kind)).toMatchObject({ framing, decoder: expect.any(Function) });
  },
);

it('takes no path for a name', async () => {
  await expect(loadFormat('../pipeline', 'x')).rejects.toThrow("'../pipeline' is no agent's name");
  await expect(loadFormat('claude', 'x')).rejects.toThrow('claude has no format x');
});
