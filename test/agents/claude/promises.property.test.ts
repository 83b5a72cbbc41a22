/** What must hold for every session file, however it came about. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutsOf, framesOf, idsOf, mainFile, NONE, type Recording, read, readInTwo, type Source } from './driver.ts';
import { histories, longHistories, longPlainHistories, plainHistories } from './histories.ts';

/** What stands when later rows have replaced earlier ones of the same event. */
function standing(...recordings: Recording[]): unknown {
  const newest = (told: readonly { id: string }[]): unknown[] =>
    [...new Map(told.map((row) => [row.id, row])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    messages: newest(recordings.flatMap((r) => r.messages)),
    calls: newest(recordings.flatMap((r) => r.calls)),
    results: newest(recordings.flatMap((r) => r.results)),
    usage: newest(recordings.flatMap((r) => r.observations)),
    session: recordings.at(-1)!.sessions,
    errors: recordings.flatMap((r) => r.errors),
    ignored: recordings.flatMap((r) => r.ignoredTypes),
  };
}

type Row = Record<string, unknown>;
const object = (value: unknown): Row => (typeof value === 'object' && value !== null ? (value as Row) : {});

/** The live branch as the format's description has it, with plain objects and no shortcuts. Ordinals of rows off it. */
function abandoned(source: Source): number[] {
  const rows: { ordinal: number; row: Row }[] = [];
  const byId = new Map<unknown, { ordinal: number; row: Row; index: number }>();
  let leaf: unknown = null;
  let mark: unknown = null;
  for (const frame of framesOf(source.bytes)) {
    let row: Row;
    try {
      row = object(frame.json());
    } catch {
      continue;
    }
    const { type } = row;
    if (type === 'last-prompt' && row['explicit'] === true) mark = row['leafUuid'];
    if (typeof row['uuid'] !== 'string' || byId.has(row['uuid'])) continue;
    const known = [...byId.keys()];
    const parent = row['parentUuid'] ?? row['logicalParentUuid'] ?? null;
    const goesOn = row['subtype'] === 'compact_boundary' || row['isCompactSummary'] === true;
    const before = leaf;
    const link = parent === null ? (goesOn ? before : null) : known.includes(parent) ? parent : before;
    const entry = { ordinal: frame.ordinal, row: { ...row, link }, index: rows.length };
    rows.push(entry);
    byId.set(row['uuid'], entry);
    if (row['isSidechain'] !== true && type !== 'progress') {
      leaf = row['uuid'];
      mark = null;
    }
  }
  const live = new Set<unknown>();
  for (let id = byId.has(mark) ? mark : leaf; id !== null; ) {
    live.add(id);
    id = byId.get(id)?.row['link'] ?? null;
  }
  const isResult = (row: Row): boolean => JSON.stringify(row['message'] ?? null).includes('"tool_result"');
  const replyOf = (row: Row): unknown => {
    const id = object(row['message'])['id'];
    const sameId = rows.filter((r) => r.row['type'] === 'assistant' && object(r.row['message'])['id'] === id);
    const first = sameId.find((r) => r.row['requestId'] !== undefined)?.row['requestId'];
    const copied = (r: Row): boolean => r['isSidechain'] === true || r['forkedFrom'] !== undefined;
    const until = sameId.findIndex((r) => r.row['uuid'] === row['uuid']);
    const merged = copied(row) || sameId.slice(0, until).some((r) => copied(r.row)) || row['requestId'] === first;
    return id === undefined ? undefined : merged ? id : `${id}/${row['requestId']}`;
  };
  const liveReplies = new Set(rows.filter((r) => live.has(r.row['uuid'])).map((r) => replyOf(r.row)));
  liveReplies.delete(undefined);
  for (const { row } of rows) {
    const sameReply = row['type'] === 'assistant' && liveReplies.has(replyOf(row));
    const resultOfLive = isResult(row) && row['parentUuid'] !== null && live.has(row['parentUuid']);
    if (row['isSidechain'] === true || sameReply || resultOfLive) live.add(row['uuid']);
  }
  return rows.filter(({ row }) => !live.has(row['uuid'])).map(({ ordinal }) => ordinal);
}

/** Texts and output counts of every message id, over all rows that are no repeats. */
function repliesOf(source: Source): Map<string, { texts: Set<string>; outputs: number[] }> {
  const replies = new Map<string, { texts: Set<string>; outputs: number[] }>();
  const seen = new Set<unknown>();
  for (const frame of framesOf(source.bytes)) {
    let row: Row = {};
    try {
      row = object(frame.json());
    } catch {
      continue;
    }
    const message = object(row['message']);
    if (seen.has(row['uuid'])) continue;
    seen.add(row['uuid']);
    if (row['type'] !== 'assistant' || typeof message['id'] !== 'string') continue;
    const reply = replies.get(message['id']) ?? { texts: new Set(), outputs: [] };
    replies.set(message['id'], reply);
    for (const block of message['content'] as Row[])
      if (typeof block['text'] === 'string') reply.texts.add(block['text']);
    reply.outputs.push(object(message['usage'])['output_tokens'] as number);
  }
  return replies;
}

const runs = { numRuns: 400 };

describe('any session file', () => {
  test('is_active tells exactly the rows off the live branch', () => {
    fc.assert(
      fc.property(histories, (text) => {
        const source = mainFile(text);
        const off = new Set(abandoned(source));
        for (const { at, fields } of read(source).recording.messages) {
          // A reply stands at its first row, and is live if one of its rows is.
          if (fields.role === 'user')
            expect(fields.is_active, `row ${at.position.ordinal}`).toBe(!off.has(at.position.ordinal));
          else if (!fields.is_active) expect(off).toContain(at.position.ordinal);
          else if (fields.message_id === null) expect(off).not.toContain(at.position.ordinal);
        }
      }),
      runs,
    );
  });

  test('a reply holds every block of all its rows once, and the greatest count', () => {
    fc.assert(
      fc.property(histories, (text) => {
        const source = mainFile(text);
        const { messages, observations } = read(source).recording;
        const expected = repliesOf(source);
        for (const [id, reply] of expected) {
          const texts = messages
            .filter((m) => m.fields.message_id === id)
            .flatMap((m) => String(m.fields.text ?? '').split('\n'));
          expect(texts.filter((t) => t !== '').sort(), `texts of ${id}`).toEqual([...reply.texts].sort());
          const outputs = observations
            .filter((o) => o.fields.message_id === id)
            .map((o) => o.fields.output_tokens ?? -1);
          expect(Math.max(...outputs), `output of ${id}`).toBe(Math.max(...reply.outputs));
        }
        expect(observations.filter((o) => o.fields.message_id !== null).map((o) => o.fields.message_id)).toEqual(
          expect.arrayContaining([...expected.keys()]),
        );
      }),
      runs,
    );
  });

  test('read in two runs, it gives what it gives in one, or says that it must be read whole', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (text, at) => {
        const source = mainFile(text);
        const cuts = cutsOf(source.bytes);
        const parts = readInTwo(source, cuts[at % cuts.length]!);
        if (parts !== null) expect(standing(parts.first, parts.second)).toEqual(standing(read(source).recording));
      }),
      { numRuns: 600 },
    );
  });

  test('the same holds where the beginning is out of sight', () => {
    let resumed = 0;
    fc.assert(
      fc.property(longHistories, fc.nat(40), (text, back) => {
        const source = mainFile(text);
        const cuts = cutsOf(source.bytes);
        const parts = readInTwo(source, cuts[Math.max(0, cuts.length - 1 - back)]!);
        if (parts === null) return;
        resumed++;
        expect(standing(parts.first, parts.second)).toEqual(standing(read(source).recording));
      }),
      { numRuns: 250 },
    );
    expect(resumed).toBeGreaterThan(50);
  });

  test('rows alone and usage alone are those of a full read', () => {
    fc.assert(
      fc.property(histories, (text) => {
        const source = mainFile(text);
        const all = read(source).recording;
        const alone = (table: keyof typeof NONE): Recording =>
          read(source, { wants: { ...NONE, [table]: true } }).recording;
        const usage = alone('usage');
        const byId = (told: Recording['observations']): unknown => [...told].sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(byId(usage.observations)).toEqual(byId(all.observations));
        expect(usage.issues).toEqual(all.issues);
        expect(alone('messages').messages).toEqual(all.messages);
        expect(alone('tool_calls').calls).toEqual(all.calls);
        expect(alone('tool_results').results).toEqual(all.results);
        expect(alone('sessions').sessions).toEqual(all.sessions);
      }),
      runs,
    );
  });

  test('no event is told twice in one read, and the rows of each table stand in file order', () => {
    fc.assert(
      fc.property(histories, (text) => {
        const { messages, calls, results, observations } = read(mainFile(text)).recording;
        for (const told of [messages, calls, results, observations]) {
          expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
        }
        for (const told of [messages, results, calls]) {
          const ordinals = told.map(({ at }) => at.position.ordinal);
          expect(ordinals).toEqual([...ordinals].sort((a, b) => a - b));
        }
      }),
      runs,
    );
  });
});

describe('a session that only goes on', () => {
  test('is told once: what was not told when the state was saved is told by the next run', () => {
    fc.assert(
      fc.property(plainHistories, fc.nat(), (text, at) => {
        const source = mainFile(text);
        const cuts = cutsOf(source.bytes);
        const { savedIds, second } = readInTwo(source, cuts[at % cuts.length]!)!;
        expect([...savedIds, ...idsOf(second)].sort()).toEqual(idsOf(read(source).recording));
      }),
      { numRuns: 150 },
    );
  });

  test('goes on from a state that no longer sees its beginning', () => {
    fc.assert(
      fc.property(longPlainHistories, fc.nat(60), (text, back) => {
        const source = mainFile(text);
        const cuts = cutsOf(source.bytes);
        const parts = readInTwo(source, cuts[Math.max(0, cuts.length - 1 - back)]!);
        expect(parts).not.toBeNull();
        expect(standing(parts!.first, parts!.second)).toEqual(standing(read(source).recording));
      }),
      { numRuns: 150 },
    );
  });

  test('is never read whole again, wherever it is cut', () => {
    fc.assert(
      fc.property(plainHistories, (text) => {
        const source = mainFile(text);
        const whole = standing(read(source).recording);
        for (const cut of cutsOf(source.bytes)) {
          const parts = readInTwo(source, cut);
          expect(parts, `cut at byte ${cut.byte}`).not.toBeNull();
          expect(standing(parts!.first, parts!.second)).toEqual(whole);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('is read in many runs as in one', () => {
    fc.assert(
      fc.property(plainHistories, (text) => {
        const source = mainFile(text);
        const recordings: Recording[] = [];
        let resume: unknown = null;
        const cuts = cutsOf(source.bytes);
        cuts.forEach((from, i) => {
          const part = read(source, { from, to: cuts[i + 1]?.byte ?? source.bytes.length, resume });
          recordings.push(part.recording);
          resume = part.state;
        });
        expect(standing(...recordings)).toEqual(standing(read(source).recording));
      }),
      { numRuns: 150 },
    );
  });
});
