/** The staleness of an answer in words. */

export interface StaleResult {
  readonly key: string
  readonly properties: string
  readonly state: 'right' | 'old' | 'gone'
  /** Absent for a deleted entity. */
  readonly committed?: string
}

/** As `POST /emulator/staleness` answers. */
export interface StaleReport {
  readonly results: readonly StaleResult[]
  readonly missing: readonly { readonly key: string; readonly properties: string }[]
  readonly waiting: number
  readonly more: boolean
}

export function staleWords({ state, properties, committed }: StaleResult): string {
  if (state === 'right') return 'as committed'
  if (state === 'old') return `stale: committed is ${committed}`
  if (committed === undefined) return 'stale: deleted by a commit that waits'
  if (committed === properties) return 'stale: it no longer matches; its index rows are those of before'
  return `stale: it no longer matches; committed is ${committed}`
}

export function summaryOf({ results, missing, waiting, more }: StaleReport): { words: string; isStale: boolean } {
  const count = `${results.length}${more ? ' or more' : ''} ${results.length === 1 ? 'result' : 'results'}`
  const stale = results.filter(({ state }) => state !== 'right').length
  const parts = [stale > 0 ? `${stale} stale` : '', missing.length > 0 ? `${missing.length} missing` : ''].filter(
    Boolean,
  )
  if (parts.length > 0) return { words: `${count}: ${parts.join(', ')}`, isStale: true }
  return { words: `${count}, as committed${waiting > 0 ? '; what waits does not touch it' : ''}`, isStale: false }
}
