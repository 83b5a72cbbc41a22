/** Tells the usage of a rollout: its two ledgers, never both for the same replies. */

import type { Frame } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { field, type Json, nameField } from './guards.ts';
import type { Header } from './header.ts';
import type { Standing } from './inherited.ts';
import type { Told } from './items.ts';
import type { RolloutOutline } from './outline.ts';
import type { TokenCount } from './scan.ts';
import type { RolloutState } from './state.ts';
import {
  type CountedTokens,
  countTokens,
  observation,
  readTokenCount,
  readVector,
  sameVector,
  tokenCountFault,
  type Vector,
  vectorFault,
} from './usage.ts';

/** A line of a usage ledger: what it is to its file, and how its row is placed. */
export interface UsageLine extends Pick<Told, 'at'> {
  readonly frame: Frame;
  readonly standing: Standing;
}

/** What holds for the replies from here on. */
interface UsageState {
  readonly model: string | null;
  readonly serviceTier: string | null;
}

interface LedgerContext {
  readonly out: Emitter;
  /** The decoder's, which is saved with it. */
  readonly state: RolloutState;
  readonly firstRecord: RolloutOutline['firstRecord'];
  /** Whether there is no outline: where usage records begin is found out on the way. */
  readonly isLean: boolean;
  readonly header: () => Header;
}

export class UsageLedger {
  readonly #context: LedgerContext;
  /** Whether the reply of the first usage record was met among the `token_count` lines before it. */
  #handedOver = false;
  /** Lean: replies told by `token_count` lines, until it is known where usage records begin; null = not lean, or known. */
  #held: { readonly counted: CountedTokens; readonly told: UsageLine; readonly state: UsageState }[] | null;

  constructor(context: LedgerContext) {
    this.#context = context;
    this.#held = context.isLean ? [] : null;
  }

  /** Takes a `token_count` line that was parsed, and reports a counter that is no number. */
  parsedTokenCount(payload: Json, told: UsageLine): void {
    this.#report(tokenCountFault(payload), told);
    this.tokenCount(readTokenCount(payload), told);
  }

  tokenCount(count: TokenCount | null, told: UsageLine): void {
    const { state } = this.#context;
    const counted = count === null ? null : countTokens(state.counts, count);
    if (counted === null || told.standing !== 'own' || this.#recordsBegan(told.frame)) return;
    if (this.#held !== null) {
      // The line is gone by the time it is told.
      const at = told.at('usage');
      this.#held.push({ counted, told: { ...told, at: () => at }, state: this.#usageState() });
      return;
    }
    if (this.#isOfFirstRecord(counted)) return;
    state.toldCounts = true;
    this.#tell(told, counted.vector, null, counted.basis);
  }

  record(payload: Json, told: UsageLine): void {
    const { state, header, isLean, out } = this.#context;
    this.#recordsBegan(told.frame);
    const thread = nameField(payload, 'thread_id');
    if (told.standing !== 'own' || (thread !== null && thread !== header().id)) return;
    const usage = field(payload, 'usage');
    const vector = readVector(usage);
    if (isLean) {
      state.hasRecords = true;
      this.#release(vector);
    }
    const fault = vectorFault(usage, 'usage');
    this.#report(fault, told);
    if (vector !== null) this.#tell(told, vector, nameField(payload, 'response_id'), 'native');
    else if (fault === null) out.badRecord(told.frame.position(), 'no_usage', 'The usage record has no counters.');
  }

  finish(): void {
    this.#release(null);
  }

  #report(fault: string | null, told: UsageLine): void {
    if (fault !== null) this.#context.out.badRecord(told.frame.position(), 'wrong_type', fault);
  }

  /** Whether usage records have begun at or before this line. */
  #recordsBegan(frame: Frame): boolean {
    const { state, firstRecord } = this.#context;
    state.hasRecords ||= firstRecord !== null && frame.ordinal >= firstRecord.ordinal;
    return state.hasRecords;
  }

  /** Tells what was held, but for the one reply that the first usage record tells too. */
  #release(first: Vector | null): void {
    const held = this.#held;
    this.#held = null;
    for (const { counted, told, state } of held ?? []) {
      const isOfFirst = !this.#handedOver && counted.basis === 'last_sample' && sameVector(counted.vector, first);
      if (isOfFirst) this.#handedOver = true;
      else this.#tell(told, counted.vector, null, counted.basis, state);
    }
  }

  /** Once, the reply that the first usage record tells may already stand in a `token_count` line before it. */
  #isOfFirstRecord({ vector, basis }: CountedTokens): boolean {
    const usage = this.#context.firstRecord?.usage ?? null;
    if (this.#handedOver || basis !== 'last_sample' || !sameVector(vector, usage)) return false;
    this.#handedOver = true;
    return true;
  }

  #usageState(): UsageState {
    const { ownModel, serviceTier } = this.#context.state;
    return { model: ownModel, serviceTier };
  }

  #tell(
    told: UsageLine,
    vector: Vector,
    key: string | null,
    basis: 'native' | CountedTokens['basis'],
    state = this.#usageState(),
  ): void {
    const { out, header } = this.#context;
    // A session row tells whether usage is recorded.
    if (!out.wants.usage && !out.wants.sessions) return;
    const origin = { key, basis, ...state, provider: header().provider };
    out.usage(told.at('usage'), observation(vector, origin));
  }
}
