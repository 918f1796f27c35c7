/**
 * The calls of one table: ReadRows, MutateRows and CheckAndMutateRow. ReadRows and MutateRows are repeated, the conditional write is not:
 * when the answer to "set `c` if it is empty" is lost, a second attempt could find its own value and report a conflict.
 * A call above a limit of a real Bigtable (limits.ts) is refused before it is sent.
 *
 * ReadRows gives each row once and in order, however often its answer is cut: a retry continues after the last key.
 * MutateRows repeats the rows that were not acknowledged, and no others.
 * TC3  CheckAndMutateRow is sent once. If its answer is lost, its outcome is unknown.
 */
import { type DatastoreError, invalidArgument } from '@sixtables/engine'
import type { StoreCall } from '@sixtables/engine/store'
import {
  google,
  type WrittenMutateRowsRequestEntry,
  type WrittenMutation,
  type WrittenRowFilter,
  type WrittenRowRange,
} from '#gen/codecs.js'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { CallError, grpcCodes, passingCodes, refusalCodes } from './call-error.ts'
import { ChunkReader, keyBytes, type ReadRow } from './cell-chunks.ts'
import { bigtableLimits } from './limits.ts'
import { type Waiting, withRetries } from './retry.ts'
import { type BigtablePlace, problemOf, tablePath } from './table-place.ts'
import type { GrpcTransport } from './transport.ts'

export type RowFilter = WrittenRowFilter
export type Mutation = WrittenMutation

/** Keys, or one range of them (`start` inclusive, `end` exclusive; an empty `end` is the end of the table). */
export type WantedRows = { readonly keys: readonly string[] } | { readonly start: string; readonly end: string }

export interface ReadRowsOptions {
  readonly rows: WantedRows
  readonly filter: RowFilter
  /** The maximum number of rows; default all. */
  readonly limit?: number
  readonly reverse?: boolean
}

export interface RowMutations {
  readonly key: string
  readonly mutations: readonly Mutation[]
}

type Method = 'ReadRows' | 'MutateRows' | 'CheckAndMutateRow'

const service = '/google.bigtable.v2.Bigtable'
const messages = google.bigtable.v2

export class TableClient {
  readonly place: BigtablePlace
  readonly #transport: GrpcTransport
  readonly #waiting: Waiting
  readonly #timeoutMs: number
  readonly #names: { readonly tableName: string; readonly appProfileId?: string }
  readonly #routing: string
  readonly #observers: ((call: StoreCall) => void)[] = []

  /** @param timeoutMs - time for all attempts of a read or a repeated change */
  constructor(place: BigtablePlace, transport: GrpcTransport, waiting: Waiting, timeoutMs: number) {
    this.place = place
    this.#transport = transport
    this.#waiting = waiting
    this.#timeoutMs = timeoutMs
    const { appProfile } = place
    this.#names = { tableName: tablePath(place), ...(appProfile === undefined ? {} : { appProfileId: appProfile }) }
    const profile = appProfile === undefined ? '' : `&app_profile_id=${encodeURIComponent(appProfile)}`
    this.#routing = `table_name=${encodeURIComponent(tablePath(place))}${profile}`
  }

  observeCalls(observer: (call: StoreCall) => void): void {
    this.#observers.push(observer)
  }

  async readRows(options: ReadRowsOptions): Promise<readonly ReadRow[]> {
    const { filter, limit, reverse = false } = options
    checkFilter(filter)
    const rows: ReadRow[] = []
    let last: string | undefined
    await this.#retried('ReadRows', 'read rows', async ({ timeoutMs }, progress) => {
      const left = limit === undefined ? undefined : limit - rows.length
      const rest = restOf(options.rows, last, reverse)
      if (left === 0 || rest === undefined) return
      const request = messages.ReadRowsRequest.encode({
        ...this.#names,
        rows: rest,
        filter,
        reversed: reverse,
        ...(left === undefined ? {} : { rowsLimit: { low: left, high: 0 } }),
      }).finish()
      refuseAbove(bigtableLimits.readRequestBytes, request.length, 'a request', ' for rows', 'ask for fewer keys')
      const reader = new ChunkReader((row) => rows.push(row), reverse, last)
      const take = (bytes: Uint8Array): void => {
        reader.message(bytes)
        if (reader.lastKey === last) return
        last = reader.lastKey
        progress()
      }
      await this.#transport.stream(`${service}/ReadRows`, request, this.#options(timeoutMs), take)
      reader.end()
    })
    return rows
  }

  /**
   * Changes rows, each atomically, in any order. Resolves when each row was acknowledged or refused.
   *
   * @returns the errors of refused rows, by index
   */
  async mutateRows(rows: readonly RowMutations[]): Promise<ReadonlyMap<number, DatastoreError>> {
    const refused = new Map<number, DatastoreError>()
    const open = new Set(rows.keys())
    const entries = rows.map(({ key, mutations }) => ({ rowKey: keyBytes(key), mutations }))
    await this.#retried('MutateRows', 'change rows', async ({ timeoutMs }, progress) => {
      const asked = [...open]
      const request = messages.MutateRowsRequest.encode({
        ...this.#names,
        entries: asked.map((index) => entries[index] as WrittenMutateRowsRequestEntry),
      }).finish()
      let passing: CallError | undefined
      const take = (bytes: Uint8Array): void => {
        for (const { index, status } of messages.MutateRowsResponse.decode(bytes).entries) {
          const row = asked[index.low]
          if (row === undefined) throw new CallError(grpcCodes.INTERNAL, 'MutateRows answered for a row not asked for')
          const { code, message } = status ?? { code: grpcCodes.OK, message: '' }
          if (passingCodes.has(code)) passing = new CallError(code, message)
          else {
            open.delete(row)
            if (code === grpcCodes.OK) continue
            refused.set(row, problemOf(new CallError(code, message), this.place, 'change rows'))
          }
        }
        if (open.size < asked.length) progress()
      }
      await this.#transport.stream(`${service}/MutateRows`, request, this.#options(timeoutMs), take)
      if (open.size > 0) throw passing ?? new CallError(grpcCodes.UNAVAILABLE, 'MutateRows left rows out of its answer')
    })
    return refused
  }

  /**
   * Changes a row atomically, depending on whether any of its cells passes the filter.
   *
   * @returns whether any cell passed the filter
   * @throws OutcomeUnknown if its answer was lost
   */
  async checkAndMutateRow(
    key: string,
    predicate: RowFilter,
    mutations: { readonly ifSome?: readonly Mutation[]; readonly ifNone?: readonly Mutation[] },
  ): Promise<boolean> {
    checkFilter(predicate)
    const request = messages.CheckAndMutateRowRequest.encode({
      ...this.#names,
      rowKey: keyBytes(key),
      predicateFilter: predicate,
      trueMutations: mutations.ifSome ?? [],
      falseMutations: mutations.ifNone ?? [],
    }).finish()
    try {
      // A single attempt: the caller reads later whether it took effect.
      const send = async (): Promise<boolean> => {
        const options = this.#options(this.#waiting.attemptMs)
        const answer = await this.#transport.unary(`${service}/CheckAndMutateRow`, request, options)
        return messages.CheckAndMutateRowResponse.decode(answer).predicateMatched
      }
      const isConflict = (matched: boolean): boolean => (matched ? mutations.ifSome : mutations.ifNone) === undefined
      return await this.#told('CheckAndMutateRow', false, send, isConflict)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      const problem = problemOf(error, this.place, 'make conditional writes')
      throw refusalCodes.has(error.code) ? problem : new OutcomeUnknown(problem.message)
    }
  }

  /**
   * Tries a read and a conditional write, which change nothing, to see before the first commit whether the table accepts them.
   *
   * @throws DatastoreError with the remedy if it does not
   */
  async tryCalls(): Promise<void> {
    await this.readRows({ rows: { keys: ['M'] }, filter: { blockAllFilter: true } })
    const request = messages.CheckAndMutateRowRequest.encode({
      ...this.#names,
      rowKey: keyBytes('M'),
      predicateFilter: { blockAllFilter: true },
      trueMutations: [{ deleteFromRow: {} }],
    }).finish()
    await this.#retried('CheckAndMutateRow', 'make conditional writes', async ({ timeoutMs }) => {
      await this.#transport.unary(`${service}/CheckAndMutateRow`, request, this.#options(timeoutMs))
    })
  }

  #options(timeoutMs: number) {
    return { timeoutMs, routing: this.#routing }
  }

  async #retried(method: Method, doing: string, attempt: Parameters<typeof withRetries<void>>[2]): Promise<void> {
    let attempts = 0
    try {
      await withRetries(this.#waiting, this.#timeoutMs, (limits, progress) =>
        this.#told(method, attempts++ > 0, () => attempt(limits, progress)),
      )
    } catch (error) {
      throw error instanceof CallError ? problemOf(error, this.place, doing) : error
    }
  }

  /** Sends one attempt and reports it to the observers when it ends. */
  async #told<T>(
    method: Method,
    isRetry: boolean,
    send: () => Promise<T>,
    isConflict: (answer: T) => boolean = () => false,
  ): Promise<T> {
    if (this.#observers.length === 0) return await send()
    const passedMs = this.#waiting.stopwatch()
    const tell = (end: Pick<StoreCall, 'code' | 'isConflict'>): void => {
      for (const observer of this.#observers) observer({ method, isRetry, durationMs: passedMs(), ...end })
    }
    try {
      const answer = await send()
      tell({ code: 'OK', isConflict: isConflict(answer) })
      return answer
    } catch (error) {
      tell({ code: codeOf(error), isConflict: false })
      throw error
    }
  }
}

function codeOf(error: unknown): string {
  return grpcCodes[error instanceof CallError ? error.code : grpcCodes.UNKNOWN] ?? 'UNKNOWN'
}

function checkFilter(filter: RowFilter): void {
  const { length } = messages.RowFilter.encode(filter).finish()
  refuseAbove(bigtableLimits.filterBytes, length, 'a filter', '', 'compare shorter values')
}

function refuseAbove(most: number, bytes: number, what: string, purpose: string, remedy: string): void {
  if (bytes <= most) return
  throw invalidArgument(`${what} of ${bytes} bytes${purpose} is needed, and Bigtable takes at most ${most}: ${remedy}`)
}

/** The wanted rows after `last`, in the direction of the scan; `undefined` if there are none. */
function restOf(rows: WantedRows, last: string | undefined, reverse: boolean) {
  if ('keys' in rows) {
    const keys = last === undefined ? rows.keys : rows.keys.filter((key) => (reverse ? key < last : key > last))
    return keys.length === 0 ? undefined : { rowKeys: keys.map(keyBytes) }
  }
  const { start, end } = rows
  const range: WrittenRowRange = {
    ...(!reverse && last !== undefined ? { startKeyOpen: keyBytes(last) } : { startKeyClosed: keyBytes(start) }),
    ...(reverse && last !== undefined
      ? { endKeyOpen: keyBytes(last) }
      : end === ''
        ? {}
        : { endKeyOpen: keyBytes(end) }),
  }
  return { rowRanges: [range] }
}
