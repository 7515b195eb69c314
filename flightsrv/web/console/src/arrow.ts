// Streams of Arrow record batches.
import { RecordBatchReader, type RecordBatch, type Schema } from 'apache-arrow'

/** A stream of record batches of one schema. */
export interface Stream {
  schema: Schema
  batches: AsyncIterable<RecordBatch>
}

/** Opens the body of an answer. An answer that breaks off is an error of the batches. */
export async function openStream(answer: Response | Promise<Response>): Promise<Stream> {
  const reader = await RecordBatchReader.from(Promise.resolve(answer))
  await reader.open()
  return { schema: reader.schema, batches: reader as AsyncIterable<RecordBatch> }
}

/** Reads rows up to a number. The rest of the stream is not read. */
export async function firstRows(answer: Response | Promise<Response>, limit: number): Promise<Rows> {
  const { schema, batches } = await openStream(answer)
  const rows: Rows = { schema, batches: [], count: 0, complete: true }
  for await (const batch of batches) {
    if (batch.numRows === 0) continue
    rows.batches.push(batch)
    rows.count += batch.numRows
    if (rows.count >= limit) {
      rows.complete = false
      break
    }
  }
  return rows
}

/** Rows in memory. */
export interface Rows {
  schema: Schema
  batches: RecordBatch[]
  count: number
  complete: boolean // false: there may be more
}

/** The value of a column in a row. */
export function cell(rows: Rows, row: number, column: number): unknown {
  for (const batch of rows.batches) {
    if (row < batch.numRows) return batch.getChildAt(column)?.get(row) ?? null
    row -= batch.numRows
  }
  return null
}
