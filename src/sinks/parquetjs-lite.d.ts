/** The part of parquetjs-lite (CommonJS, without types of its own) that the sink uses. */
declare module 'parquetjs-lite' {
  namespace parquetjs {
    interface FieldDefinition {
      type?: string;
      optional?: boolean;
      repeated?: boolean;
      compression?: string;
      statistics?: boolean;
      fields?: Record<string, FieldDefinition>;
    }

    class ParquetSchema {
      constructor(definition: Record<string, FieldDefinition>);
    }

    interface RowBuffer {
      rowCount?: number;
      pageRowCount?: number;
    }

    class ParquetEnvelopeWriter {
      constructor(
        schema: ParquetSchema,
        write: (bytes: Buffer) => void,
        close: () => void,
        fileOffset: number,
        options: { pageSize?: number; useDataPageV2?: boolean; pageIndex?: boolean },
      );
      /** Rows of a page. */
      setPageSize(rows: number): void;
      writeRowGroup(rowBuffer: RowBuffer): void;
    }

    class ParquetWriter {
      rowBuffer: RowBuffer;
      constructor(schema: ParquetSchema, envelope: ParquetEnvelopeWriter, options: { rowGroupSize?: number });
      setMetadata(key: string, value: string): void;
      appendRow(row: Record<string, unknown>): Promise<void>;
      close(): Promise<void>;
    }
  }
  export = parquetjs;
}

/** Thrift classes generated from the format's definition. */
declare module 'parquetjs-lite/gen-nodejs/parquet_types.js' {
  namespace thrift {
    class MicroSeconds {}
    class TimeUnit {
      constructor(unit: { MICROS: MicroSeconds });
    }
    class TimestampType {
      constructor(type: { isAdjustedToUTC: boolean; unit: TimeUnit });
    }
    class LogicalType {
      constructor(type: { TIMESTAMP: TimestampType });
    }
    interface SchemaElement {
      name: string;
      converted_type: number | null;
      logicalType: LogicalType | null;
    }
    class FileMetaData {
      schema: SchemaElement[];
    }
    const ConvertedType: { readonly TIMESTAMP_MICROS: number };
  }
  export = thrift;
}

declare module 'parquetjs-lite/lib/util.js' {
  namespace util {
    function decodeThrift(into: object, bytes: Buffer): number;
    function serializeThrift(value: object): Buffer;
  }
  export = util;
}
