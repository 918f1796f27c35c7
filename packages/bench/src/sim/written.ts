/**
 * The writes of a piece of work to tables, as reported to the tablets: rows, bytes, and the time that one server needs.
 *
 * WT1  Every row is reported, since the store simulates its servers; without simulation the tablets get samples.
 */
import type { Finding, FindingKind } from '@sixtables/engine'
import type { Recorder } from '../measure/recorder.ts'
import type { Store } from './store.ts'

export interface Written {
  /** Rows that were put or deleted in the tables of entities and their indexes. */
  readonly rows: number
  /** Keys and values of these. */
  readonly bytes: number
  /** Rows of composite indexes among them. */
  readonly compositeRows: number
  /** How long the one server of the store is busy with them, ms: rows lie in a queue until it gets to them. */
  readonly applyMs: number
}

/** @param work - what to count; the store stands still before it */
export async function written(store: Store, work: () => Promise<void>): Promise<Written> {
  let [rows, bytes, compositeRows, applyMs] = [0, 0, 0, 0]
  const { tablets } = store.engine
  const end = tablets.onSample((sample) => {
    if (!sample.table.startsWith('Entities') || (sample.operation !== 'put' && sample.operation !== 'delete')) return
    rows += sample.rows
    bytes += sample.bytes
    if (sample.table === 'EntitiesByCompositeProperty') compositeRows += sample.rows
    // Before the client hears of its put the server has done a part already.
    applyMs = Math.max(applyMs, tablets.report().servers[0]?.queueMs ?? 0)
  })
  try {
    await store.together([work()])
  } finally {
    end()
  }
  return { rows, bytes, compositeRows, applyMs }
}

/** The engine's own findings of the kinds that a lab is about. */
export function recordFindings(record: Recorder, store: Store, ...kinds: readonly FindingKind[]): void {
  const found: readonly Finding[] = store.engine.findings().filter(({ kind }) => kinds.includes(kind))
  record.figure('findings of the engine', found.length, '')
  record.text(
    "the engine's findings",
    found.length === 0
      ? ['none']
      : found.flatMap(({ kind, words, evidence }) => [`${kind}: ${words}`, ...evidence.map((line) => `  ${line}`)]),
  )
}
