/**
 * The feed of commits: each step of a commit becomes an event for the watchers of the store.
 *
 *   commit()      the records are in the logs ─▶ {commit}           ┐
 *   milestone A   entity rows are written     ─▶ {apply, A}         ├─▶ each watcher whose filter matches
 *   milestone B   index rows are written      ─▶ {apply, B}         ┘
 *   a reset, a restored snapshot, an index built or removed, a repair ─▶ {reload}: any row of the scope may be another one
 *
 * The events of a record come in this order: with the `immediate` policy at once, otherwise A and B come later, group by group.
 * The rows of an event come from tables/entity-rows.ts, whether the store keeps them or makes them on demand. Watchers with the
 * same filter get the same event, which the first one makes.
 *
 * CF1  Without a watcher, a step costs one comparison.                                            commit-feed.test.ts
 * CF2  An event lists at most the changes and rows that its watcher asked for, and {@link charactersMax} characters of words;
 *      the others are counted.                                                                     commit-feed.test.ts
 */
import { hexOf } from '../../encoding/bytes.ts'
import { decodePath, partitionOfCode, pathPrefix } from '../../encoding/key-codec.ts'
import { encodeText } from '../../encoding/ordered.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { getOrInsert } from '../../get-or-insert.ts'
import type { ApplyEvent } from '../../log/apply.ts'
import type { PendingRecord } from '../../log/pending.ts'
import { milestonesOf } from '../../log/record-writes.ts'
import { isInScope, type PartitionScope, type PathElement } from '../../model/key.ts'
import type { RowTally } from '../../request-trace.ts'
import type { RowKey } from '../../storage/kv.ts'
import { type EntityRows, RowProducer, tableOfRow } from '../../tables/entity-rows.ts'
import { formatKeyPath } from '../../typed-keys.ts'
import { committedAt, groupInWords } from '../inspect/row-words.ts'
import type { CommitReport, ReloadReport, RowChangeReport, StoreEvent } from './feed-reports.ts'

/** The changes that a watcher gets: those of entities that match all given members. */
export interface CommitFilter extends PartitionScope {
  readonly kind?: string | undefined
  /** The path of an entity; matches it and its descendants. */
  readonly path?: readonly PathElement[] | undefined
}

export interface WatchOptions extends CommitFilter {
  /** Maximum number of changes, and of entity groups, that an event lists. */
  readonly listed: number
  /** Maximum number of rows that it lists. Their words are most of the cost of an event. */
  readonly rows: number
}

/** Called in the turn of the step: must not throw or wait. @param make - makes the event, or returns the one already made */
export type CommitWatcher = (make: () => StoreEvent) => void

/** Maximum size of the words of an event's rows. */
const charactersMax = 64 * 1024

/** The changes of a record that match a filter. */
interface Matching {
  readonly record: PendingRecord
  readonly changes: readonly EntityRows[]
}

type Narrow = (record: PendingRecord) => Matching | undefined

export interface Watching {
  readonly narrow: Narrow
  readonly which: WatchOptions
  readonly watchers: Set<CommitWatcher>
}

export class CommitFeed {
  /** By filter. Without any, {@link committed} and {@link applied} need no call. */
  readonly watching: Map<string, Watching> = new Map()

  /** Watches from now on. @returns a function that ends it */
  watch(which: WatchOptions, tell: CommitWatcher): () => void {
    const name = JSON.stringify(which, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    const watching = getOrInsert(this.watching, name, () => ({ narrow: narrowBy(which), which, watchers: new Set() }))
    const watcher: CommitWatcher = (make) => tell(make)
    watching.watchers.add(watcher)
    return () => {
      watching.watchers.delete(watcher)
      if (watching.watchers.size === 0 && this.watching.get(name) === watching) this.watching.delete(name)
    }
  }

  /** A commit is in the store. @param waits - it is applied later */
  committed(records: readonly PendingRecord[], waits: boolean): void {
    this.#each(records, (matching, which) => ({ commit: commitReport(matching, which, waits) }))
  }

  applied({ records, reached, cause }: ApplyEvent): void {
    for (const milestone of milestonesOf[reached]) {
      this.#each(records, (matching, { listed, rows: rowsMax }) => {
        const rows = new ListedRows(rowsMax)
        const producer = new RowProducer(rows)
        for (const { changes } of matching) for (const change of changes) rows.add(change, milestone, producer)
        return { apply: { ...headOf(matching, listed), milestone, cause, ...rows.report() } }
      })
    }
  }

  /** Any row of a scope may be another one from now on. */
  reload({ reason, projectId, databaseId, namespaceId }: ReloadReason): void {
    for (const { which, watchers } of this.watching.values()) {
      const isElsewhere =
        differs(which.projectId, projectId) ||
        differs(which.databaseId, databaseId) ||
        differs(which.namespaceId, namespaceId)
      if (isElsewhere) continue
      const reload: ReloadReport = {
        reason,
        ...(projectId === undefined ? {} : { project: projectId }),
        ...(databaseId === undefined ? {} : { database: databaseId }),
        ...(namespaceId === undefined ? {} : { namespace: namespaceId }),
      }
      tellAll(watchers, () => ({ reload }))
    }
  }

  #each(
    records: readonly PendingRecord[],
    eventOf: (matching: readonly Matching[], which: WatchOptions) => StoreEvent,
  ): void {
    for (const { narrow, which, watchers } of this.watching.values()) {
      const matching = records.map(narrow).filter((one) => one !== undefined)
      if (matching.length > 0) tellAll(watchers, () => eventOf(matching, which))
    }
  }
}

function tellAll(watchers: ReadonlySet<CommitWatcher>, makeFirst: () => StoreEvent): void {
  let event: StoreEvent | undefined
  const make = (): StoreEvent => {
    event ??= makeFirst()
    return event
  }
  for (const tell of watchers) tell(make)
}

export interface ReloadReason extends PartitionScope {
  readonly reason: ReloadReport['reason']
}

/** Whether two optional parts of a scope are both given and differ. */
function differs(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

function narrowBy({ kind, path, ...scope }: CommitFilter): Narrow {
  const kindCode = kind === undefined ? undefined : encodeText(kind)
  const prefix = path === undefined ? undefined : pathPrefix(path)
  return (record) => {
    const { partition, changes } = record
    if (!isInScope(partitionOfCode(partition), scope)) return undefined
    if (kindCode === undefined && prefix === undefined) return { record, changes }
    const own = changes.filter(
      ({ codes, path: code }) =>
        (kindCode === undefined || codes.kind === kindCode) && (prefix === undefined || code.startsWith(prefix)),
    )
    return own.length === 0 ? undefined : { record, changes: own }
  }
}

/** The version and the entity groups of a commit. */
function headOf(matching: readonly Matching[], listed: number) {
  const { version, partition } = (matching[0] as Matching).record
  const { projectId, databaseId } = partitionOfCode(partition)
  const groups = matching.slice(0, listed).map(({ record }) => ({
    group: groupInWords(record.group),
    namespace: namespaceOf(record),
  }))
  const rest = matching.length - groups.length
  return {
    version: version.toString(),
    committedAt: committedAt(version),
    project: projectId,
    database: databaseId,
    groups,
    ...(rest > 0 ? { moreGroups: rest } : {}),
  }
}

function namespaceOf({ partition }: PendingRecord): string {
  return partitionOfCode(partition).namespaceId
}

function commitReport(
  matching: readonly Matching[],
  { listed, rows: rowsMax }: WatchOptions,
  waits: boolean,
): CommitReport {
  const rows = new ListedRows(rowsMax)
  const changes: CommitReport['changes'][number][] = []
  let count = 0
  for (const one of matching) {
    rows.write(one.record.logRow)
    count += one.changes.length
    for (const change of one.changes) {
      if (changes.length >= listed) break
      changes.push(changeReport(one.record, change))
    }
  }
  rows.tally.Log = { written: matching.length, deleted: 0 }
  return {
    ...headOf(matching, listed),
    waits,
    changes,
    ...(count > changes.length ? { moreChanges: count - changes.length } : {}),
    ...rows.report(),
  }
}

function changeReport(record: PendingRecord, { codes, before, after }: EntityRows): CommitReport['changes'][number] {
  const { path } = decodePath(codes.path, 0)
  const operation = after === undefined ? 'delete' : before === undefined ? 'insert' : 'update'
  return { operation, key: formatKeyPath(path), kind: path.at(-1)?.kind ?? '', namespace: namespaceOf(record) }
}

/** The first rows of an event in words, and how many there are in each table (CF2). */
export class ListedRows {
  readonly #listed: number
  readonly tally: RowTally = {}
  readonly #rows: RowChangeReport[] = []
  #characters = 0

  constructor(listed: number) {
    this.#listed = listed
  }

  get #isFull(): boolean {
    return this.#rows.length >= this.#listed || this.#characters >= charactersMax
  }

  /** Adds the rows of a milestone. @param producer - makes the rows */
  add(change: EntityRows, milestone: 'A' | 'B', producer: RowProducer): void {
    change.tally(milestone, this.tally)
    if (this.#isFull) return
    if (milestone === 'A') producer.entity(change)
    // Only place 0 can be without a row.
    else producer.indexRows(change, 0, 1 + this.#listed)
  }

  write(key: RowKey, value?: Uint8Array | undefined, wasThere = false): void {
    if (this.#isFull) return
    const row = prettyRowKey(key, value)
    const isGone = wasThere && value === undefined
    this.#rows.push({ table: tableOfRow(key), row, rowKey: hexOf(key), ...(isGone ? { deleted: true } : {}) })
    this.#characters += row.length + 2 * key.length
  }

  report(): Pick<CommitReport, 'rows' | 'tables' | 'moreRows'> {
    let rest = -this.#rows.length
    for (const { written, deleted } of Object.values(this.tally)) rest += written + deleted
    return { rows: this.#rows, tables: this.tally, ...(rest > 0 ? { moreRows: rest } : {}) }
  }
}
