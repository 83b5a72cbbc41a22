/** How the stores of Kiro IDE are read. */
import type { FormatCode } from '../agent.ts';
import { ExecutionDecoder } from './execution.ts';
import { JournalDecoder } from './journal.ts';
import { SpineDecoder } from './spine.ts';

export const executionCode: FormatCode = { decoder: (context, out) => new ExecutionDecoder(context, out) };
export const spineCode: FormatCode = { decoder: (context, out) => new SpineDecoder(context, out) };
export const journalCode: FormatCode = { decoder: (context, out) => new JournalDecoder(context, out) };
