/**
 * Every row of a store as of now, in no order, for counting.
 *
 * Property rows are made from the entities, some at a time, so that a store need not keep them for this. At milestone A of a
 * commit (log/apply.ts), the entity already has its new image, but still the index rows of the one before.
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
  /** Entities whose property rows are still to be made, and the one of which some are made, up to a place. */
  const waiting: (readonly [RowKey, Uint8Array | undefined])[] = []
  let entity: EntityRows | undefined
  let place = 0
  const make = (count: number): readonly KvRow[] => {
    while (made.length < count) {
      if (entity === undefined) {
        const [row, after] = waiting.pop() ?? []
        if (row === undefined) break
        const codes = codesOfEntityRow(row)
        const { indexOptions } = rulesOf(codes.partition)
        entity = new EntityRows({ codes, row, before: undefined, after }, { indexes: [], indexOptions })
        place = 0
      }
      producer.indexRows(entity, place, place + count)
      place += count
      if (place >= entity.places) entity = undefined
    }
    return made.splice(0)
  }
  const next = (count: number): MaybePromise<readonly KvRow[]> => {
    const rows = make(count)
    const [scan] = scans
    if (rows.length > 0 || (scan === undefined && shown.size === 0)) return rows
    if (scan === undefined) {
      // Deleted entities whose index rows still exist.
      waiting.push(...shown)
      shown.clear()
      return next(count)
    }
    return andThen(scan.next(count), (found) => {
      if (found.length === 0) {
        scans.shift()?.close()
        return next(count)
      }
      for (const { key, value } of found) {
        if (!isOf('Entities', key)) continue
        waiting.push([key, shown.has(key) ? shown.get(key) : value])
        shown.delete(key)
      }
      return found
    })
  }
  return {
    next,
    close: () => {
      for (const scan of scans) scan.close()
      snapshot.close()
    },
  }
}
