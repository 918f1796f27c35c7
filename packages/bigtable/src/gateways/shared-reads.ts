/**
 * Moments of a database at a shared store, and its tables at these moments: of each row the newest cell at or below the moment.
 *
 *   lookup in one group      head of the group        the group row (head, log, prepared record, root), then children as of the head
 *   other strong reads       register                 commits listed below it that may matter are resolved first
 *   eventual reads           low watermark - 1        a consistent moment some milliseconds ago; never waits
 *   read_time                as requested             the register is raised to it first
 *
 * A strong read sees every commit acknowledged before it began, all of it or nothing, in every group that it reads. After a read time was
 * answered, no commit at or below it enters the groups of the read. (Both: test/property/gateways.test.ts.) A lookup in one group is in no order
 * with commits to other groups: after a later one it may miss an earlier one that is under way (shared-reads.test.ts).
 */
import {
  codesOfEntityRow,
  entityRowKey,
  entityRowOf,
  type GroupCode,
  type KeyRange,
  type KvReader,
  type KvScan,
  KvTableView,
  type ReadScope,
  type RowKey,
  refuseForgotten,
  refuseFuture,
  type ScanOptions,
  type TableView,
} from '@sixtables/engine/store'
import { type RowsReader, valueInCell } from '../row-store/rows-kv.ts'
import { type ClockState, latestOf } from './clock-state.ts'
import { type GroupRow, inLog, readGroup } from './group-row.ts'
import type { DatabaseParts } from './resolve.ts'
import { readableMicros } from './shared-store.ts'

/** The tables at a moment, in microseconds. */
export interface SharedMoment {
  readonly at: bigint
  readonly view: TableView
}

/** A strong read raises a register that is older than this. */
const quietMicros = 1_000_000n

/** The current moment, for strong reads. */
export async function momentNow(database: DatabaseParts, scope: ReadScope): Promise<SharedMoment> {
  const { store, clock } = database
  const state = await clock.closedAndOpen()
  const now = store.scheduler.nowMicros()
  if (now - state.given > quietMicros) {
    // The answered read time should be recent.
    await clock.observe(now)
    return await resolved(database, clock.given, scope)
  }
  await resolve(database, state, scope)
  return momentAt(database, state.given)
}

/** A moment some milliseconds ago, up to which everything is applied. */
export async function eventualMoment(database: DatabaseParts): Promise<SharedMoment> {
  const { store, clock } = database
  // A row in which no stamp was given for long would hold the watermark back.
  await clock.closedAndOpen(clock.given - quietMicros)
  return momentAt(database, store.isOff('low-watermark') ? clock.given : clock.low - 1n)
}

/** The moment of a client's read_time. @throws INVALID_ARGUMENT, FAILED_PRECONDITION */
export async function pastMoment(database: DatabaseParts, moment: bigint, scope: ReadScope): Promise<SharedMoment> {
  const { clock } = database
  await clock.read()
  const { now } = clock
  refuseFuture(moment, now)
  refuseForgotten(moment, now - readableMicros)
  return await momentUpTo(database, moment, scope)
}

/** A moment that may be after the stamps of this database, such as the newest stamp of another one. */
export async function momentUpTo(database: DatabaseParts, moment: bigint, scope: ReadScope): Promise<SharedMoment> {
  await database.clock.observe(moment)
  return await resolved(database, moment, scope)
}

/** A moment up to which everything is resolved. */
export function momentAt({ store }: DatabaseParts, moment: bigint): SharedMoment {
  return { at: moment, view: new KvTableView(store.kv.at(moment), moment) }
}

/** The entities of one group at the version of its head; the view has no other rows. */
export async function groupHead(database: DatabaseParts, group: GroupCode): Promise<SharedMoment> {
  const { store, clock } = database
  const now = store.scheduler.nowMicros()
  if (now - clock.given > quietMicros) {
    await clock.observe(now)
    await clock.read()
  }
  // The low watermark may be above the moment of a reset that has not reached the group yet.
  await clock.whenOpen()
  let { low } = clock
  let row = await readGroup(store, group, low)
  if (row.seen === undefined && clock.now - low > readableMicros) {
    // The head may have been swept: the group has no entities now, but may have had some at an older moment.
    await clock.closedAndOpen()
    low = clock.low
    row = await readGroup(store, group, low)
  }
  const decided = await withDecided(database, row)
  const version = latestOf(row.head.version, ...decided.log.map(({ stamp }) => stamp))
  const at = version >= low ? version : low - 1n
  return { at, view: new KvTableView(new HeadReader(decided, store.kv.at(version))) }
}

/** Moves a prepared record to the log if its commit has decided. */
async function withDecided({ store }: DatabaseParts, row: GroupRow): Promise<GroupRow> {
  const { prepared } = row
  if (prepared === undefined || store.isOff('prepared-in-lookup')) return row
  const { commit: id = '', groups } = prepared.record
  const [primary = row.group] = groups
  if (primary === row.group) return row
  const other = await readGroup(store, primary, prepared.stamp)
  return inLog(other, id) === undefined ? row : { ...row, log: [prepared, ...row.log] }
}

async function resolved(database: DatabaseParts, moment: bigint, scope: ReadScope): Promise<SharedMoment> {
  await resolve(database, await database.clock.closedAndOpen(moment), scope)
  return momentAt(database, moment)
}

/** Resolves the listed commits up to a closed moment that may matter to a read. */
async function resolve({ store, resolver }: DatabaseParts, state: ClockState, scope: ReadScope): Promise<void> {
  if (store.isOff('resolve-in-read')) return
  const matters = state.listed.filter(
    ({ stamp, groups }) =>
      stamp <= state.given && (scope === 'global' || groups.some((group) => scope.includes(group))),
  )
  if (matters.length > 0) await resolver.resolveAll(state, matters, state.given)
}

interface Image {
  readonly at: bigint
  readonly cell: Uint8Array | undefined
}

/** The entities of one group: of each the newer one of its row, at the group's version, and the log. */
class HeadReader implements KvReader {
  readonly #root: RowKey
  readonly #rootImage: Image
  readonly #inLog = new Map<RowKey, Image>()
  readonly #children: RowsReader

  constructor({ group, root, log }: GroupRow, children: RowsReader) {
    this.#children = children
    this.#root = entityRowOf(group)
    this.#rootImage = { at: root?.at ?? -1n, cell: valueInCell(root) }
    const { partition } = codesOfEntityRow(this.#root)
    for (const { stamp, record } of log) {
      for (const { path, after } of record.changes) {
        const row = entityRowKey(partition, path)
        if ((this.#inLog.get(row)?.at ?? -1n) < stamp) this.#inLog.set(row, { at: stamp, cell: after })
      }
    }
  }

  async get(key: RowKey): Promise<Uint8Array | undefined> {
    return (await this.getAll([key]))[0]
  }

  async getAll(keys: readonly RowKey[]): Promise<(Uint8Array | undefined)[]> {
    const children = keys.filter((key) => key !== this.#root)
    const found = children.length === 0 ? undefined : await this.#children.cells(children)
    return keys.map((key) => {
      const child = found?.get(key)
      const stored = key === this.#root ? this.#rootImage : { at: child?.at ?? -1n, cell: valueInCell(child) }
      const inLog = this.#inLog.get(key)
      return inLog === undefined || inLog.at < stored.at ? stored.cell : inLog.cell
    })
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    return this.#children.scan(range, options)
  }
}
