/**
 * Query Explain on the wire.
 *
 *   ExplainMetrics  plan_summary 1 { indexes_used 1: Struct … }, execution_stats 2
 *   ExecutionStats  results_returned 1, execution_duration 3, read_operations 4, debug_stats 5: Struct
 *   Struct          fields 1 { key 1, value 2 { string_value 3 } }
 *
 * Known: query_profile.proto and struct.proto. Counts in debug_stats are strings, as production gives them. Ours: `plan`.
 */
import type { ExecutionStats, ExplainMetrics, ExplainOptions } from '@sixtables/engine'
import type { ExplainOptions as WireExplainOptions } from '#gen/wire.js'
import type { AnswerWriter } from './answer-writer.ts'

/** `undefined` = the query is not to be explained. */
export function explainOptionsOf(options: WireExplainOptions | null): ExplainOptions | undefined {
  return options === null ? undefined : { analyze: options.analyze }
}

export function writeExplainMetrics(writer: AnswerWriter, field: number, metrics: ExplainMetrics): void {
  const end = writer.mark()
  if (metrics.stats !== undefined) writeStats(writer, 2, metrics.stats, metrics.plan)
  const summaryEnd = writer.mark()
  for (const { queryScope, properties } of [...metrics.indexesUsed].reverse()) {
    writeStruct(writer, 1, { query_scope: queryScope, properties })
  }
  writer.head(1, summaryEnd)
  writer.head(field, end)
}

function writeStats(writer: AnswerWriter, field: number, stats: ExecutionStats, plan: string): void {
  const end = writer.mark()
  writeStruct(writer, 5, {
    index_entries_scanned: String(stats.indexEntriesScanned),
    documents_scanned: String(stats.documentsScanned),
    plan,
  })
  writer.int64(4, BigInt(stats.readOperations))
  // A Duration has the form of a Timestamp.
  writer.timestamp(3, stats.durationMicros)
  writer.int64(1, BigInt(stats.resultsReturned))
  writer.head(field, end)
}

function writeStruct(writer: AnswerWriter, field: number, texts: Readonly<Record<string, string>>): void {
  const end = writer.mark()
  for (const [name, text] of Object.entries(texts).reverse()) {
    const entryEnd = writer.mark()
    const valueEnd = writer.mark()
    writer.text(3, text)
    writer.head(2, valueEnd)
    writer.text(1, name)
    writer.head(1, entryEnd)
  }
  writer.head(field, end)
}
