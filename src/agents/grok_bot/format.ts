/** How replicas are read. */
import type { FormatCode } from '../agent.ts';
import { ReplicaDecoder } from './decode.ts';

export const replicaCode: FormatCode = { decoder: (context, out) => new ReplicaDecoder(context, out) };
