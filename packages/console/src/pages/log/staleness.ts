/** The staleness of an answer in words, and waiting records by entity group. */
import type { PendingRecordReport } from '@sixtables/engine'
import type { StaleReport } from '@sixtables/gateway/browser'

type Compared = Omit<StaleReport['results'][number], 'state'> & {
  readonly state: StaleReport['results'][number]['state'] | 'missing'
}

export function staleWords({ state, properties, committed }: Compared): string {
  if (state === 'missing') return 'missing: it is committed and matches, but its index rows are not written yet'
  if (state === 'right') return 'as committed'
  if (state === 'old') return `stale: committed is ${committed}`
  if (committed === undefined) return 'stale: deleted by a commit that waits'
  if (committed === properties) return 'stale: it no longer matches; its index rows are those of before'
  return `stale: it no longer matches; committed is ${committed}`
}

export function summaryOf({ results, missing, waiting, more }: StaleReport): { words: string; isStale: boolean } {
  const count = `${results.length}${more ? ' or more' : ''} ${results.length === 1 ? 'result' : 'results'}`
  const stale = results.filter(({ state }) => state !== 'right').length
  const parts = [stale > 0 && `${stale} stale`, missing.length > 0 && `${missing.length} missing`].filter(Boolean)
  if (parts.length > 0) return { words: `${count}: ${parts.join(', ')}`, isStale: true }
  return { words: `${count}, as committed${waiting > 0 ? '; what waits does not touch it' : ''}`, isStale: false }
}

interface WaitingGroup extends Pick<PendingRecordReport, 'group' | 'namespace'> {
  readonly records: readonly PendingRecordReport[]
}

export function groupsOf(records: readonly PendingRecordReport[]): readonly WaitingGroup[] {
  const groups = new Map<string, WaitingGroup>()
  for (const record of records) {
    const { group, namespace } = record
    const name = JSON.stringify([namespace, group])
    groups.set(name, { group, namespace, records: [...(groups.get(name)?.records ?? []), record] })
  }
  return [...groups.values()]
}
