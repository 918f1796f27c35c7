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

/** Whether all reads are of one group. */
export function isOfGroup({ set, groups }: CheckedReads, group: GroupCode): boolean {
  return (
    set.spans.length === 0 &&
    groups.every((one) => one === group) &&
    set.rows().every((key) => groupOfRow(key) === group)
  )
}

/** A cell of a row, without its value. */
const changed: WantedCells = { family: 'v', newest: 1, withoutValues: true }

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
   * Whether reads of the one group that is written are unchanged in the row of the group: then APPEND decides, whose condition is that nothing comes
   * between. Other commits have to be in the log. A deletion of the group leaves no record, and is over when a later commit has its stamp: a floor
   * above the moment may be its trace, and the rows that were read then show whether it is.
   */
  async inGroup({ moment, set, groups }: CheckedReads, row: GroupRow): Promise<boolean> {
    if (groups.length > 0 && row.head.version > moment) return false
    if (this.#isForgotten(moment)) return false
    const isChanged = row.log.some(
      ({ stamp, record, group }) => stamp > moment && record.changes.some(({ path }) => set.has(rowOf(group, path))),
    )
    if (isChanged || row.head.floor <= moment || this.#store.isOff('validation')) return !isChanged
    return !(await this.#haveCells(set.rows(), { from: moment + 1n }))
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
    const changes = { from: moment + 1n, until: commit.stamp + 1n }
    if (await this.#haveCells(set.rows(), changes)) return false
    for (const range of set.spans) {
      const found = await this.#store.rows.scanRows({ range, limit: 1, wanted: [{ ...changed, ...changes }] })
      if (found.length > 0) return false
    }
    return !this.#isForgotten(moment)
  }

  async #haveCells(rows: readonly RowKey[], times: Pick<WantedCells, 'from' | 'until'>): Promise<boolean> {
    return rows.length > 0 && (await this.#store.rows.readRows(rows, [{ ...changed, ...times }])).size > 0
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
