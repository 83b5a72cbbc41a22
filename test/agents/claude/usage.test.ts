/** What a reply cost, as its rows record it. */
import { describe, expect, test } from 'vitest';
import { mainFile, type Recording, read } from './driver.ts';
import { lines, reply, text, usage, user } from './rows.ts';

const decode = (...rows: Parameters<typeof lines>): Recording => read(mainFile(lines(...rows))).recording;

describe('usage', () => {
  const observed = (...rows: Parameters<typeof lines>) => decode(...rows).observations.map(({ fields }) => fields);

  test('all counters are told, absent ones are null', () => {
    const full = {
      input_tokens: 1,
      output_tokens: 2,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 3 },
      output_tokens_details: { thinking_tokens: 1 },
      service_tier: 'priority',
      server_tool_use: { web_search_requests: 5 },
    };
    expect(observed(reply('u1', [], { usage: full }))[0]).toMatchObject({
      input_tokens: 1,
      output_tokens: 2,
      cache_read_tokens: 3,
      cache_write_tokens: 4,
      cache_write_1h_tokens: 3,
      reasoning_tokens: 1,
      total_tokens: null,
      service_tier: 'priority',
      input_includes_cache_read: false,
      input_includes_cache_write: false,
      output_includes_reasoning: true,
      key: 'msg_1',
      variant: 'req_1',
      native: true,
    });
    expect(observed(reply('u1', [], { usage: { output_tokens: 2 } }))[0]).toMatchObject({
      input_tokens: null,
      cache_read_tokens: null,
      cache_write_tokens: null,
      cache_write_1h_tokens: null,
      reasoning_tokens: null,
      service_tier: null,
    });
  });

  test('the greatest output counts, of equals the later row', () => {
    const row1 = { input_tokens: 1, output_tokens: 9 };
    const row2 = { input_tokens: 2, output_tokens: 9 };
    expect(
      observed(
        reply('u1', [], { usage: row1 }),
        reply('u2', [], { usage: row2 }),
        reply('u3', [], { usage: usage(3) }),
      ),
    ).toMatchObject([{ input_tokens: 2, output_tokens: 9 }]);
  });

  test('a wrong counter is null and the reply stays', () => {
    const odd = {
      input_tokens: 'many',
      output_tokens: 5,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: {},
    };
    expect(observed(reply('u1', [], { usage: odd }))[0]).toMatchObject({
      input_tokens: null,
      output_tokens: 5,
      cache_write_tokens: null,
    });
  });

  test('usage is final once a row says how the reply stopped', () => {
    const state = (version: string, ...stops: (string | null)[]): string =>
      observed(
        ...stops.map((stop_reason, i) => reply(`u${i}`, [], { stop_reason, usage: usage(10 - i) }, { version })),
      )[0]!.state;
    expect(state('2.1.30', null, 'end_turn')).toBe('final');
    expect(state('2.1.30', 'end_turn', null)).toBe('final');
    expect(state('2.0.76', null, null)).toBe('partial');
    expect(state('1.0.60', null)).toBe('unknown');
  });

  test('spend beyond the counters is not counted, but told', () => {
    const iterations = [{ type: 'message', output_tokens: 1 }];
    const plain = decode(reply('u1', [], { usage: { ...usage(1), iterations } }));
    expect(plain.issues).toEqual([]);
    const more = decode(
      reply('u1', [], {
        usage: { ...usage(1), iterations: [...iterations, { type: 'compaction', output_tokens: 50 }] },
      }),
      reply('u2', [], {
        usage: { ...usage(1), iterations: [...iterations, { type: 'compaction', output_tokens: 50 }] },
      }),
      reply('u3', [], { id: 'msg_2', pausedResponses: [{ usage: usage(70) }] }),
    );
    expect(more.issues).toEqual(['usage_not_counted', 'usage_not_counted']);
    expect(more.observations.map(({ fields }) => fields.output_tokens)).toEqual([1, 1]);
  });

  test('no usage, no row: blocks without counters, and rows of other types', () => {
    expect(observed(reply('u1', [text('a')], { usage: {} }), user('u2', 'x', { usage: usage(5) }))).toEqual([]);
  });

  test('the cost that very old rows record is told', () => {
    expect(observed(reply('u1', [], {}, { costUSD: 0.25 }))[0]!.reported_cost_usd).toBe(0.25);
  });
});
