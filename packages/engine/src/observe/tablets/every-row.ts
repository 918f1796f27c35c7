/**
 * Every row of a store as of now, in no order, for counting.
 *
 * Property rows are made from the entities, each after its own, so that a store need not keep them for this. At milestone A of
 * a commit (log/apply.ts), the entity already has its new image, but still the index rows of the one before.
 */

import type { CommitLog } from '../../log/commit-log.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { Kv, KvRow, RowKey } from '../../storage/kv.ts'
import { codesOfEntityRow, EntityRows, type IndexRules, RowProducer } from '../../tables/entity-rows.ts'
import { everySpace, isOf, type KeySpace, rowsOf } from '../../tables/rows.ts'
import type { RowWalk } from './row-counts.ts'

const ofProperties: readonly KeySpace[] = ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc']

/** @param rulesOf - the index rules of the database whose code is a prefix of this one */
export function everyRow(kv: Kv, { pending }: CommitLog, rulesOf: (code: string) => IndexRules): RowWalk {
  const snapshot = kv.snapshot()
  const scans = everySpace.filter((space) => !ofProperties.includes(space)).map((space) => snapshot.scan(rowsOf(space)))
  const halfApplied = pending.all().filter(({ milestone }) => milestone === 'A')
  const shown = new Map(halfApplied.flatMap(({ changes }) => changes.map(({ row, before }) => [row, before] as const)))
  const made: KvRow[] = []
  const producer = new RowProducer({
    wants: (prefix) => ofProperties.some((space) => isOf(space, prefix)),
    write: (key, value) => {
      if (value !== undefined) made.push({ key, value })
    },
  })
  const make = (row: RowKey, after: Uint8Array | undefined): void => {
    const codes = codesOfEntityRow(row)
    const { indexOptions } = rulesOf(codes.partition)
    producer.indexRows(new EntityRows({ codes, row, before: undefined, after }, { indexes: [], indexOptions }))
  }
  const withMade = (rows: readonly KvRow[]): readonly KvRow[] => {
    for (const { key, value } of rows) {
      if (!isOf('Entities', key)) continue
      make(key, shown.has(key) ? shown.get(key) : value)
      shown.delete(key)
    }
    return [...rows, ...made.splice(0)]
  }
  const next = (count: number): MaybePromise<readonly KvRow[]> => {
    const [scan] = scans
    if (scan !== undefined) {
      return andThen(scan.next(count), (rows) => {
        if (rows.length > 0) return withMade(rows)
        scans.shift()?.close()
        return next(count)
      })
    }
    // Deleted entities whose index rows still exist.
    for (const [row, before] of shown) make(row, before)
    shown.clear()
    return made.splice(0)
  }
  return {
    next,
    close: () => {
      for (const scan of scans) scan.close()
      snapshot.close()
    },
  }
}
