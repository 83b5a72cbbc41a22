/** The usage ledger: disjoint buckets, each reply counted once, sums that stay right. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClaimPacker, settle } from '../../src/ledger/batch-ledger.ts';
import { countedColumns, type NativeCounters, normalizeUsage } from '../../src/ledger/normalize.ts';
import { type Claim, countedOwners } from '../../src/ledger/owners.ts';
import { difference, nothingCounted, sum } from '../../src/ledger/postings.ts';

const counters = (given: Partial<NativeCounters>): NativeCounters => ({
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  cache_write_1h_tokens: null,
  reasoning_tokens: null,
  total_tokens: null,
  input_includes_cache_read: false,
  input_includes_cache_write: false,
  output_includes_reasoning: true,
  ...given,
});

describe('normalizing counters', () => {
  it('takes cache out of an input that includes it: 100 with 40 read and 30 written is 30', () => {
    const { counted } = normalizeUsage(
      counters({
        input_tokens: 100,
        output_tokens: 10,
        cache_read_tokens: 40,
        cache_write_tokens: 30,
        input_includes_cache_read: true,
        input_includes_cache_write: true,
      }),
      'strict',
    );
    expect(counted).toMatchObject({
      counted_input_tokens: 30,
      counted_cache_read_tokens: 40,
      counted_cache_write_tokens: 30,
      counted_output_tokens: 10,
    });
  });

  it('leaves an input that excludes cache as it is, however large the cache', () => {
    const { counted } = normalizeUsage(counters({ input_tokens: 638, cache_read_tokens: 642_944 }), 'strict');
    expect(counted).toMatchObject({ counted_input_tokens: 638, counted_cache_read_tokens: 642_944 });
  });

  it('adds reasoning that is outside output, and not that which is inside', () => {
    expect(
      normalizeUsage(counters({ output_tokens: 123, reasoning_tokens: 69, output_includes_reasoning: false }), 'strict')
        .counted.counted_output_tokens,
    ).toBe(192);
    expect(
      normalizeUsage(counters({ output_tokens: 123, reasoning_tokens: 69 }), 'strict').counted.counted_output_tokens,
    ).toBe(123);
  });

  it('counts nothing where an overlap is not known, and says so', () => {
    const { counted, problems } = normalizeUsage(
      counters({ input_tokens: 10, cache_read_tokens: 4, input_includes_cache_read: null }),
      'strict',
    );
    expect(counted.counted_input_tokens).toBeNull();
    expect(problems).toEqual(['unknown_overlap_cache_read']);
  });

  it('refuses impossible counters under strict and mends them visibly under statistics', () => {
    const odd = counters({
      input_tokens: -5,
      output_tokens: 1.5,
      cache_read_tokens: 2 ** 53,
      cache_write_tokens: 3,
      cache_write_1h_tokens: 9,
    });
    const strict = normalizeUsage(odd, 'strict');
    expect(Object.values(strict.counted)).toEqual([null, null, null, 3, null, null]);
    expect(strict.problems).toEqual([
      'negative_input_tokens',
      'fractional_output_tokens',
      'inexact_cache_read_tokens',
      'cache_write_1h_exceeds_whole',
    ]);
    expect(strict.adjustments).toEqual([]);
    const mended = normalizeUsage(odd, 'statistics');
    expect(Object.values(mended.counted)).toEqual([0, 1, null, 3, 3, null]);
    expect(mended.adjustments).toEqual([
      'negative_input_tokens',
      'fractional_output_tokens',
      'cache_write_1h_exceeds_whole',
    ]);
  });

  it('keeps an absent counter null and a recorded zero zero', () => {
    const { counted } = normalizeUsage(counters({ input_tokens: 0 }), 'strict');
    expect(counted).toEqual({ ...nothingCounted(), counted_input_tokens: 0 });
  });
});

const anyClaim: fc.Arbitrary<Claim> = fc.record({
  native: fc.boolean(),
  variant: fc.constantFrom(null, 'r1', 'r2'),
  output: fc.integer({ min: -1, max: 5 }),
});

describe('choosing what is counted', () => {
  it('prefers the native owner, then the greatest output, then the earliest place', () => {
    const claim = (native: boolean, output: number): Claim => ({ native, output, variant: null });
    expect(countedOwners([claim(false, 9), claim(true, 1)])).toEqual([1]);
    expect(countedOwners([claim(true, 9), claim(true, 159), claim(true, 9)])).toEqual([1]);
    expect(countedOwners([claim(false, 5), claim(false, 5)])).toEqual([0]);
  });

  it('counts two native replies under one id apart where their requests differ, and a replay with neither', () => {
    const claim = (native: boolean, variant: string): Claim => ({ native, output: 1, variant });
    expect(countedOwners([claim(true, 'a'), claim(true, 'b'), claim(false, 'c')])).toEqual([0, 1]);
    expect(countedOwners([claim(true, 'a'), claim(false, 'b')])).toEqual([0]);
  });

  it('gives a value that depends on the set of observations, not on their order', () => {
    const worthOf = (claims: readonly Claim[]): number =>
      countedOwners(claims).reduce((n, i) => n + claims[i]!.output, 0);
    fc.assert(
      fc.property(
        fc
          .array(anyClaim, { minLength: 1, maxLength: 8 })
          .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => {
          expect(worthOf(shuffled)).toBe(worthOf(list));
        },
      ),
    );
  });

  it('settles a batch of shards as if each key were looked at alone', () => {
    const observation = fc.record({ key: fc.nat(12), claim: anyClaim });
    fc.assert(
      fc.property(fc.array(fc.array(observation, { maxLength: 12 }), { maxLength: 5 }), (shards) => {
        const packed = shards.map((shard) => {
          const packer = new ClaimPacker();
          for (const { key, claim } of shard) {
            const digest = new Uint8Array(16).fill(key);
            packer.add(
              digest,
              claim.variant === null ? 0 : Number(String(claim.variant).slice(1)),
              claim.native,
              claim.output,
            );
          }
          return packer.pack();
        });
        const settled = settle(packed).flatMap((bytes) => [...bytes]);
        const all = shards.flat();
        const expected = all.map(() => 0);
        for (const key of new Set(all.map((o) => o.key))) {
          const places = all.flatMap((o, i) => (o.key === key ? [i] : []));
          for (const owner of countedOwners(places.map((i) => all[i]!.claim))) expected[places[owner]!] = 1;
        }
        expect(settled).toEqual(expected);
      }),
    );
  });
});

describe('postings', () => {
  const counted = fc
    .tuple(...countedColumns.map(() => fc.option(fc.nat(1000))))
    .map(
      (values) =>
        Object.fromEntries(countedColumns.map((c, i) => [c, values[i] ?? null])) as ReturnType<typeof nothingCounted>,
    );

  it('add up to the last value, whatever values came before', () => {
    fc.assert(
      fc.property(fc.array(counted, { minLength: 1, maxLength: 6 }), (values) => {
        let posted = nothingCounted();
        for (const value of values) posted = sum(posted, difference(value, posted));
        for (const column of countedColumns) expect(posted[column] ?? 0).toBe(values.at(-1)![column] ?? 0);
      }),
    );
  });
});
