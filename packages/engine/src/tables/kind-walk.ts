/**
 * Goes along the entities of a kind, over all namespaces of a database.
 *
 *   EntitiesByKind   p "" A:1   p "" A:2   p "" B:1 …   p "n" A:1 …   p "n" C:1 …
 *                    ╰── visited ──╯ ╰──────── leapt over ──────╯╰─ visited ─╯
 *
 * Namespaces stand before kinds in the rows, so it costs the kind's entities and two rows a namespace. Each stretch is read as
 * the store is then: entities that come and go meanwhile may be visited or not.
 */
import type { KeyRange, KvReader, RowKey } from '../storage/kv.ts'
import { kindPrefix, partitionOfKindRow } from './entities-by-kind.ts'
import { prefixRange, rowAfter } from './ranges.ts'
import { rowsOf } from './rows.ts'

/**
 * Hands over the path codes of the kind's entities in key order, at most `count` at a time and of one namespace each.
 *
 * @param database - its code
 * @param visit - with the code of the partition; what it throws ends the walk
 */
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

/** The keys of the first rows of a range, at most `count`. */
export async function rowKeysOf(kv: KvReader, range: KeyRange, count: number): Promise<readonly RowKey[]> {
  const scan = kv.scan(range, { expect: count })
  try {
    const rows = await scan.next(count)
    return rows.map(({ key }) => key)
  } finally {
    scan.close()
  }
}
