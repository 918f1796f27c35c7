/**
 * Transactions at a shared store: a token, and rows beside it, so that each call of a transaction may use another gateway.
 *
 *   token    12 flags(1) database(4) moment(8) begun(8) number(8)      database: a hash of its code; number: gateway and count
 *   M <database> "transaction" <token>                        t   how it ended: written once, by conditional write
 *   M <database> "transaction" <token> <gateway> <number>     t   the reads of one call (JSON of byte strings)
 *
 * A transaction ends once, whatever gateways try to end it. A read is stored in a row of the transaction before it is answered. The timestamps of
 * `t` are real time in milliseconds, so that a Bigtable may delete them by age. A clock that was set back makes no transaction younger, because
 * time is at least the register.
 */
import { type DatastoreError, invalidArgument } from '@sixtables/engine'
import {
  fnv,
  hexOf,
  prefixRange,
  ReadSet,
  rowAfter,
  topicRowKey,
  totalMicrosMax,
  transactionTopic,
} from '@sixtables/engine/store'
import { isKnownDone, type RowKey, type Wanted } from '../row-store/row-store.ts'
import type { DatabaseParts } from './resolve.ts'
import type { CheckedReads } from './validate.ts'

export type EndState = 'committed' | 'rolledBack'

/** The fields of a token. */
export interface SharedTransaction {
  readonly token: Uint8Array
  readonly name: string
  readonly readOnly: boolean
  /** The moment that it reads at. */
  readonly moment: bigint
  readonly begunAt: bigint
}

const tokenTag = 0x12
const tokenBytes = 30
const transactionGone = 'The referenced transaction has expired or is no longer valid.'
const allOfT: Wanted = [{ family: 't', newest: 1 }]
const pageRows = 1_000

export function newTransaction({ store, clock }: DatabaseParts, readOnly: boolean, moment: bigint): SharedTransaction {
  const begunAt = clock.now
  const token = Buffer.alloc(tokenBytes)
  token[0] = tokenTag
  token[1] = readOnly ? 1 : 0
  token.writeUInt32BE(hashOf(clock.database), 2)
  token.writeBigUInt64BE(moment, 6)
  token.writeBigUInt64BE(begunAt, 14)
  token.writeBigUInt64BE(store.gateway * 0x100_0000n + BigInt(++store.transactions & 0xff_ffff), 22)
  return { token, name: nameOf(token), readOnly, moment, begunAt }
}

/** The transaction of a token; it may have ended, or be too old. @throws INVALID_ARGUMENT for other bytes */
export function parseTransaction({ clock }: DatabaseParts, bytes: Uint8Array): SharedTransaction {
  const token = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (token.length !== tokenBytes || token[0] !== tokenTag) {
    throw invalidArgument(
      'the transaction bytes do not decode; use those that BeginTransaction gave',
      'Invalid transaction.',
    )
  }
  const begunAt = token.readBigUInt64BE(14)
  const name = nameOf(token)
  if (token.readUInt32BE(2) !== hashOf(clock.database)) {
    throw invalidArgument(`${name} is of another database; use it in the database it was begun in`, transactionGone)
  }
  return { token, name, readOnly: token[1] === 1, moment: token.readBigUInt64BE(6), begunAt }
}

/** @throws INVALID_ARGUMENT if it is too old; UNAVAILABLE if the clock is too wrong to tell */
export async function refuseOld({ store, clock }: DatabaseParts, { name, begunAt }: SharedTransaction): Promise<void> {
  const { comparedClock } = store
  if (comparedClock.failure !== undefined) throw comparedClock.failure
  const isOld = (): boolean => clock.now - begunAt > BigInt(totalMicrosMax)
  if (!isOld()) return
  // A clock that was set forward a moment ago makes every transaction look old.
  await comparedClock.ensureRight(BigInt(totalMicrosMax))
  if (isOld()) throw invalidArgument(`${name} is expired (270 s in all); begin a new one`, transactionGone)
}

export async function noteReads(
  database: DatabaseParts,
  transaction: SharedTransaction,
  { set, groups }: Pick<CheckedReads, 'set' | 'groups'>,
): Promise<void> {
  const { store } = database
  if (store.isOff('noted-reads')) return
  const key = rowOf(database, transaction, String(store.gateway), String(++store.notedReads))
  const json = JSON.stringify({ rows: set.rows(), spans: set.spans, groups })
  await store.rows.mutateRows([{ key, changes: [cellOf(database, Buffer.from(json, 'latin1'))] }])
}

export async function readsOf(database: DatabaseParts, transaction: SharedTransaction): Promise<CheckedReads> {
  const set = new ReadSet()
  const groups = new Set<string>()
  const { start, end } = prefixRange(rowOf(database, transaction))
  // The first row, with the token alone, is the end.
  for (let from: RowKey = rowAfter(start); ; ) {
    const range = { start: from, end }
    const found = await database.store.rows.scanRows({ range, limit: pageRows, wanted: allOfT })
    for (const { cells } of found) {
      const cell = cells.t?.[0]?.value ?? new Uint8Array(0)
      const read = JSON.parse(Buffer.from(cell).toString('latin1')) as NotedReads
      for (const row of read.rows) set.addRow(row)
      for (const span of read.spans) set.addSpan(span.start, span.end)
      for (const group of read.groups) groups.add(group)
    }
    const last = found.at(-1)?.key
    if (last === undefined || found.length < pageRows) return { moment: transaction.moment, set, groups: [...groups] }
    from = rowAfter(last)
  }
}

/** How a transaction ended; `undefined` = it is open. */
export async function endOf(database: DatabaseParts, transaction: SharedTransaction): Promise<EndState | undefined> {
  const end = await endCell(database, transaction)
  return end === undefined ? undefined : stateIn(end)
}

/** Ends a transaction. @throws INVALID_ARGUMENT if it has ended before */
export async function endTransaction(
  database: DatabaseParts,
  transaction: SharedTransaction,
  state: EndState,
): Promise<void> {
  const { store } = database
  const value = Buffer.from(`${state} ${store.newCommitId()}`, 'latin1')
  const change = cellOf(database, value)
  for (;;) {
    // After a standstill of this process the transaction's rows may be swept.
    await refuseOld(database, transaction)
    const ending = store.rows.mutateRowIf(rowOf(database, transaction), { family: 't', values: undefined }, [change])
    if ((await isKnownDone(ending)) || store.isOff('single-end')) return
    const end = await endCell(database, transaction)
    if (end === undefined) continue
    if (Buffer.from(end).equals(value)) return
    throw endedError(transaction, stateIn(end))
  }
}

async function endCell(database: DatabaseParts, transaction: SharedTransaction): Promise<Uint8Array | undefined> {
  const key = rowOf(database, transaction)
  return (await database.store.rows.readRows([key], allOfT)).get(key)?.cells.t?.[0]?.value
}

function rowOf({ clock }: DatabaseParts, { token }: SharedTransaction, ...parts: readonly string[]): RowKey {
  return topicRowKey(clock.database, transactionTopic, hexOf(token, ''), ...parts)
}

function cellOf({ clock }: DatabaseParts, value: Uint8Array) {
  return { type: 'set', family: 't', at: clock.now / 1000n, value } as const
}

interface NotedReads {
  readonly rows: readonly string[]
  readonly spans: readonly { readonly start: string; readonly end: string }[]
  readonly groups: readonly string[]
}

/** The answer to a call with a transaction that has ended. */
export function endedError({ name }: SharedTransaction, state: EndState): DatastoreError {
  const how = state === 'committed' ? 'committed, or its commit was tried, already' : 'rolled back already'
  return invalidArgument(`${name} is ${how}; begin a new one`, transactionGone)
}

function stateIn(cell: Uint8Array): EndState {
  return Buffer.from(cell).toString('latin1').startsWith('committed') ? 'committed' : 'rolledBack'
}

function nameOf(token: Buffer): string {
  return `transaction ${token.subarray(22).toString('hex')}`
}

function hashOf(database: string): number {
  return fnv(database) >>> 0
}
