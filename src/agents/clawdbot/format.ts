/** What Clawdbot adds to the session files of pi. */
import type { FormatCode } from '../agent.ts';
import { type Json, nameField, stringField } from '../dialects/json.ts';
import { type Entry, PiDecoder } from '../pi_agent/decode.ts';
import { sessionCode as piCode } from '../pi_agent/format.ts';
import { isBareMessage, type PiOutline } from '../pi_agent/outline.ts';

class ClawdbotDecoder extends PiDecoder {
  /** A compaction by hand leaves the last lines only: then the file's name tells the session. */
  protected override get sessionId(): string {
    const { sessionId } = this.context.source.hints;
    return this.header === null && typeof sessionId === 'string' ? sessionId : super.sessionId;
  }

  protected override titleOf(): string | null {
    const { title } = this.context.source.hints;
    return typeof title === 'string' ? title : null;
  }

  /** Texts that the gateway sent to a channel: no model said them. */
  protected override standing(message: Json): 'said' | 'injected' | 'mirror' {
    const isMirror = nameField(message, 'provider') === 'clawdbot' && nameField(message, 'model') === 'delivery-mirror';
    return isMirror || stringField(message, 'stopReason') === 'injected' ? 'mirror' : 'said';
  }

  /** Lines that are a message, without an entry around it: other readers found some. */
  protected override tellOther(entry: Entry, _type: string): boolean {
    if (!isBareMessage(entry.record)) return false;
    this.tellMessage({ ...entry, record: { type: 'message', message: entry.record } });
    return true;
  }
}

export const sessionCode: FormatCode<PiOutline> = piCode({ resume: null }, ClawdbotDecoder, {
  isHeaderNeeded: false,
  hangsOnLast: true,
});
