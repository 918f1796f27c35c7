/**
 * The cost of some work, such as one put: rows and bytes that it writes, and the time that one server needs for them. The figures are from
 * the reports to tablets, which have every row only if the store simulates its servers; otherwise they are samples.
 */
import type { Finding, FindingKind } from '@sixtables/engine'
import type { Recorder } from '../measure/recorder.ts'
import type { Store } from './store.ts'

export interface Written {
  /** Rows put or deleted in the tables of entities and indexes. */
  readonly rows: number
  /** Bytes of their keys and values. */
  readonly bytes: number
  /** How many of them belong to composite indexes. */
  readonly compositeRows: number
  /** Milliseconds that the store's single server needs for the rows in its queue. */
  readonly applyMs: number
}

/** @param work - the writes to count; nothing else may run */
export async function written(store: Store, work: () => Promise<unknown>): Promise<Written> {
  let [rows, bytes, compositeRows, applyMs] = [0, 0, 0, 0]
  const { tablets } = store.engine
  const end = tablets.onSample((sample) => {
    if (!sample.table.startsWith('Entities') || (sample.operation !== 'put' && sample.operation !== 'delete')) return
    rows += sample.rows
    bytes += sample.bytes
    if (sample.table === 'EntitiesByCompositeProperty') compositeRows += sample.rows
    // When the client gets its answer, the server has already written a part.
    applyMs = Math.max(applyMs, tablets.report().servers[0]?.queueMs ?? 0)
  })
  try {
    await store.alone(work)
  } finally {
    end()
  }
  return { rows, bytes, compositeRows, applyMs }
}

/** Records the engine's own findings of the lab's kinds. */
export function recordFindings(record: Recorder, store: Store, ...kinds: readonly FindingKind[]): void {
  const found: readonly Finding[] = store.engine.findings().filter(({ kind }) => kinds.includes(kind))
  record.figure('findings of the engine', found.length)
  record.text(
    "the engine's findings",
    found.length === 0
      ? ['none']
      : found.flatMap(({ kind, words, evidence }) => [`${kind}: ${words}`, ...evidence.map((line) => `  ${line}`)]),
  )
}
