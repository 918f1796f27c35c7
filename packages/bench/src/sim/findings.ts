/** The engine's own findings, as an arm records them. */
import type { Finding, FindingKind } from '@sixtables/engine'
import type { Recorder } from '../measure/recorder.ts'
import type { Store } from './store.ts'

/** @param kinds - those that the lab is about */
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
