/** A pattern that was seen, as its file reports it; findings.ts adds kinds, instants and advice. */
import type { FindingKind } from '../tablets/report.ts'

export interface Sighting {
  readonly kind: FindingKind
  readonly subject: string
  readonly words: string
  readonly evidence: readonly string[]
  /** 0 to 1. */
  readonly share: number
  /** Grows with every event that shows the pattern: by it one knows when it was seen last. */
  readonly count: number
}

/** One pattern, or some that need the same facts. */
export interface Pattern {
  sightings(): readonly Sighting[]
  clear(): void
}

/** `93 %` */
export function percentOf(share: number): string {
  return `${Math.round(share * 100)} %`
}
