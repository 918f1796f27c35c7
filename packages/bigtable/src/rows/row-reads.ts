/**
 * Reads of rows by key. Reads of one turn of the event loop that want the same cells are one ReadRows, or several of at most 1,000 keys and
 * 256 KiB: `read(["a", "b"])` and `read(["b", "c"])` become one call for a, b and c.
 *
 * A read never joins a call that was already sent: it has to see every change that was acknowledged before it was asked for.
 */
import type { RowKey, Scheduler } from '@sixtables/engine'
import { getOrInsert, nextTurn } from '@sixtables/engine/store'
import { bigtableLimits } from '../client/limits.ts'
import type { TableClient } from '../client/table-client.ts'
import type { Row, RowStore, Wanted } from '../row-store/row-store.ts'
import { rowOf, wantedFilter } from './filters.ts'
import { gathered, partsOf } from './gathered.ts'

/** Keys of one call, and their bytes: half of a real Bigtable's limit, as the request also holds the filter and the lengths of the keys. */
const limits = [
  { most: 1000, of: () => 1 },
  { most: bigtableLimits.readRequestBytes / 2, of: ({ length }: RowKey) => length },
]

/** Answers of one turn of the event loop: each lets a call go on, and other clients wait for all of them. */
const answersPerTurn = 16

interface Read {
  readonly keys: readonly RowKey[]
  readonly wanted: Wanted
  resolve(rows: ReadonlyMap<RowKey, Row>): void
  reject(error: unknown): void
}

/** @returns the reads of a table */
export function rowReads(client: TableClient, clock: Scheduler): RowStore['readRows'] {
  const add = gathered<Read>(clock, (reads) => {
    const byWish = new Map<string, Read[]>()
    for (const read of reads) getOrInsert(byWish, wishOf(read.wanted), () => []).push(read)
    for (const same of byWish.values()) void fetchRows(client, clock, same)
  })
  return (keys, wanted) => {
    if (keys.length === 0 || wanted.length === 0) return Promise.resolve(new Map())
    return new Promise((resolve, reject) => add({ keys, wanted, resolve, reject }))
  }
}

async function fetchRows(client: TableClient, clock: Scheduler, reads: readonly Read[]): Promise<void> {
  try {
    const keys = [...new Set(reads.flatMap((read) => read.keys))]
    const filter = wantedFilter(reads[0]?.wanted ?? [])
    const answers = await Promise.all(
      [...partsOf(keys, limits)].map((part) => client.readRows({ rows: { keys: part }, filter })),
    )
    const found = new Map(answers.flat().map((row) => [row.key, rowOf(row)]))
    for (const [i, { keys, resolve }] of reads.entries()) {
      if (i > 0 && i % answersPerTurn === 0) await nextTurn(clock)
      resolve(chosen(found, keys))
    }
  } catch (error) {
    for (const { reject } of reads) reject(error)
  }
}

function wishOf(wanted: Wanted): string {
  return wanted
    .map(({ family, from, until, newest, withoutValues }) => [family, from, until, newest, withoutValues].join(' '))
    .join(',')
}

function chosen(found: ReadonlyMap<RowKey, Row>, keys: readonly RowKey[]): ReadonlyMap<RowKey, Row> {
  const rows = new Map<RowKey, Row>()
  for (const key of keys) {
    const row = found.get(key)
    if (row !== undefined) rows.set(key, row)
  }
  return rows
}
