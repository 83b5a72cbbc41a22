/** `sessionlake detect`: which agents have stores here, and what shows it. */
import { sep } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { AgentDefinition } from '../agents/agent.ts';
import { discoverChecked, type FoundSource } from '../discovery/discovery.ts';
import { type OptionsInput, parseOptions, planRead, type ReadPlan } from '../options.ts';
import { silent } from '../pipeline/report.ts';
import type { JsonRow } from '../records/json-rows.ts';
import { FORMAT_VERSION } from '../results.ts';
import { formatCount, passedBy, plural, showTable } from './people.ts';
import { printJson, show, tell } from './terminal.ts';

/** One agent. Names that other tools' detection reports have too are theirs: `slug` to `root_paths`. */
interface Detection {
  readonly slug: string;
  readonly name: string;
  readonly detected: boolean;
  readonly evidence: readonly string[];
  readonly root_paths: readonly string[];
  /** Version of the agent that wrote the newest source, where the head of that source says it. */
  readonly agent_version: string | null;
  readonly sources: number;
  readonly usage: AgentDefinition['usage'];
  readonly format_evidence: AgentDefinition['evidence'];
}

/** So much of the newest source is read for the version: mostly it stands in the first record. */
const HEAD_BYTES = 256 * 1024;

const newestOf = (sources: readonly FoundSource[]): FoundSource | null =>
  sources.reduce<FoundSource | null>(
    (newest, source) => ((source.mtimeMs ?? 0) > (newest?.mtimeMs ?? -1) ? source : newest),
    null,
  );

/** What the head of a source says of the agent's version. Databases are not opened for it. */
async function versionIn(source: FoundSource, plan: ReadPlan): Promise<string | null> {
  const framing = source.agent.formats[source.spec.storeKind]?.framing;
  const isLong = (source.size ?? 0) > HEAD_BYTES;
  const byLine = framing === 'jsonl' || framing === 'text';
  if (framing === 'database' || source.spec.fault !== undefined || (isLong && !byLine)) return null;
  const { streamRows } = await import('../pipeline/stream.ts');
  const pipe = new PassThrough();
  const rows = text(pipe);
  await streamRows(
    {
      ...plan,
      discovery: { ...plan.discovery, agents: [source.agent] },
      projection: { ...plan.projection, tables: ['sessions'] },
      limits: { ...plan.limits, stopAtByte: isLong ? HEAD_BYTES : null },
      threads: 0,
    },
    pipe,
    null,
    silent,
    new Set([source.spec.path]),
  ).finally(() => pipe.end());
  const versions = (await rows)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as JsonRow<'sessions'>).agent_version);
  return versions.findLast((version) => version !== null) ?? null;
}

/** Whether a root is there without the agent: the home folder, or one above it. It shows nothing unless it has sources. */
const isEverywhere = (root: string, { discovery }: ReadPlan): boolean =>
  `${discovery.environment.home}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep);

export async function detect(input: OptionsInput & { all?: boolean }): Promise<number> {
  const { all, ...rest } = input;
  const options = parseOptions(rest);
  const plan = planRead(options, { env: process.env, platform: process.platform });
  const { roots, sources, issues } = discoverChecked(plan.discovery);
  const detections: Detection[] = [];
  for (const agent of plan.discovery.agents) {
    const own = sources.filter((source) => source.agent === agent);
    const found = (roots.get(agent.slug) ?? []).filter(
      ({ path, state }) =>
        state === 'read' && (!isEverywhere(path, plan) || own.some((source) => source.root === path)),
    );
    const newest = newestOf(own);
    detections.push({
      slug: agent.slug,
      name: agent.name,
      detected: found.length > 0,
      evidence:
        found.length === 0
          ? []
          : [...found.map((root) => `${root.reason}: ${root.path}`), plural(own.length, 'source')],
      root_paths: found.map((root) => root.path),
      agent_version: newest === null ? null : await versionIn(newest, plan),
      sources: own.length,
      usage: agent.usage,
      format_evidence: agent.evidence,
    });
  }
  const shown = detections.filter((d) => d.detected || all === true || options.agent !== undefined);
  if (options.json === true) {
    printJson({
      format_version: FORMAT_VERSION,
      generated_at: new Date(plan.now).toISOString(),
      host: plan.host,
      installed_agents: shown,
      summary: { detected_count: detections.filter((d) => d.detected).length, total_count: detections.length },
      passed_by: issues,
    });
    return 0;
  }
  if (shown.length === 0) show('no agent has a store here (--all lists those that are known)');
  else {
    const rows = shown.map((d) => [
      d.slug,
      d.detected ? 'yes' : 'no',
      formatCount(d.sources),
      d.agent_version ?? '-',
      d.root_paths.join(', ') || '-',
    ]);
    showTable(['Agent', 'Here', 'Sources', 'Version', 'Roots'], rows, new Set([2]));
  }
  tell(...passedBy(issues));
  return 0;
}
