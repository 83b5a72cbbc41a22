/** `sessionlake detect`: which agents have stores here, and what shows it. */
import { discover } from '../discovery/discovery.ts';
import { type OptionsInput, parseOptions, planRead } from '../options.ts';
import { formatCount, formatTable } from './people.ts';

/** Raised when a key of the JSON changes its meaning. */
const FORMAT_VERSION = 1;

interface Detection {
  readonly slug: string;
  readonly name: string;
  readonly detected: boolean;
  readonly evidence: readonly string[];
  readonly root_paths: readonly string[];
  readonly sources: number;
  readonly usage: string;
  readonly format_evidence: string;
}

export async function detect(input: OptionsInput & { all?: boolean }): Promise<number> {
  const { all, ...rest } = input;
  const options = parseOptions(rest);
  const plan = planRead(options, { env: process.env, platform: process.platform });
  const { roots, sources, issues } = discover(plan.discovery);
  const counts = new Map<string, number>();
  for (const source of sources) counts.set(source.agent.slug, (counts.get(source.agent.slug) ?? 0) + 1);
  const detections = plan.discovery.agents.map((agent): Detection => {
    const found = (roots.get(agent.slug) ?? []).filter((root) => root.exists);
    const count = counts.get(agent.slug) ?? 0;
    return {
      slug: agent.slug,
      name: agent.name,
      detected: found.length > 0,
      evidence: [
        ...found.map((root) => `${root.reason}: ${root.path}`),
        ...(found.length > 0 ? [`${formatCount(count)} source${count === 1 ? '' : 's'}`] : []),
      ],
      root_paths: found.map((root) => root.path),
      sources: count,
      usage: agent.usage,
      format_evidence: agent.evidence,
    };
  });
  const shown = detections.filter((d) => d.detected || all === true || options.agent !== undefined);
  if (options.json === true) {
    process.stdout.write(
      `${JSON.stringify({ format_version: FORMAT_VERSION, host: plan.host, agents: shown, issues })}\n`,
    );
    return 0;
  }
  const rows = shown.map((d) => [
    d.slug,
    d.detected ? 'yes' : 'no',
    formatCount(d.sources),
    d.root_paths.join(', ') || '-',
  ]);
  process.stdout.write(
    rows.length === 0
      ? 'no agent has a store here (--all lists those that are known)\n'
      : `${formatTable(['Agent', 'Here', 'Sources', 'Roots'], rows, new Set([2]))}\n`,
  );
  for (const issue of issues) process.stderr.write(`passed by: ${issue.path}: ${issue.message}\n`);
  return 0;
}
