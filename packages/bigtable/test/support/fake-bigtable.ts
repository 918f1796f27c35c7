/**
 * A Bigtable for tests, over node:http2: ReadRows, MutateRows and CheckAndMutateRow, and of the admin API GetTable and CreateTable.
 * It shares no code with the client: it reads the published protos with protobufjs.
 *
 * FB1  A row changes atomically; a scan reads each row when it comes to it, so that it is no snapshot.
 * FB2  It has the limits of a real Bigtable, which Google's emulator lacks: keys, cells, filters, changes in a call, requests
 *      for rows.
 * FB3  Values and rows come in pieces of chance sizes, some rows begun, taken back and begun anew.
 * FB4  Faults are chosen call by call: refused, the answer lost, the effect late, the stream cut, the connection asked to go away.
 */
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Random, seededRandom } from '@sixtables/engine'
import protobuf from 'protobufjs'
import { checkKey, type FakeCell, FakeTable, fakeLimits, type Message, Refusal } from './fake-table.ts'

export type FakeMethod = 'ReadRows' | 'MutateRows' | 'CheckAndMutateRow' | 'CreateTable' | 'GetTable'

/** A call, as a fault is chosen for it. */
export interface FakeCall {
  readonly method: FakeMethod
  /** From 1, over all calls of the method. */
  readonly number: number
}

export type Fault =
  /** No effect, this code. */
  | { readonly type: 'refuse'; readonly code: number; readonly message?: string }
  /** The effect, and no answer: the stream is reset, by default with INTERNAL_ERROR. */
  | { readonly type: 'answerLost'; readonly reset?: number }
  /** No answer, and the effect when {@link FakeBigtable.landLate} is called. */
  | { readonly type: 'effectLate' }
  /** Ends the answer with UNAVAILABLE after so many rows, within the next one. Effects behind them do not happen. */
  | { readonly type: 'cut'; readonly afterRows: number }
  /** GOAWAY before the answer, which comes. */
  | { readonly type: 'goAway' }

/** Rows are keys asked for, rows of a range (one for an empty one), and rows changed or tried to be. */
export interface FakeCounts {
  calls: number
  rows: number
}

const require = createRequire(import.meta.url)
const protoRoot = dirname(require.resolve('google-proto-files/package.json'))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => join(protoRoot, target)
root.loadSync(['google/bigtable/v2/bigtable.proto', 'google/bigtable/admin/v2/bigtable_table_admin.proto'])

const services: Readonly<Record<FakeMethod, string>> = {
  ReadRows: 'google.bigtable.v2.ReadRows',
  MutateRows: 'google.bigtable.v2.MutateRows',
  CheckAndMutateRow: 'google.bigtable.v2.CheckAndMutateRow',
  CreateTable: 'google.bigtable.admin.v2.CreateTable',
  GetTable: 'google.bigtable.admin.v2.GetTable',
}

const answerTypes: Readonly<Record<FakeMethod, string>> = {
  ReadRows: 'google.bigtable.v2.ReadRowsResponse',
  MutateRows: 'google.bigtable.v2.MutateRowsResponse',
  CheckAndMutateRow: 'google.bigtable.v2.CheckAndMutateRowResponse',
  CreateTable: 'google.bigtable.admin.v2.Table',
  GetTable: 'google.bigtable.admin.v2.Table',
}

function decode(method: FakeMethod, bytes: Buffer): Message {
  const type = root.lookupType(`${services[method]}Request`)
  return withBigints(type.toObject(type.decode(bytes), { longs: String, bytes: Buffer, defaults: true }))
}

/** The 64-bit members of requests come as text. */
function withBigints(value: Message): Message {
  if (Array.isArray(value)) return value.map(withBigints)
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value
  const copy: Message = {}
  for (const [name, member] of Object.entries(value)) {
    copy[name] = /Micros$|^rowsLimit$|^seconds$/.test(name) ? BigInt(member as string) : withBigints(member)
  }
  return copy
}

function encode(method: FakeMethod, message: Message): Buffer {
  const type = root.lookupType(answerTypes[method])
  return Buffer.from(type.encode(type.fromObject(message)).finish())
}

const text = (bytes: Buffer | undefined): string => bytes?.toString('latin1') ?? ''
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export class FakeBigtable {
  /** Chooses a fault for a call. */
  fault: (call: FakeCall) => Fault | undefined = () => undefined
  /** Its clock, in microseconds. */
  nowMicros: () => bigint = () => BigInt(Date.now()) * 1000n
  /** App profiles without single-row transactions. */
  readonly profilesWithoutTransactions = new Set<string>()
  /** Instances that there are; with none named here, all. */
  readonly instances = new Set<string>()
  readonly tables = new Map<string, FakeTable>()
  readonly counts: Readonly<Record<FakeMethod, FakeCounts>> = {
    ReadRows: { calls: 0, rows: 0 },
    MutateRows: { calls: 0, rows: 0 },
    CheckAndMutateRow: { calls: 0, rows: 0 },
    CreateTable: { calls: 0, rows: 0 },
    GetTable: { calls: 0, rows: 0 },
  }
  /** Headers of the last call. */
  lastHeaders: Readonly<Record<string, string | string[] | undefined>> = {}
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #late: (() => void)[] = []
  readonly #random: Random
  /** Chunks of rows, or answers for rows, that were not sent yet. */
  readonly #gathered = new WeakMap<ServerHttp2Stream, Message[]>()

  private constructor(seed: number) {
    this.#random = seededRandom(seed)
    this.#server = createServer()
    this.#server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
    })
    this.#server.on('stream', (stream, headers) => {
      this.lastHeaders = headers as Record<string, string>
      void this.#serve(stream, String(headers[':path']))
    })
  }

  /** @param seed - of the sizes of pieces */
  static async start(seed = 1): Promise<FakeBigtable> {
    const fake = new FakeBigtable(seed)
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  get address(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the fake is not listening')
    return `127.0.0.1:${address.port}`
  }

  /** Writes whose failure was reported take effect now. */
  landLate(): void {
    for (const effect of this.#late.splice(0)) effect()
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(stream: ServerHttp2Stream, path: string): Promise<void> {
    const parts: Buffer[] = []
    stream.on('error', () => {})
    try {
      for await (const part of stream) parts.push(part as Buffer)
    } catch {
      return
    }
    const method = path.split('/').at(-1) as FakeMethod
    if (!(method in services)) return this.#end(stream, 12, `no method ${path}`)
    const counts = this.counts[method]
    const fault = this.fault({ method, number: ++counts.calls })
    if (fault?.type === 'goAway') stream.session?.goaway(constants.NGHTTP2_NO_ERROR)
    if (fault?.type === 'refuse') return this.#end(stream, fault.code, fault.message ?? 'refused by the test')
    try {
      const bytes = Buffer.concat(parts).subarray(5)
      if (method === 'ReadRows' && bytes.length > fakeLimits.readRequest) {
        throw new Refusal(3, `a request of ${bytes.length} bytes is above the limit of ${fakeLimits.readRequest}`)
      }
      const request = decode(method, bytes)
      if (fault?.type === 'effectLate') {
        this.#late.push(() => void this.#run(method, request, async () => {}).catch(() => {}))
        stream.close(constants.NGHTTP2_INTERNAL_ERROR)
        return
      }
      let rows = 0
      const cutAfter = fault?.type === 'cut' ? fault.afterRows : undefined
      await this.#run(method, request, async (message, isRow) => {
        if (cutAfter !== undefined && rows === cutAfter) throw new Refusal(14, 'cut by the test')
        if (fault?.type !== 'answerLost') this.#gather(stream, method, message, cutAfter === undefined)
        if (isRow) rows++
        if (isRow && method !== 'ReadRows') counts.rows++
      })
      this.#flush(stream, method)
      if (fault?.type === 'answerLost') stream.close(fault.reset ?? constants.NGHTTP2_INTERNAL_ERROR)
      else this.#end(stream, 0, '')
    } catch (error) {
      if (error instanceof Refusal) this.#end(stream, error.code, error.message)
      else this.#end(stream, 13, `the fake failed: ${error instanceof Error ? error.stack : error}`)
    }
  }

  /** Rows go together in messages, as far as they are gathered. */
  #gather(stream: ServerHttp2Stream, method: FakeMethod, message: Message, isGathered: boolean): void {
    const list = method === 'ReadRows' ? message.chunks : method === 'MutateRows' ? message.entries : undefined
    if (list === undefined) {
      this.#write(stream, encode(method, message))
      return
    }
    const gathered = this.#gathered.get(stream) ?? []
    this.#gathered.set(stream, gathered)
    gathered.push(...list)
    if (!isGathered || gathered.length >= 1 + this.#random.integer(100)) this.#flush(stream, method)
  }

  #flush(stream: ServerHttp2Stream, method: FakeMethod): void {
    const gathered = this.#gathered.get(stream)
    this.#gathered.delete(stream)
    if (gathered === undefined) return
    this.#write(stream, encode(method, method === 'ReadRows' ? { chunks: gathered } : { entries: gathered }))
  }

  #write(stream: ServerHttp2Stream, message: Buffer): void {
    if (stream.destroyed) return
    if (!stream.headersSent) this.#respond(stream)
    const head = Buffer.alloc(5)
    head.writeUInt32BE(message.length, 1)
    stream.write(Buffer.concat([head, message]))
  }

  #respond(stream: ServerHttp2Stream): void {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  }

  #end(stream: ServerHttp2Stream, code: number, message: string): void {
    if (stream.destroyed) return
    const trailers = { 'grpc-status': String(code), 'grpc-message': encodeURI(message) }
    if (stream.headersSent) {
      stream.once('wantTrailers', () => stream.sendTrailers(trailers))
      stream.end()
    } else stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...trailers }, { endStream: true })
  }

  #run(
    method: FakeMethod,
    request: Message,
    answer: (message: Message, isRow?: boolean) => Promise<void>,
  ): Promise<void> {
    switch (method) {
      case 'ReadRows':
        return this.#readRows(request, answer)
      case 'MutateRows':
        return this.#mutateRows(request, answer)
      case 'CheckAndMutateRow':
        return this.#checkAndMutate(request, answer)
      case 'CreateTable':
        return this.#create(request, answer)
      case 'GetTable':
        return answer(this.#describe(request.name))
    }
  }

  #table(name: string): FakeTable {
    const instance = name.split('/tables/')[0] ?? ''
    this.#checkInstance(instance)
    const table = this.tables.get(name)
    if (table === undefined) throw new Refusal(5, `table "${name}" not found`)
    return table
  }

  #checkInstance(name: string): void {
    if (this.instances.size > 0 && !this.instances.has(name)) throw new Refusal(5, `Instance "${name}" not found`)
  }

  async #create({ parent, tableId, table }: Message, answer: (message: Message) => Promise<void>): Promise<void> {
    this.#checkInstance(parent)
    const name = `${parent}/tables/${tableId}`
    if (this.tables.has(name)) throw new Refusal(6, `table "${name}" already exists`)
    this.tables.set(name, new FakeTable(new Map(Object.entries(table?.columnFamilies ?? {}))))
    await answer(this.#describe(name))
  }

  #describe(name: string): Message {
    const columnFamilies: Message = {}
    for (const [family, { gcRule }] of this.#table(name).families) {
      const seconds = gcRule?.maxAge?.seconds
      columnFamilies[family] = {
        gcRule: seconds === undefined ? gcRule : { maxAge: { seconds: String(seconds) } },
      }
    }
    return { name, columnFamilies }
  }

  async #readRows(request: Message, answer: (message: Message, isRow?: boolean) => Promise<void>): Promise<void> {
    const { tableName, rows, filter, rowsLimit = 0n, reversed = false } = request
    const table = this.#table(tableName)
    checkFilter(filter)
    if (reversed && this.lastHeaders['bigtable-features'] === undefined) {
      throw new Refusal(12, 'reverse scans need the header bigtable-features')
    }
    const { ReadRows: counts } = this.counts
    counts.rows += rows?.rowKeys.length ?? 0
    const isRange = (rows?.rowKeys.length ?? 0) === 0
    if (isRange) counts.rows++
    let found = 0n
    for (const key of wantedKeys(table, rows, reversed)) {
      // Other calls take effect between the rows.
      if (this.#random.integer(8) === 0) await turn()
      const cells = table.read(key, filter)
      if (cells.length === 0) continue
      for (const chunks of this.#chunksOf(key, cells)) await answer({ chunks }, chunks.at(-1)?.commitRow === true)
      if (isRange && found > 0n) counts.rows++
      if (++found === rowsLimit) return
    }
  }

  /** A row as messages of chunks, values and rows cut at chance places. */
  *#chunksOf(key: string, cells: readonly FakeCell[]): Iterable<Message[]> {
    const all = this.#plainChunks(key, cells)
    if (this.#random.integer(10) === 0) {
      yield [
        ...all.slice(0, 1 + this.#random.integer(all.length)).map((chunk) => ({ ...chunk, commitRow: undefined })),
        { resetRow: true },
      ]
    }
    if (all.length > 1 && this.#random.integer(3) === 0) {
      const at = 1 + this.#random.integer(all.length - 1)
      yield all.slice(0, at)
      yield all.slice(at)
    } else yield all
  }

  #plainChunks(key: string, cells: readonly FakeCell[]): Message[] {
    const chunks: Message[] = []
    let before: FakeCell | undefined
    for (const [number, cell] of cells.entries()) {
      const isLast = number === cells.length - 1
      const pieces = this.#pieces(cell.value)
      for (const [index, value] of pieces.entries()) {
        const goesOn = index < pieces.length - 1
        chunks.push({
          ...(index > 0
            ? {}
            : {
                ...(number === 0 ? { rowKey: Buffer.from(key, 'latin1') } : {}),
                ...(before?.family === cell.family ? {} : { familyName: { value: cell.family } }),
                ...(before?.family === cell.family && before.qualifier === cell.qualifier
                  ? {}
                  : { qualifier: { value: Buffer.from(cell.qualifier, 'latin1') } }),
                timestampMicros: String(cell.micros),
              }),
          value,
          valueSize: goesOn ? cell.value.length : 0,
          ...(isLast && !goesOn ? { commitRow: true } : {}),
        })
      }
      before = cell
    }
    return chunks
  }

  #pieces(value: Buffer): Buffer[] {
    if (value.length < 2 || this.#random.integer(4) > 0) return [value]
    const at = 1 + this.#random.integer(value.length - 1)
    return [value.subarray(0, at), value.subarray(at)]
  }

  async #mutateRows(request: Message, answer: (message: Message, isRow?: boolean) => Promise<void>): Promise<void> {
    const table = this.#table(request.tableName)
    const total = request.entries.reduce((sum: number, entry: Message) => sum + entry.mutations.length, 0)
    if (total > fakeLimits.mutations) throw new Refusal(3, `${total} mutations in one call`)
    for (const [index, { rowKey, mutations }] of request.entries.entries()) {
      let status = { code: 0, message: '' }
      try {
        table.mutate(text(rowKey), mutations, this.nowMicros())
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        status = { code: error.code, message: error.message }
      }
      await answer({ entries: [{ index, status }] }, true)
    }
  }

  async #checkAndMutate(request: Message, answer: (message: Message, isRow?: boolean) => Promise<void>): Promise<void> {
    const { tableName, appProfileId = '', rowKey, predicateFilter, trueMutations, falseMutations } = request
    const table = this.#table(tableName)
    if (this.profilesWithoutTransactions.has(appProfileId)) {
      throw new Refusal(9, `Single-row transactions are not allowed by app profile "${appProfileId}"`)
    }
    checkFilter(predicateFilter)
    const key = text(rowKey)
    checkKey(key)
    if (trueMutations.length + falseMutations.length === 0) throw new Refusal(3, 'No mutations provided')
    const predicateMatched = table.read(key, predicateFilter).length > 0
    const mutations = predicateMatched ? trueMutations : falseMutations
    if (mutations.length > 0) table.mutate(key, mutations, this.nowMicros())
    await answer({ predicateMatched }, true)
  }
}

function checkFilter(filter: Message | undefined): void {
  if (filter === undefined || filter === null) return
  const type = root.lookupType('google.bigtable.v2.RowFilter')
  const { length } = type.encode(type.fromObject(plainLongs(filter))).finish()
  if (length > fakeLimits.filter)
    throw new Refusal(3, `a filter of ${length} bytes is above the limit of ${fakeLimits.filter}`)
}

function plainLongs(value: Message): Message {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(plainLongs)
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainLongs(member)]))
}

/** Keys that the row set names, in the order of the answer; each once. Those of ranges are looked up as the scan comes to them. */
function* wantedKeys(table: FakeTable, rows: Message | undefined, reversed: boolean): Iterable<string> {
  const single: readonly string[] = (rows?.rowKeys ?? []).map(text).sort()
  const spans = spansOf(rows, single.length === 0)
  const left = reversed ? [...single] : single.toReversed()
  for (let last: string | undefined; ; ) {
    while (left.length > 0 && left.at(-1) === last) left.pop()
    const found: string[] = left.slice(-1)
    for (const { start, end } of spans) {
      const to = last === undefined || (end !== '' && end < last) ? end : last
      const key = reversed
        ? table.keys.before(to === '' ? undefined : to)
        : table.keys.from(last === undefined || start > last ? start : `${last}\0`)
      if (key !== undefined && key >= start && (end === '' || key < end)) found.push(key)
    }
    found.sort()
    const next = reversed ? found.at(-1) : found[0]
    if (next === undefined) return
    yield next
    last = next
  }
}

function spansOf(
  rows: Message | undefined,
  isAll: boolean,
): readonly { readonly start: string; readonly end: string }[] {
  const ranges: readonly Message[] = rows?.rowRanges ?? []
  if (isAll && ranges.length === 0) return [{ start: '', end: '' }]
  return ranges.map(({ startKeyClosed, startKeyOpen, endKeyOpen, endKeyClosed }) => {
    if (startKeyClosed != null && endKeyOpen?.length > 0 && text(startKeyClosed) > text(endKeyOpen)) {
      throw new Refusal(3, 'start_key_closed must be less than end_key_open')
    }
    return {
      start: startKeyOpen == null ? text(startKeyClosed) : `${text(startKeyOpen)}\0`,
      end: endKeyClosed?.length > 0 ? `${text(endKeyClosed)}\0` : text(endKeyOpen),
    }
  })
}
