/**
 * Changes of rows. The changes of one turn of the event loop are one MutateRows, or several of at most 1,000 rows, 100,000 changes and 4 MiB.
 *
 * Two calls of one turn that change row `r1` share one entry, with the changes of the first call before those of the second. A call is
 * acknowledged when all its rows are, and fails with the error of one of its own rows only.
 *
 * An entry is atomic, so the changes of one row are never split. The engine changes a row a few times a call, and far fewer than 50,000 calls
 * run in one turn (`--max-calls` is 20,000, and a gateway runs at most 256 commits at a time), so an entry stays below 100,000 changes.
 */
import type { RowKey, Scheduler } from '@sixtables/engine'
import { getOrInsert } from '@sixtables/engine/store'
import { bigtableLimits } from '../client/limits.ts'
import type { Mutation, TableClient } from '../client/table-client.ts'
import type { RowChange, RowStore } from '../row-store/row-store.ts'
import { mutationOf } from './filters.ts'
import { gathered, partsOf } from './gathered.ts'

interface Call {
  readonly rows: readonly RowChange[]
  resolve(): void
  reject(error: unknown): void
}

/** A row of a call of MutateRows, and the calls that wait for it. */
interface Entry {
  readonly key: RowKey
  readonly mutations: Mutation[]
  bytes: number
  readonly waiting: Waiting[]
}

interface Waiting {
  rowsLeft: number
  readonly call: Call
}

const limits = [
  { most: 1000, of: () => 1 },
  { most: bigtableLimits.changesPerCall, of: ({ mutations }: Entry) => mutations.length },
  { most: 4 * 1024 * 1024, of: ({ bytes }: Entry) => bytes },
]

/** @returns the changes of a table */
export function rowChanges(client: TableClient, clock: Scheduler): RowStore['mutateRows'] {
  const add = gathered<Call>(clock, (calls) => {
    for (const entries of partsOf(entriesOf(calls), limits)) void send(client, entries)
  })
  return (rows) => {
    const changed = rows.filter(({ changes }) => changes.length > 0)
    if (changed.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => add({ rows: changed, resolve, reject }))
  }
}

async function send(client: TableClient, entries: readonly Entry[]): Promise<void> {
  try {
    const refused = await client.mutateRows(entries)
    for (const [index, { waiting }] of entries.entries()) {
      const error = refused.get(index)
      for (const one of waiting) {
        if (error !== undefined) one.call.reject(error)
        else if (--one.rowsLeft === 0) one.call.resolve()
      }
    }
  } catch (error) {
    for (const { waiting } of entries) for (const { call } of waiting) call.reject(error)
  }
}

function entriesOf(calls: readonly Call[]): Iterable<Entry> {
  const entries = new Map<RowKey, Entry>()
  for (const call of calls) {
    const waiting: Waiting = { rowsLeft: call.rows.length, call }
    for (const { key, changes } of call.rows) {
      const entry = getOrInsert(entries, key, () => ({ key, mutations: [], bytes: key.length, waiting: [] }))
      for (const change of changes) {
        entry.mutations.push(mutationOf(change))
        entry.bytes += change.type === 'set' ? change.value.length : 0
      }
      entry.waiting.push(waiting)
    }
  }
  return entries.values()
}
