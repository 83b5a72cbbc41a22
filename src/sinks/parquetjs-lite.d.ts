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

    interface Field {
      originalType?: string;
    }

    class ParquetSchema {
      readonly fields: Record<string, Field>;
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
