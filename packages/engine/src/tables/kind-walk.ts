/**
 * A walk over the entities of a kind in all namespaces of a database.
 *
 *   EntitiesByKind   p "" A:1   p "" A:2   p "" B:1 …   p "n" A:1 …   p "n" C:1 …
 *                    ╰── visited ──╯ ╰──────── skipped ──────╯╰─ visited ─╯
 *
 * Row keys contain the namespace before the kind, so the walk costs the kind's entities and two rows per namespace. It reads
 * the store as it is at each step: entities that are written or deleted meanwhile may be visited or not.
 */
import type { KeyRange, KvReader, RowKey } from '../storage/kv.ts'
import { kindPrefix, partitionOfKindRow } from './entities-by-kind.ts'
import { prefixRange, rowAfter, rowsOf } from './rows.ts'

/** Visits the path codes of a kind's entities in key order, up to `count` of one namespace a time; an error ends it. */
export async function walkKind(
  kv: KvReader,
  database: string,
  kind: string,
  count: number,
  visit: (paths: readonly string[], partition: string) => Promise<void>,
): Promise<void> {
  const all = rowsOf('EntitiesByKind', database)
  for (let from = all.start; ; ) {
    const [first] = await rowKeysOf(kv, { start: from, end: all.end }, 1)
    if (first === undefined) return
    const partition = partitionOfKindRow(first)
    const range = prefixRange(kindPrefix(partition, kind))
    for (let at = range.start; at < range.end; ) {
      const rows = await rowKeysOf(kv, { start: at, end: range.end }, count)
      const last = rows.at(-1)
      if (last === undefined) break
      await visit(
        rows.map((row) => row.slice(range.start.length)),
        partition,
      )
      at = rowAfter(last)
    }
    from = rowsOf('EntitiesByKind', partition).end
  }
}

export async function rowKeysOf(kv: KvReader, range: KeyRange, count: number): Promise<readonly RowKey[]> {
  const scan = kv.scan(range, { expect: count })
  try {
    const rows = await scan.next(count)
    return rows.map(({ key }) => key)
  } finally {
    scan.close()
  }
}
