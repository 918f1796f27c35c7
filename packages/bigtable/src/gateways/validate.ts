/**
 * Validation of a transaction's reads at the stamp of its commit: nothing that it read may have changed after its moment.
 *
 *   rows, stretches of tables      no cell with a timestamp in (moment, stamp], deleted cells included
 *   entity groups                  no newer record
 *
 * Unfinished commits below the stamp that may touch the read set are resolved first. The commit itself is prepared in its groups by then, so of two
 * commits that each read what the other writes, at least one sees the other. A stretch includes the gaps between rows, and index rows have stamps, so
 * there are no phantoms.
 */
import {
  codesOfEntityRow,
  entityRowKey,
  entityRowOf,
  type GroupCode,
  groupOf,
  type ReadSet,
  type RowKey,
} from '@sixtables/engine/store'
import type { WantedCells } from '../row-store/row-store.ts'
import type { ClockRow, OwnCommit } from './clock-row.ts'
import { type GroupRow, readGroups } from './group-row.ts'
import type { Resolver } from './resolve.ts'
import { readableMicros, type SharedStore } from './shared-store.ts'

export interface CheckedReads {
  /** The moment that it reads at. */
  readonly moment: bigint
  readonly set: ReadSet
  /** The groups that were read, if groups are compared instead of rows. */
  readonly groups: readonly GroupCode[]
}

export function groupOfRow(row: RowKey): GroupCode {
  const { partition, path } = codesOfEntityRow(row)
  return groupOf(partition, path)
}

/** Whether a group's row says all about some reads, except after a deletion. */
export function isOfGroup({ set, groups }: CheckedReads, group: GroupCode): boolean {
  return (
    set.spans.length === 0 &&
    groups.every((one) => one === group) &&
    set.rows().every((key) => groupOfRow(key) === group)
  )
}

export class Validator {
  readonly #store: SharedStore
  readonly #clock: ClockRow
  readonly #resolver: Resolver

  constructor(store: SharedStore, clock: ClockRow, resolver: Resolver) {
    this.#store = store
    this.#clock = clock
    this.#resolver = resolver
  }

  /**
   * Compares all reads with the head and log of the one group that is written, if that is enough: then APPEND decides, without PREPARE.
   *
   * @returns whether the reads are unchanged; `undefined` if other rows must be read
   */
  inGroup(reads: CheckedReads, row: GroupRow): boolean | undefined {
    const { moment, set, groups } = reads
    if (!isOfGroup(reads, row.group)) return undefined
    if (groups.length > 0 && row.head.version > moment) return false
    if (this.#isForgotten(moment)) return false
    // A deletion of the group leaves no record; only its cells show it.
    if (row.head.floor > moment) return undefined
    return !row.log.some(
      ({ stamp, record, group }) => stamp > moment && record.changes.some(({ path }) => set.has(rowOf(group, path))),
    )
  }

  /** Whether no read has changed up to the stamp of the commit. */
  async isUnchanged(reads: CheckedReads, commit: OwnCommit): Promise<boolean> {
    const { moment, set, groups } = reads
    const touched = new Set([...groups, ...set.rows().map(groupOfRow)])
    await this.#resolveBelow(commit, (group) => set.spans.length > 0 || touched.has(group))
    if (groups.length > 0) {
      const rows = await readGroups(this.#store, groups, commit.stamp)
      for (const { head } of rows.values()) if (head.version > moment) return false
    }
    const changed: WantedCells = {
      family: 'v',
      from: moment + 1n,
      until: commit.stamp + 1n,
      newest: 1,
      withoutValues: true,
    }
    const rows = set.rows()
    if (rows.length > 0 && (await this.#store.rows.readRows(rows, [changed])).size > 0) return false
    for (const range of set.spans) {
      const found = await this.#store.rows.scanRows({ range, limit: 1, wanted: [changed] })
      if (found.length > 0) return false
    }
    return !this.#isForgotten(moment)
  }

  /** Whether entity groups are the same at the stamp of the commit as in these rows. */
  async areStill(rows: ReadonlyMap<GroupCode, GroupRow>, commit: OwnCommit): Promise<boolean> {
    await this.#resolveBelow(commit, (group) => rows.has(group))
    const now = await readGroups(this.#store, [...rows.keys()], commit.stamp)
    return [...rows].every(([group, { head }]) => now.get(group)?.head.version === head.version)
  }

  /** Resolves unfinished commits below the stamp of a commit that may touch some groups. */
  async #resolveBelow(commit: OwnCommit, isTouched: (group: GroupCode) => boolean): Promise<void> {
    const isClosed = !this.#store.isOff('validation-moment')
    const state = await (isClosed ? this.#clock.closed(commit.stamp) : this.#clock.read())
    const mayTouch = state.listed.filter(
      ({ id, stamp, groups }) => id !== commit.id && stamp < commit.stamp && groups.some(isTouched),
    )
    if (this.#store.isOff('wait-in-validation')) return
    await this.#resolver.resolveAll(state, mayTouch, commit.stamp, commit)
  }

  /** Whether changes since a moment may have been swept. */
  #isForgotten(moment: bigint): boolean {
    return this.#clock.now - moment > readableMicros
  }
}

function rowOf(group: GroupCode, path: string): RowKey {
  const { partition } = codesOfEntityRow(entityRowOf(group))
  return entityRowKey(partition, path)
}
