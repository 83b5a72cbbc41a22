/** Arrow files as plain cells, by apache-arrow's reader. */
import { readFileSync } from 'node:fs';
import { DataType, tableFromIPC, type Vector } from 'apache-arrow';
import type { Cell } from './nasty-rows.ts';

/** Read from the buffers: the library's own getters give times in milliseconds and drop a byte order mark from text. */
function cells(vector: Vector): Cell[] {
  const all: Cell[] = [];
  for (const data of vector.data) {
    const chunk = vector.constructor as unknown as new (data: readonly unknown[]) => Vector;
    const values = new chunk([data]);
    for (let i = 0; i < data.length; i++) {
      if (!data.getValid(i)) all.push(null);
      else if (DataType.isTimestamp(data.type)) all.push((data.values as unknown as BigInt64Array)[i]!);
      else if (DataType.isBinary(data.type)) all.push(Buffer.from(values.get(i) as Uint8Array).toString('hex'));
      else if (DataType.isUtf8(data.type)) {
        all.push(Buffer.from(data.values.subarray(data.valueOffsets[i], data.valueOffsets[i + 1])).toString('utf8'));
      } else if (DataType.isList(data.type)) all.push([...(values.get(i) as Iterable<string>)]);
      else all.push(values.get(i) as Cell);
    }
  }
  return all;
}

export function readArrow(path: string): Record<string, Cell>[] {
  const table = tableFromIPC(readFileSync(path));
  const columns = table.schema.fields.map((field, i) => [field.name, cells(table.getChildAt(i)!)] as const);
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(columns.map(([name, all]) => [name, all[row]!])),
  );
}
