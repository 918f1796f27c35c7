/**
 * The feed of commits: each step of a commit becomes an event for the watchers of the store.
 *
 *   commit()      the records are in the logs ─▶ {commit}           ┐
 *   milestone A   entity rows are written     ─▶ {apply, A}         ├─▶ each watcher whose filter matches
 *   milestone B   index rows are written      ─▶ {apply, B}         ┘
 *   a reset, a restored snapshot, an index built or removed, a repair ─▶ {reload}: any row of the scope may be another one
 *
 * With the `immediate` policy the events of a record come at once, otherwise A and B come later, group by group. Watchers with
 * the same filter get the same event.
 *
 * The words of a large event take many milliseconds, so events are made in slices, one after the other; a small one is made in the
 * turn of its step, and one that no watcher has room for not at all. The commit is answered when its own events are made ({@link CommitFeed.told}).
 *
 * CF1  Without a watcher, a step costs one comparison.                                            commit-feed.test.ts
 * CF2  An event lists at most the changes and rows that its watcher asked for, and {@link charactersMax} characters of words;
 *      the others are counted.                                                                     commit-feed.test.ts
 */
import type { Scheduler } from '../../clock.ts'
import { hexOf } from '../../encoding/bytes.ts'
import { decodePath, partitionOfCode, pathPrefix } from '../../encoding/key-codec.ts'
import { encodeText } from '../../encoding/ordered.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { getOrInsert } from '../../get-or-insert.ts'
import type { ApplyEvent } from '../../log/apply.ts'
import type { PendingRecord } from '../../log/pending.ts'
import { milestonesOf } from '../../log/record-writes.ts'
import { type MaybePromise, whenFails } from '../../maybe-promise.ts'
import { isInScope, type PartitionScope, type PathElement } from '../../model/key.ts'
import type { RowTally } from '../../request-trace.ts'
import { WorkInOrder } from '../../slices.ts'
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

export interface CommitWatcher {
  /** Must not throw or wait. */
  tell(event: StoreEvent): void
  /** Whether the watcher has room for an event. An event for which none has room is not made, but counted by {@link miss}. */
  takes(): boolean
  miss(): void
}

const charactersMax = 64 * 1024
/** Making the words of a row or a key takes as long as reading this many rows. */
const workOfWords = 16
/** Places of an entity whose rows are made in one step. */
const placesOfStep = 16

interface Matching {
  readonly record: PendingRecord
  readonly changes: readonly EntityRows[]
}

/** Makes an event; yields the work of each step. */
type MakeEvent = (matching: readonly Matching[], which: WatchOptions) => Generator<number, StoreEvent>

type Narrow = (record: PendingRecord) => Matching | undefined

export interface Watching {
  readonly narrow: Narrow
  readonly which: WatchOptions
  readonly watchers: Set<CommitWatcher>
}

export class CommitFeed {
  /** By filter. Without any, {@link committed} and {@link applied} need no call. */
  readonly watching: Map<string, Watching> = new Map()
  readonly #work: WorkInOrder
  readonly #onFailure: (error: unknown) => void

  /** @param onFailure - gets the error of a watcher */
  constructor(scheduler: Scheduler, onFailure: (error: unknown) => void) {
    this.#work = new WorkInOrder(scheduler)
    this.#onFailure = onFailure
  }

  /** Watches from now on. @returns a function that ends it */
  watch(which: WatchOptions, { tell, takes, miss }: CommitWatcher): () => void {
    const name = JSON.stringify(which, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    const watching = getOrInsert(this.watching, name, () => ({ narrow: narrowBy(which), which, watchers: new Set() }))
    const watcher = { tell, takes, miss }
    watching.watchers.add(watcher)
    return () => {
      watching.watchers.delete(watcher)
      if (watching.watchers.size === 0 && this.watching.get(name) === watching) this.watching.delete(name)
    }
  }

  /** A commit is in the store. @param waits - it is applied later */
  committed(records: readonly PendingRecord[], waits: boolean): void {
    this.#tell(records, [(matching, which) => commitEvent(matching, which, waits)])
  }

  applied({ records, reached, cause }: ApplyEvent): void {
    const makes = milestonesOf[reached].map(
      (milestone): MakeEvent =>
        (matching, which) =>
          applyEvent(matching, which, milestone, cause),
    )
    this.#tell(records, makes)
  }

  reload({ reason, projectId, databaseId, namespaceId }: PartitionScope & Pick<ReloadReport, 'reason'>): void {
    const reload: ReloadReport = {
      reason,
      ...(projectId === undefined ? {} : { project: projectId }),
      ...(databaseId === undefined ? {} : { database: databaseId }),
      ...(namespaceId === undefined ? {} : { namespace: namespaceId }),
    }
    const told = [...this.watching.values()].filter(
      ({ which }) =>
        !differs(which.projectId, projectId) &&
        !differs(which.databaseId, databaseId) &&
        !differs(which.namespaceId, namespaceId),
    )
    this.#run(
      (function* () {
        for (const { watchers } of told) for (const watcher of watchers) watcher.tell({ reload })
        yield 1
      })(),
    )
  }

  /** Resolves when all events until now are made. */
  told(): MaybePromise<void> {
    return this.#work.done()
  }

  #tell(records: readonly PendingRecord[], makes: readonly MakeEvent[]): void {
    const told = [...this.watching.values()].map((watching) => ({ watching, now: [...watching.watchers] }))
    this.#run(tellSteps(told, records, makes))
  }

  #run(steps: Generator<number, void>): void {
    void whenFails(() => this.#work.run(steps), this.#onFailure)
  }
}

/** @param told - the watchers of the moment of the step, of whom some may have ended since */
function* tellSteps(
  told: readonly { readonly watching: Watching; readonly now: readonly CommitWatcher[] }[],
  records: readonly PendingRecord[],
  makes: readonly MakeEvent[],
): Generator<number, void> {
  for (const { watching, now } of told) {
    const { narrow, which, watchers } = watching
    const matching: Matching[] = []
    for (const record of records) {
      const own = narrow(record)
      if (own !== undefined) matching.push(own)
      yield 1
    }
    for (const make of matching.length === 0 ? [] : makes) {
      const left = now.filter((watcher) => watchers.has(watcher))
      if (left.some((watcher) => watcher.takes())) {
        const event = yield* make(matching, which)
        for (const watcher of left) if (watchers.has(watcher)) watcher.tell(event)
      } else for (const watcher of left) watcher.miss()
    }
  }
}

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

function* headSteps(matching: readonly Matching[], listed: number) {
  const { version, partition } = (matching[0] as Matching).record
  const { projectId, databaseId } = partitionOfCode(partition)
  const groups: CommitReport['groups'][number][] = []
  for (const { record } of matching.slice(0, listed)) {
    groups.push({ group: groupInWords(record.group), namespace: namespaceOf(record) })
    yield workOfWords
  }
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

function* commitEvent(
  matching: readonly Matching[],
  { listed, rows: rowsMax }: WatchOptions,
  waits: boolean,
): Generator<number, StoreEvent> {
  const rows = new ListedRows(rowsMax)
  const changes: CommitReport['changes'][number][] = []
  let count = 0
  for (const one of matching) {
    rows.write(one.record.logRow)
    yield rows.isFull ? 1 : workOfWords
    count += one.changes.length
    for (const change of one.changes) {
      if (changes.length >= listed) break
      changes.push(changeReport(one.record, change))
      yield workOfWords
    }
  }
  rows.tally.Log = { written: matching.length, deleted: 0 }
  const head = yield* headSteps(matching, listed)
  const commit = {
    ...head,
    waits,
    changes,
    ...(count > changes.length ? { moreChanges: count - changes.length } : {}),
    ...rows.report(),
  }
  return { commit }
}

function* applyEvent(
  matching: readonly Matching[],
  { listed, rows: rowsMax }: WatchOptions,
  milestone: 'A' | 'B',
  cause: ApplyEvent['cause'],
): Generator<number, StoreEvent> {
  const rows = new ListedRows(rowsMax)
  const producer = new RowProducer(rows)
  for (const { changes } of matching) {
    for (const change of changes) {
      if (rows.isFull) {
        change.tally(milestone, rows.tally)
        yield 1
      } else yield* rows.add(change, milestone, producer)
    }
  }
  const head = yield* headSteps(matching, listed)
  return { apply: { ...head, milestone, cause, ...rows.report() } }
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

  get isFull(): boolean {
    return this.#rows.length >= this.#listed || this.#characters >= charactersMax
  }

  /** Adds the rows of a milestone, in steps that yield their work. @param producer - makes the rows */
  *add(change: EntityRows, milestone: 'A' | 'B', producer: RowProducer): Generator<number, void> {
    change.tally(milestone, this.tally)
    yield 1
    if (milestone === 'A' && !this.isFull) {
      producer.entity(change)
      yield workOfWords
    }
    if (milestone === 'A') return
    for (let from = 0; from < change.places && !this.isFull; from += placesOfStep) {
      producer.indexRows(change, from, from + placesOfStep)
      yield 2 * placesOfStep * workOfWords
    }
  }

  write(key: RowKey, value?: Uint8Array | undefined, wasThere = false): void {
    if (this.isFull) return
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
