/**
 * Reads of rows by key. Reads of one turn of the event loop that want the same cells are one ReadRows, or several of at most 1,000 keys and
 * 256 KiB: `read(["a", "b"])` and `read(["b", "c"])` become one call for a, b and c.
 *
 * A read never joins a call that was already sent: it has to see every change that was acknowledged before it was asked for.
 */
import type { RowKey, Scheduler } from '@sixtables/engine'
import { bigtableLimits } from '../client/limits.ts'
import type { TableClient } from '../client/table-client.ts'
import type { Row, Wanted } from '../row-store/row-store.ts'
import { rowOf, wantedFilter } from './filters.ts'
import { Gathered } from './gathered.ts'

const keysPerCall = 1000
/** Half of a real Bigtable's limit: the request also holds the filter and the lengths of the keys. */
const keyBytesPerCall = bigtableLimits.readRequestBytes / 2

interface Read {
  readonly keys: readonly RowKey[]
  readonly wanted: Wanted
  readonly wish: string
  resolve(rows: ReadonlyMap<RowKey, Row>): void
  reject(error: unknown): void
}

export class RowReads {
  readonly #client: TableClient
  readonly #reads: Gathered<Read>

  constructor(client: TableClient, clock: Scheduler) {
    this.#client = client
    this.#reads = new Gathered(clock, (reads) => this.#send(reads))
  }

  read(keys: readonly RowKey[], wanted: Wanted): Promise<ReadonlyMap<RowKey, Row>> {
    if (keys.length === 0 || wanted.length === 0) return Promise.resolve(new Map())
    return new Promise((resolve, reject) => {
      this.#reads.add({ keys, wanted, wish: wishOf(wanted), resolve, reject })
    })
  }

  #send(reads: readonly Read[]): void {
    const byWish = new Map<string, Read[]>()
    for (const read of reads) {
      const same = byWish.get(read.wish)
      if (same === undefined) byWish.set(read.wish, [read])
      else same.push(read)
    }
    for (const same of byWish.values()) void this.#fetch(same)
  }

  async #fetch(reads: readonly Read[]): Promise<void> {
    try {
      const keys = [...new Set(reads.flatMap((read) => read.keys))]
      const filter = wantedFilter(reads[0]?.wanted ?? [])
      const answers = await Promise.all(
        partsOf(keys).map((part) => this.#client.readRows({ rows: { keys: part }, filter })),
      )
      const found = new Map(answers.flat().map((row) => [row.key, rowOf(row)]))
      for (const { keys, resolve } of reads) resolve(chosen(found, keys))
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }
}

function partsOf(keys: readonly RowKey[]): readonly (readonly RowKey[])[] {
  const parts: RowKey[][] = []
  let part: RowKey[] = []
  let bytes = 0
  for (const key of keys) {
    if (part.length === 0 || part.length === keysPerCall || bytes + key.length > keyBytesPerCall) {
      part = []
      parts.push(part)
      bytes = 0
    }
    part.push(key)
    bytes += key.length
  }
  return parts
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
