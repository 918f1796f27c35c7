/**
 * The row of an entity group at a shared store: its root's row in Entities, with the group's head, log and prepared record.
 *
 *   h   head: n(8) version(8) floor(8) empty since(8) bytes held (group-bytes.ts)
 *       `n` counts every change; `version` is the newest record's
 *   l   log: a record at its stamp                  p   the record of a commit that has not decided yet, at its stamp
 *   v   the root entity, at the stamp of its commit
 *
 *   APPEND    one group           head as read                     l and the root's v, of one commit or of several
 *   PREPARE   each group          head as read                     p
 *   DECIDE    the primary         head as PREPARE left it          p becomes l and the root's v
 *   FINISH    the other groups    head as read, p is the commit's  as DECIDE
 *   REFUSE    any group           head as read, no record          floor = T at least; p is deleted if it is the commit's
 *
 * Each is one conditional write of the row, whose condition is the whole head. The commit point is APPEND, or DECIDE: a commit of several groups
 * is committed if and only if the log of its primary has it. A process that finds it neither there nor prepared must REFUSE it there before it
 * treats it as refused. No record with a stamp at or below a group's floor ever enters the group. A commit below the low watermark that is in
 * no log was trimmed, not lost. (All: test/property/gateways.test.ts.)
 *
 * F1  A change is sent within ten minutes of the read that it depends on, or not at all: the head may have been swept since, and a later
 *     head that looks the same may be of another life of the group.                              sweep.test.ts
 */
import { formatKey, invariant, stopwatch } from '@sixtables/engine'
import {
  byteString,
  bytesOf,
  codesOfEntityRow,
  decodeLogRecord,
  decodeUint64,
  encodeUint64,
  entityRowOf,
  type GroupCode,
  groupFull,
  type LogRecord,
  parseEntityRowKey,
} from '@sixtables/engine/store'
import { type Cell, type CellChange, newestIs } from '../row-store/row-store.ts'
import { valueCell } from '../row-store/rows-kv.ts'
import type { CommitId } from './clock-state.ts'
import {
  bytesOfCell,
  decodeGroupBytes,
  encodeGroupBytes,
  type GroupBytes,
  sumOf,
  unsweptOf,
  withBytes,
} from './group-bytes.ts'
import type { SharedStore } from './shared-store.ts'

export interface Head {
  readonly n: bigint
  readonly version: bigint
  readonly floor: bigint
  readonly bytes: GroupBytes
}

export interface GroupRecord {
  readonly group: GroupCode
  readonly stamp: bigint
  readonly value: Uint8Array
  readonly record: LogRecord
}

export interface GroupRow {
  readonly group: GroupCode
  /** @returns microseconds since the start of its read */
  age(): bigint
  /** The bytes of the stored head. */
  readonly seen: Uint8Array | undefined
  readonly head: Head
  /** Newest cell of the root entity. */
  readonly root: Cell | undefined
  /** Records from the requested stamp on, newest first. */
  readonly log: readonly GroupRecord[]
  readonly prepared: GroupRecord | undefined
}

/** Groups that a call changes at a time: with more the last ones would wait for the time of a call, and calls of other clients behind them. */
export const groupsAtOnce = 64

const noHead: Head = { n: 0n, version: 0n, floor: 0n, bytes: [] }
const emptySinceAt = 24
const bytesAt = 32

/** Longest time from a read of a group to a change of it. */
export const heldMicros: bigint = 600_000_000n

export function encodeHead({ n, version, floor, bytes }: Head): Uint8Array {
  const plain = [n, version, floor, 0n].map(encodeUint64).join('')
  return bytesOf(plain + encodeGroupBytes(bytes))
}

export function decodeHead(bytes: Uint8Array): Head {
  const code = byteString(bytes)
  return {
    n: decodeUint64(code, 0),
    version: decodeUint64(code, 8),
    floor: decodeUint64(code, 16),
    bytes: decodeGroupBytes(code, bytesAt),
  }
}

/** The time, in microseconds, at which a sweep found the group without entities; 0 = not found, or changed since. */
export function emptySince(head: Uint8Array): bigint {
  return decodeUint64(byteString(head), emptySinceAt)
}

/** The head with the time at which its group was found without entities; the row has no record then. */
export function emptyHead(head: Uint8Array, since: bigint): Uint8Array {
  return bytesOf(byteString(head).slice(0, emptySinceAt) + encodeUint64(since))
}

/** @param from - lowest stamp of log records to read */
export async function readGroups(
  { rows, scheduler }: SharedStore,
  groups: readonly GroupCode[],
  from: bigint,
): Promise<ReadonlyMap<GroupCode, GroupRow>> {
  const age = stopwatch(scheduler)
  const found = await rows.readRows(groups.map(entityRowOf), [
    { family: 'v', newest: 1 },
    { family: 'h', newest: 1 },
    { family: 'p' },
    { family: 'l', from },
  ])
  const read = new Map<GroupCode, GroupRow>()
  for (const group of groups) {
    const cells = found.get(entityRowOf(group))?.cells ?? {}
    const seen = cells.h?.[0]?.value
    const recordOf = ({ at, value }: Cell): GroupRecord => ({
      group,
      stamp: at,
      value,
      record: decodeLogRecord(value),
    })
    const [prepared] = cells.p ?? []
    read.set(group, {
      group,
      age,
      seen,
      head: seen === undefined ? noHead : decodeHead(seen),
      root: cells.v?.[0],
      log: (cells.l ?? []).map(recordOf),
      prepared: prepared === undefined ? undefined : recordOf(prepared),
    })
  }
  return read
}

export async function readGroup(store: SharedStore, group: GroupCode, from: bigint): Promise<GroupRow> {
  return (await readGroups(store, [group], from)).get(group) as GroupRow
}

export function isOf(record: GroupRecord | undefined, id: CommitId): record is GroupRecord {
  return record?.record.commit === id
}

/** The record of a commit in the part of the log that was read. */
export function inLog({ log }: GroupRow, id: CommitId): GroupRecord | undefined {
  return log.find((one) => isOf(one, id))
}

/** The image of an entity in the log; `undefined` if no record is newer than the entity's row. */
export function newestInLog(
  { log }: GroupRow,
  path: string,
): { readonly stamp: bigint; readonly cell: Uint8Array | undefined } | undefined {
  for (const { stamp, record } of log) {
    const change = record.changes.find((one) => one.path === path)
    if (change !== undefined) return { stamp, cell: change.after }
  }
  return undefined
}

/** The parts of a group row that a change of it needs. */
export type SeenGroup = Pick<GroupRow, 'group' | 'age' | 'seen' | 'head'>

/** Changes the row if its head is still the one that was read. @returns false if not, or if the read is too old */
async function changeIf(
  { rows }: SharedStore,
  { group, age, seen }: SeenGroup,
  head: Head,
  changes: readonly CellChange[],
): Promise<boolean> {
  if (age() > heldMicros) return false
  const set = { type: 'set', family: 'h', at: 0n, value: encodeHead(head) } as const
  return await rows.mutateRowIf(entityRowOf(group), newestIs('h', seen), [set, ...changes])
}

/** The cells of a record when it enters the log. */
function entering({ stamp, value, record, group }: GroupRecord): readonly CellChange[] {
  const changes: CellChange[] = [{ type: 'set', family: 'l', at: stamp, value }]
  const rootPath = codesOfEntityRow(entityRowOf(group)).path
  const root = record.changes.find(({ path }) => path === rootPath)
  if (root !== undefined) changes.push({ type: 'set', family: 'v', at: stamp, value: valueCell(root.after) })
  return changes
}

function headWith(head: Head, record: GroupRecord): Head {
  const { stamp } = record
  return { ...head, n: head.n + 1n, version: stamp, bytes: withBytes(head.bytes, stamp, bytesOfRecord(record)) }
}

/** The row as one more record will leave it. @throws InvariantError if the record is not above all that is there */
export function withRecord(row: GroupRow, record: GroupRecord): GroupRow {
  invariant(isBelow(row, record.stamp), 'a record is above the floor of its group')
  return { ...row, head: headWith(row.head, record), log: [record, ...row.log] }
}

/** Whether a record with this stamp may enter the group. */
export function isBelow({ head }: SeenGroup, stamp: bigint): boolean {
  return head.floor < stamp && head.version < stamp
}

function bytesOfRecord(record: GroupRecord): number {
  const key = entityRowOf(record.group)
  return entering(record).reduce((sum, one) => sum + (one.type === 'set' ? bytesOfCell(key, one.value) : 0), 0)
}

/** The row with a count that excludes swept spans. */
export function withoutSwept(row: GroupRow, swept: bigint): GroupRow {
  const { head } = row
  return { ...row, head: { ...head, bytes: unsweptOf(head.bytes, head.version, swept) } }
}

/** @throws RESOURCE_EXHAUSTED if the row would be too large with the record */
export function refuseFull({ groupBytesMax }: SharedStore, { group, head }: GroupRow, record: GroupRecord): void {
  const [held, added] = [sumOf(head.bytes), bytesOfRecord(record)]
  if (held + added <= groupBytesMax) return
  throw groupFull(
    `the commit writes ${added} bytes to the entity group of ${formatKey(parseEntityRowKey(entityRowOf(group)))}, whose row holds ${held} bytes ` +
      `of earlier commits and may hold ${groupBytesMax}: each commit of a group is kept for 70 to 130 minutes; ` +
      'deletions are refused too; try again when earlier commits are swept, and write the group less often or spread its entities over several groups',
  )
}

/** APPEND, as in the head of this file. @param row - as {@link withRecord} leaves it with all of the records */
export function append(store: SharedStore, row: GroupRow, records: readonly GroupRecord[]): Promise<boolean> {
  return changeIf(store, row, row.head, records.flatMap(entering))
}

export function prepare(store: SharedStore, row: GroupRow, record: GroupRecord): Promise<boolean> {
  const change = { type: 'set', family: 'p', at: record.stamp, value: record.value } as const
  return changeIf(store, row, prepareHead(row.head), [change])
}

export function prepareHead(head: Head): Head {
  return { ...head, n: head.n + 1n }
}

/** DECIDE and FINISH: the prepared record enters the log. */
export function decide(store: SharedStore, row: SeenGroup, record: GroupRecord): Promise<boolean> {
  return changeIf(store, row, headWith(row.head, record), [...entering(record), { type: 'delete', family: 'p' }])
}

/** REFUSE: no record at or below `floor` may enter the group any more. */
export function refuse(store: SharedStore, row: GroupRow, id: CommitId, floor: bigint): Promise<boolean> {
  const { head, prepared } = row
  const refused = { ...head, n: head.n + 1n, floor: floor > head.floor ? floor : head.floor }
  return changeIf(store, row, refused, isOf(prepared, id) ? [{ type: 'delete', family: 'p' }] : [])
}
