/** Waiting records by entity group, the groups and their records in the order in which they came. */
import type { WaitingRecord } from './pending-api.ts'

export interface WaitingGroup {
  readonly group: string
  readonly namespace: string
  readonly records: readonly WaitingRecord[]
}

export function groupsOf(records: readonly WaitingRecord[]): readonly WaitingGroup[] {
  const groups = new Map<string, { group: string; namespace: string; records: WaitingRecord[] }>()
  for (const record of records) {
    const { group, namespace } = record
    const name = JSON.stringify([namespace, group])
    const known = groups.get(name)
    if (known === undefined) groups.set(name, { group, namespace, records: [record] })
    else known.records.push(record)
  }
  return [...groups.values()]
}
