/** Protocol Buffers without a schema: fields by number, as the wire format gives them. */
import { recordError } from '../../framing/errors.ts';

export interface ProtoField {
  readonly number: number;
  /** A varint or a fixed number; null for bytes. */
  readonly value: bigint | null;
  /** Of a length-delimited field: a string, bytes or a message; null for numbers. */
  readonly bytes: Buffer | null;
}

/** Fields of a message in order. Throws a record-scoped error where the bytes are none. */
export function readMessage(bytes: Buffer): ProtoField[] {
  const fields: ProtoField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined)
        throw recordError('malformed_protobuf', 'a protobuf message ends in the middle of a field');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw recordError('malformed_protobuf', 'a protobuf number is too long');
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length)
      throw recordError('malformed_protobuf', 'a protobuf field is longer than its message');
    const taken = bytes.subarray(at, at + length);
    at += length;
    return taken;
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    if (number === 0) throw recordError('malformed_protobuf', 'a protobuf field has the number 0');
    switch (Number(tag & 7n)) {
      case 0:
        fields.push({ number, value: varint(), bytes: null });
        break;
      case 1:
        fields.push({ number, value: take(8).readBigUInt64LE(), bytes: null });
        break;
      case 2:
        fields.push({ number, value: null, bytes: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: BigInt(take(4).readUInt32LE()), bytes: null });
        break;
      default:
        throw recordError('malformed_protobuf', 'a protobuf field has an unknown wire type');
    }
  }
  return fields;
}

/** All length-delimited values of a field. */
export const bytesOf = (fields: readonly ProtoField[], number: number): Buffer[] =>
  fields.filter((field) => field.number === number && field.bytes !== null).map((field) => field.bytes!);

/** The last length-delimited value of a field (the one that counts); null where there is none. */
export const lastBytes = (fields: readonly ProtoField[], number: number): Buffer | null =>
  bytesOf(fields, number).at(-1) ?? null;

/** The last value of a field as text; null where there is none. */
export const textOf = (fields: readonly ProtoField[], number: number): string | null =>
  lastBytes(fields, number)?.toString('utf8') ?? null;

/** The last number of a field; null where there is none. */
export const numberOf = (fields: readonly ProtoField[], number: number): bigint | null =>
  fields.filter((field) => field.number === number && field.value !== null).at(-1)?.value ?? null;
