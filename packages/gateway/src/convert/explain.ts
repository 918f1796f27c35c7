/**
 * Query Explain on the wire.
 *
 *   ExplainMetrics  plan_summary 1 { indexes_used 1: Struct … }, execution_stats 2
 *   ExecutionStats  results_returned 1, execution_duration 3, read_operations 4, debug_stats 5: Struct
 *   Struct          fields 1 { key 1, value 2 { string_value 3, struct_value 5 } }
 *
 * debug_stats and plan_summary may contain nothing else, because tests of Google's clients compare them as a whole. The plan in words is at
 * `/emulator/explain` (admin/emulator/explain.ts).
 *
 * Known: query_profile.proto and struct.proto. Counts in debug_stats are strings, as in production.
 */
import type { ExecutionStats, ExplainMetrics } from '@sixtables/engine'
import type { AnswerWriter } from './answer-writer.ts'

export function writeExplainMetrics(writer: AnswerWriter, field: number, metrics: ExplainMetrics): void {
  writer.message(field, () => {
    if (metrics.stats !== undefined) writeStats(writer, 2, metrics.stats)
    writer.message(1, () => {
      for (const { queryScope, properties } of metrics.indexesUsed.toReversed()) {
        writeStruct(writer, 1, { query_scope: queryScope, properties })
      }
    })
  })
}

function writeStats(writer: AnswerWriter, field: number, stats: ExecutionStats): void {
  const { documents, indexEntries, smallOperations, minimum } = stats.billing
  writer.message(field, () => {
    writeStruct(writer, 5, {
      index_entries_scanned: String(stats.indexEntriesScanned),
      documents_scanned: String(stats.documentsScanned),
      billing_details: {
        documents_billable: String(documents),
        index_entries_billable: String(indexEntries),
        small_ops: String(smallOperations),
        min_query_cost: String(minimum),
      },
    })
    writer.int64(4, BigInt(stats.readOperations))
    // A Duration has the form of a Timestamp.
    writer.timestamp(3, Number(stats.durationMicros))
    writer.int64(1, BigInt(stats.resultsReturned))
  })
}

interface Struct {
  readonly [name: string]: string | Struct
}

function writeStruct(writer: AnswerWriter, field: number, struct: Struct): void {
  writer.message(field, () => {
    for (const [name, value] of Object.entries(struct).reverse()) {
      writer.message(1, () => {
        writer.message(2, () => (typeof value === 'string' ? writer.text(3, value) : writeStruct(writer, 5, value)))
        writer.text(1, name)
      })
    }
  })
}
