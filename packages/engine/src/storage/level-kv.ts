/**
 * The store on disk: LevelDB, through `level`. Row keys are stored as their bytes, values with a checksum (row-proof.ts).
 *
 *   get         answers at once (LevelDB's getSync; measured 2 µs), or from value-cache.ts; of rows that cannot be there
 *               level-absent.ts knows
 *   writes      one writer (level-writer.ts), which merges what comes while a batch is under way
 *   scans       level-scan.ts, as far as known from row-cache.ts
 *   log length  acknowledged.ts: up to where LevelDB's log is acknowledged, so that a log that lost its end is found out
 *   versions    level-version.ts: readers see acknowledged writes only, and a scan or snapshot keeps its version
 *   deletion    of ranges: hidden at once (hidden-ranges.ts), then deleted in steps, between the writes of others
 *
 * Durability `process`: a write is acknowledged when it is in LevelDB's log file as the operating system sees it, so it
 * survives the death of this process. `power`: after fdatasync of that file.
 *
 * The errors of LevelDB become DatastoreError UNAVAILABLE with what LevelDB said as the cause.
 */
import { Level } from 'level'
import type { Scheduler } from '../clock.ts'
import { byteString, bytesOf, passingBytes, sameBytes } from '../encoding/bytes.ts'
import { DatastoreError } from '../errors.ts'
import { tableNumberOf } from '../leveldb/file-names.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { AcknowledgedLog } from './acknowledged.ts'
import { DamagedRow } from './damaged-row.ts'
import { isHidden, PartedScan, visibleParts } from './hidden-ranges.ts'
import type {
  Durability,
  FileDamage,
  KeyRange,
  Kv,
  KvReader,
  KvScan,
  KvSnapshot,
  KvWrite,
  RangesHidden,
  RowKey,
  ScanOptions,
  Writes,
} from './kv.ts'
import { AbsentRows } from './level-absent.ts'
import { readError } from './level-error.ts'
import { LevelScan, type ScanSource } from './level-scan.ts'
import { damageOfTables } from './level-table-check.ts'
import { type LevelDatabase, StoreVersion } from './level-version.ts'
import { type Clearing, LevelWriter, type WriterEvents } from './level-writer.ts'
import { RowCache } from './row-cache.ts'
import { plainForm, provenForm, type StoredForm } from './row-proof.ts'
import { ValueCache } from './value-cache.ts'

export interface LevelKvOptions {
  /** Folder of the LevelDB files; made when it is missing, unless `mustExist`. */
  readonly dir: string
  /** Default `process`. */
  readonly durability?: Durability
  /** Refuse to make a new store. */
  readonly mustExist?: boolean
  /** Refuse writes. */
  readonly readOnly?: boolean
  /** Memory for rows that were read, about; 0 for none. Default 48 MiB. */
  readonly cacheBytes?: number
  /** How the keys of rows begin that are read before they are written, most of them in vain (level-absent.ts). Default: none do. */
  readonly readBeforeWritten?: RowKey | undefined
  /** How many of those are asked for in vain before the keys of all are read. Default: level-absent.ts. */
  readonly missesBeforeReading?: number | undefined
  /** For work in slices. Default: real time. */
  readonly scheduler?: Scheduler | undefined
  /** Name of the folder in messages, instead of `dir`. */
  readonly location?: string
  /** Whether the rows have checksums. Default: true. */
  readonly proven?: boolean
}

/** Rows that a step of a deletion deletes: a write of others waits for that. Some 10 ms of LevelDB's. */
const deletedRowsOfStep = 1000

/** Less is not worth a compaction: LevelDB comes to it by itself. */
const compactedBytesMin = 1 << 20

/** Opens the LevelDB in a folder. Rejects with LevelDB's own error: data-folder.ts puts it into words. */
export async function openLevelKv(options: LevelKvOptions): Promise<LevelKv> {
  const level: LevelDatabase = new Level<Uint8Array, Uint8Array>(options.dir, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    writeBufferSize: 16 << 20,
    // Small: what is read again is in our own caches, as rows.
    cacheSize: 8 << 20,
    createIfMissing: options.mustExist !== true,
  })
  await level.open()
  try {
    const acknowledged = await AcknowledgedLog.begin(options.dir, options.location ?? options.dir)
    return new LevelKv(level, acknowledged, options, await isEmpty(level))
  } catch (error) {
    await level.close()
    throw error
  }
}

/** A store that cannot be read is not taken for an empty one: who reads it will be told. */
async function isEmpty(level: LevelDatabase): Promise<boolean> {
  try {
    return (await level.keys({ limit: 1, fillCache: false }).all()).length === 0
  } catch {
    return false
  }
}

/** Asks for LevelDB's lock without touching the rows. Rejects with LEVEL_LOCKED when another process has it, else otherwise. */
export async function probeLevel(dir: string): Promise<void> {
  const level = new Level(dir, { createIfMissing: false, errorIfExists: true })
  await level.open()
  await level.close()
}

export class LevelKv implements Kv {
  readonly location: string
  readonly #dir: string
  readonly #level: LevelDatabase
  readonly #acknowledged: AcknowledgedLog
  readonly #form: StoredForm
  readonly #writer: LevelWriter
  readonly #rows: RowCache | undefined
  readonly #values: ValueCache | undefined
  readonly #source: ScanSource
  readonly #absent: AbsentRows | undefined
  readonly #read = (key: RowKey): Uint8Array | undefined => {
    if (this.#absent?.lacks(key)) return undefined
    const value = this.#readAt(this.#version, key)
    if (value === undefined) this.#absent?.missed(key)
    return value
  }
  readonly #noted = (key: RowKey): void => this.#absent?.note(key)
  /** The newest acknowledged state. */
  #version = new StoreVersion(0)
  /** Ranges that are being deleted. */
  #hidden: readonly KeyRange[] = []
  #deleting: Promise<void> | undefined
  #closed = false
  #closing: Promise<void> | undefined
  #failure: DatastoreError | undefined
  readonly #onFailure: ((failure: DatastoreError) => void)[] = []

  constructor(level: LevelDatabase, acknowledged: AcknowledgedLog, options: LevelKvOptions, isEmpty: boolean) {
    this.#dir = options.dir
    this.#level = level
    this.#acknowledged = acknowledged
    this.#form = options.proven === false ? plainForm : provenForm
    this.location = options.location ?? options.dir
    const events: WriterEvents = {
      beforeWrite: () => this.#version.freeze(this.#level),
      written: (isClear) => this.#acknowledged.advance(isClear),
      failed: (failure) => {
        this.#failure = failure
        for (const listener of this.#onFailure) listener(failure)
      },
      afterWrite: (groups) => this.#advance(groups),
    }
    this.#writer = new LevelWriter(level, options.durability ?? 'process', events, this.#form, options.scheduler)
    const cacheBytes = options.cacheBytes ?? 48 << 20
    if (cacheBytes > 0) {
      this.#rows = new RowCache(Math.ceil((cacheBytes * 2) / 3))
      this.#values = new ValueCache(Math.ceil(cacheBytes / 3))
    }
    this.#source = { level, form: this.#form, cache: this.#rows }
    if (options.readBeforeWritten !== undefined) {
      this.#absent = new AbsentRows(level, options.readBeforeWritten, isEmpty, options.missesBeforeReading)
    }
    if (options.readOnly === true) {
      this.#writer.refuse(
        new DatastoreError('FAILED_PRECONDITION', `The store in ${this.location} was opened for reading only.`),
      )
    }
  }

  get failure(): DatastoreError | undefined {
    return this.#failure
  }

  onFailure(listener: (failure: DatastoreError) => void): void {
    this.#onFailure.push(listener)
  }

  get(key: RowKey): Uint8Array | undefined {
    this.#mustBeOpen()
    return this.#values === undefined ? this.#read(key) : this.#values.get(key, this.#read)
  }

  scan(range: KeyRange, options: ScanOptions = {}): KvScan {
    this.#mustBeOpen()
    return this.#scanAt(this.#version, range, options)
  }

  mutate(write: KvWrite): Promise<void> {
    return this.#submit([write])
  }

  async mutateIf(write: KvWrite, expected: Uint8Array | undefined): Promise<boolean> {
    const pending = this.#writer.pending(write.key)
    const value = pending === undefined ? this.get(write.key) : pending.value
    if (sameBytes(value, expected)) {
      await this.#submit([write])
      return true
    }
    // The write that decided it must be readable when the caller looks for the reason.
    await pending?.settled
    return false
  }

  batch(writes: Writes): Promise<void> {
    return this.#submit(writes)
  }

  snapshot(): KvSnapshot {
    this.#mustBeOpen()
    const version = this.#version
    return new LevelKvSnapshot(version, {
      get: (key) => (version.past ? this.#readAt(version, key) : this.get(key)),
      scan: (range, options) => this.#scanAt(version, range, options),
    })
  }

  clear(): Promise<void> {
    const cleared = this.#writer.clear()
    this.#absent?.beginClear(cleared)
    return cleared
  }

  /** One deletion after the other. Writes to other rows go on between its steps. */
  async deleteRanges(ranges: readonly KeyRange[]): Promise<RangesHidden> {
    while (this.#deleting !== undefined) await this.#deleting
    const hidden = this.#writer.clear(ranges, 'hide')
    const gone = hidden.then(() => this.#deleteHidden(ranges))
    const ended = (): void => {
      this.#deleting = undefined
    }
    this.#deleting = gone.then(ended, ended)
    await hidden
    return { gone }
  }

  /** Deletes the rows of ranges that no reader finds. A failure leaves them hidden, and the store without further writes. */
  async #deleteHidden(ranges: readonly KeyRange[]): Promise<void> {
    try {
      for (const range of ranges) if (range.start < range.end) await this.#deleteInSteps(range)
    } catch (error) {
      this.#writer.fail(error)
      throw error
    }
    this.#hidden = []
  }

  async #deleteInSteps({ start, end }: KeyRange): Promise<void> {
    const keys = this.#level.keys({ gte: bytesOf(start), lt: bytesOf(end), fillCache: false })
    try {
      for (let from = start; ; ) {
        const last = (await keys.nextv(deletedRowsOfStep)).at(-1)
        if (last === undefined) return
        const upTo = `${byteString(last)}\x00`
        await this.#writer.clear([{ start: from, end: upTo }], 'hidden')
        from = upTo
      }
    } finally {
      await keys.close()
    }
  }

  async compact(range: KeyRange): Promise<void> {
    this.#mustBeOpen()
    const level = this.#level as LevelDatabase & {
      approximateSize(from: Uint8Array, to: Uint8Array): Promise<number>
      compactRange(from: Uint8Array, to: Uint8Array): Promise<void>
    }
    const [start, end] = [bytesOf(range.start), bytesOf(range.end)]
    if ((await level.approximateSize(start, end)) >= compactedBytesMin) await level.compactRange(start, end)
  }

  /** Tables that LevelDB merges away meanwhile are looked for once more. */
  async damage(onFile?: () => void): Promise<readonly FileDamage[]> {
    this.#mustBeOpen()
    const found = await damageOfTables(this.#dir, this.#tables(), onFile)
    if (found.length === 0 || this.#closed) return found
    const suspected = new Set(found.map(({ file }) => tableNumberOf(file)))
    return await damageOfTables(
      this.#dir,
      this.#tables().filter(([table]) => suspected.has(table)),
    )
  }

  /** The numbers and sizes of the files that hold rows now. */
  #tables(): (readonly [number, number])[] {
    const level = this.#level as LevelDatabase & { getProperty(name: string): string }
    const listed = level.getProperty('leveldb.sstables').matchAll(/^ (\d+):(\d+)\[/gm)
    return [...listed].map(([, table, size]) => [Number(table), Number(size)] as const)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#writer.refuse(this.#closedError())
    await this.#writer.idle()
    await this.#deleting
    this.#closed = true
    this.#rows?.clear()
    this.#values?.clear()
    await this.#level.close()
    this.#acknowledged.close()
  }

  #submit(writes: Writes): Promise<void> {
    return this.#writer.submit(writes, this.#noted)
  }

  #scanAt(version: StoreVersion, range: KeyRange, options: ScanOptions = {}): KvScan {
    const scanOf = (part: KeyRange): KvScan => new LevelScan(this.#source, version, part, options)
    if (!version.hidden.some(({ start, end }) => start < range.end && range.start < end)) return scanOf(range)
    version.hold()
    const parts = visibleParts(range, version.hidden)
    return new PartedScan(parts, options.reverse === true, scanOf, () => version.release())
  }

  /** The groups were acknowledged, all in one batch: the next version begins. */
  #advance(groups: readonly (Writes | Clearing)[]): void {
    const past = this.#version
    past.pass(this.#rows)
    for (const group of groups) if ('cleared' in group && group.of === 'hide') this.#hidden = group.cleared ?? []
    this.#version = new StoreVersion(past.sequence + 1, this.#hidden)
    for (const group of groups) {
      if ('cleared' in group) {
        if (group.of === 'hidden') continue
        this.#rows?.clear()
        this.#values?.clear()
      } else {
        this.#rows?.apply(group)
        this.#values?.apply(group)
      }
    }
  }

  #readAt(version: StoreVersion, key: RowKey): Uint8Array | undefined {
    if (version.hidden.length > 0 && isHidden(version.hidden, key)) return undefined
    const bytes = passingBytes(key)
    let stored: Uint8Array | undefined
    try {
      stored =
        version.snapshot === undefined ? this.#level.getSync(bytes) : this.#level.getSync(bytes, version.snapshot)
    } catch (cause) {
      throw readError(this.#level.location, cause)
    }
    if (stored === undefined) return undefined
    const value = this.#form.value(bytes, stored)
    if (value === undefined) throw new DamagedRow(this.location, key)
    return value
  }

  #mustBeOpen(): void {
    if (this.#closed) throw this.#closedError()
  }

  #closedError(): DatastoreError {
    return new DatastoreError('UNAVAILABLE', `The store in ${this.location} was closed; open it anew to go on.`)
  }
}

class LevelKvSnapshot implements KvSnapshot {
  readonly #version: StoreVersion
  readonly #reader: KvReader
  #closed = false

  constructor(version: StoreVersion, reader: KvReader) {
    this.#version = version
    this.#reader = reader
    version.hold()
  }

  get(key: RowKey): MaybePromise<Uint8Array | undefined> {
    this.#mustBeOpen()
    return this.#reader.get(key)
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    this.#mustBeOpen()
    return this.#reader.scan(range, options)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#version.release()
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new DatastoreError('UNAVAILABLE', 'The snapshot was closed; take a new one to go on.')
  }
}
