/** Waiting records by entity group, the groups and their records in the order in which they came. */
import type { PendingRecordReport } from '@sixtables/engine'

export interface WaitingGroup {
  readonly group: string
  readonly namespace: string
  readonly records: readonly PendingRecordReport[]
}

export function groupsOf(records: readonly PendingRecordReport[]): readonly WaitingGroup[] {
  const groups = new Map<string, { group: string; namespace: string; records: PendingRecordReport[] }>()
  for (const record of records) {
    const { group, namespace } = record
    const name = JSON.stringify([namespace, group])
    const known = groups.get(name)
    if (known === undefined) groups.set(name, { group, namespace, records: [record] })
    else known.records.push(record)
  }
  return [...groups.values()]
}
