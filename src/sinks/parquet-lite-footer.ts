/**
 * parquetjs-lite knows times only as the old converted type, which says nothing about UTC: DuckDB then reads them as
 * local times. It does have the Thrift classes of the logical types, so its footer is read, completed and written again.
 */
import thrift from 'parquetjs-lite/gen-nodejs/parquet_types.js';
import util from 'parquetjs-lite/lib/util.js';

/** Length of the metadata and the magic, after the metadata. */
const TAIL_BYTES = 8;

/** The footer with the named INT64 columns as UTC times in microseconds. */
export function withUtcTimes(footer: Buffer, names: ReadonlySet<string>): Buffer {
  const metadata = new thrift.FileMetaData();
  util.decodeThrift(metadata, footer.subarray(0, footer.length - TAIL_BYTES));
  for (const element of metadata.schema) {
    if (!names.has(String(element.name))) continue;
    element.converted_type = thrift.ConvertedType.TIMESTAMP_MICROS;
    element.logicalType = new thrift.LogicalType({
      TIMESTAMP: new thrift.TimestampType({
        isAdjustedToUTC: true,
        unit: new thrift.TimeUnit({ MICROS: new thrift.MicroSeconds() }),
      }),
    });
  }
  const bytes = util.serializeThrift(metadata);
  const tail = Buffer.from(footer.subarray(footer.length - TAIL_BYTES));
  tail.writeUInt32LE(bytes.length, 0);
  return Buffer.concat([bytes, tail]);
}
