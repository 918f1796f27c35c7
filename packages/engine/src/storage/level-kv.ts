/**
 * The store on disk: LevelDB, through `level`. Row keys are stored as their bytes, values with a checksum (row-proof.ts).
 *
 *   get         answers at once (LevelDB's getSync; measured 2 µs), or from value-cache.ts; level-absent.ts knows absent rows
 *   writes      one writer (level-writer.ts), which merges the writes that arrive during a batch
 *   scans       level-scan.ts, from row-cache.ts as far as it knows the rows
 *   versions    level-version.ts: readers see acknowledged writes only; acknowledged.ts notices a log that lost its end
 *   deletion    of few rows one by one; for many the ranges move to a new area (areas.ts, leftover-rows.ts)
 *
 * With durability `process` a write is acknowledged when the operating system has it, so it survives the death of this process; with
 * `power` after fdatasync. LevelDB's errors become DatastoreError UNAVAILABLE with the original as the cause.
 */
import { Level } from 'level'
import type { Scheduler } from '../clock.ts'
import { bytesOf, passingBytes, prefixEnd, sameBytes } from '../encoding/bytes.ts'
import { type DatastoreError, failedPrecondition } from '../errors.ts'
import { tableNumberOf } from '../leveldb/file-names.ts'
import { AcknowledgedLog } from './acknowledged.ts'
import { Areas, areaTableKey, type PlacedRange } from './areas.ts'
import {
  closing,
  countOf,
  type Durability,
  type FileDamage,
  handOver,
  type KeyRange,
  type Kv,
  type KvRow,
  type KvScan,
  type KvSnapshot,
  type KvWrite,
  type RowKey,
  type ScanOptions,
  snapshotClosed,
  type Writes,
} from './kv.ts'
import { LeftoverRows } from './leftover-rows.ts'
import { AbsentRows } from './level-absent.ts'
import { closedError, DamagedRow, readError } from './level-error.ts'
import { LevelScan, type ScanSource } from './level-scan.ts'
import { damageOfTables } from './level-table-check.ts'
import { keysIn, type LevelDatabase, StoreVersion } from './level-version.ts'
import { type Group, LevelWriter, mergedRowsMax, type WriterEvents } from './level-writer.ts'
import { partedScan } from './parted-scan.ts'
import { RowCache } from './row-cache.ts'
import { provenValue } from './row-proof.ts'
import { ValueCache } from './value-cache.ts'

export interface LevelKvOptions {
  /** Folder of the LevelDB files; created if it is missing, unless `mustExist`. */
  readonly dir: string
  /** Default `process`. */
  readonly durability?: Durability | undefined
  readonly mustExist?: boolean
  readonly readOnly?: boolean
  /** Approximate memory for rows that were read; 0 for none. Default 48 MiB. */
  readonly cacheBytes?: number
  /** The prefix of rows that are read before they are written, mostly in vain (level-absent.ts). Default: none. */
  readonly readBeforeWritten?: RowKey | undefined
  /** After this many reads in vain, the keys of all such rows are read. Default: level-absent.ts. */
  readonly missesBeforeReading?: number | undefined
  /** Runs work in slices. Default: real time. */
  readonly scheduler?: Scheduler | undefined
  /** Name of the folder in messages, instead of `dir`. */
  readonly location?: string
  /** The most rows that a deletion of ranges deletes one by one. Default 8192: some 20 ms of the writer. */
  readonly rowsDeletedMax?: number | undefined
}

const everything: KeyRange = { start: '', end: areaTableKey }

/** Opens the LevelDB in a folder. Rejects with LevelDB's own error, which data-folder.ts rephrases. */
export async function openLevelKv(options: LevelKvOptions): Promise<LevelKv> {
  const level: LevelDatabase = new Level<Uint8Array, Uint8Array>(options.dir, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    writeBufferSize: 16 << 20,
    // Small, because our own caches keep rows that are read again.
    cacheSize: 8 << 20,
    createIfMissing: options.mustExist !== true,
  })
  await level.open()
  const opened = async (): Promise<LevelKv> => {
    const acknowledged = await AcknowledgedLog.begin(options.dir, options.location ?? options.dir)
    return new LevelKv(level, acknowledged, options, await isEmpty(level), areasOf(level, options))
  }
  return await opened().catch(closing(level))
}

/** A store that cannot be read does not count as empty: its readers get the error. */
async function isEmpty(level: LevelDatabase): Promise<boolean> {
  try {
    return (await level.keys({ limit: 1, fillCache: false }).all()).length === 0
  } catch {
    return false
  }
}

function areasOf(level: LevelDatabase, options: LevelKvOptions): Areas {
  const key = bytesOf(areaTableKey)
  const stored = level.getSync(key)
  if (stored === undefined) return new Areas()
  const bytes = provenValue(key, stored)
  if (bytes === undefined) throw new DamagedRow(options.location ?? options.dir, areaTableKey)
  return Areas.from(bytes)
}

/** Tries LevelDB's lock without touching the rows. Rejects with LEVEL_LOCKED if another process has it. */
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
  readonly #noted = (key: RowKey): void => {
    this.#rowsPut++
    this.#absent?.note(key)
  }
  /** Rows set since the store was empty, an upper bound of its rows. */
  #rowsPut: number
  readonly #leftover: LeftoverRows
  readonly #rowsDeletedMax: number
  /** The newest acknowledged state. */
  #version: StoreVersion
  #closed = false
  #closing: Promise<void> | undefined
  failure: DatastoreError | undefined
  readonly #onFailure: ((failure: DatastoreError) => void)[] = []

  constructor(
    level: LevelDatabase,
    acknowledged: AcknowledgedLog,
    options: LevelKvOptions,
    isEmpty: boolean,
    areas: Areas,
  ) {
    this.#dir = options.dir
    this.#level = level
    this.#acknowledged = acknowledged
    this.#version = new StoreVersion(0, areas)
    this.#rowsPut = isEmpty ? 0 : Number.POSITIVE_INFINITY
    this.#rowsDeletedMax = options.rowsDeletedMax ?? 8192
    this.location = options.location ?? options.dir
    const events: WriterEvents = {
      put: this.#noted,
      beforeWrite: () => this.#version.freeze(this.#level),
      written: (isParted) => this.#acknowledged.advance(isParted),
      failed: (failure) => {
        this.failure = failure
        for (const listener of this.#onFailure) listener(failure)
      },
      afterWrite: (groups) => this.#advance(groups),
    }
    this.#writer = new LevelWriter(level, options.durability ?? 'process', events, options.scheduler, areas)
    this.#leftover = new LeftoverRows(level, this.#writer)
    const cacheBytes = options.cacheBytes ?? 48 << 20
    if (cacheBytes > 0) {
      this.#rows = new RowCache(Math.ceil((cacheBytes * 2) / 3))
      this.#values = new ValueCache(Math.ceil(cacheBytes / 3))
    }
    this.#source = { level, cache: this.#rows }
    if (options.readBeforeWritten !== undefined) {
      const prefix = options.readBeforeWritten
      // Rows that are about to move are still in their old area; a move notes them.
      const partsOf = (): readonly PlacedRange[] => this.#version.areas.parts({ start: prefix, end: prefixEnd(prefix) })
      this.#absent = new AbsentRows({ level, partsOf }, prefix, isEmpty, options.missesBeforeReading)
    }
    if (options.readOnly !== true) this.#leftover.add(areas.leftover, true)
    else this.#writer.refuse(failedPrecondition(`The store in ${this.location} was opened for reading only.`))
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
    return this.#writer.submit([write])
  }

  async mutateIf(write: KvWrite, expected: Uint8Array | undefined): Promise<boolean> {
    const pending = this.#writer.pending(write.key)
    const value = pending === undefined ? this.get(write.key) : pending.value
    if (sameBytes(value, expected)) {
      await this.#writer.submit([write])
      return true
    }
    // The write that decided it must be readable when the caller looks for the reason.
    await pending?.settled
    return false
  }

  batch(writes: Writes): Promise<void> {
    return this.#writer.submit(writes)
  }

  snapshot(): KvSnapshot {
    this.#mustBeOpen()
    const version = this.#version
    version.hold()
    let isOpen = true
    return {
      get: (key) => {
        if (!isOpen) throw snapshotClosed()
        return version.past ? this.#readAt(version, key) : this.get(key)
      },
      scan: (range, options) => {
        if (!isOpen) throw snapshotClosed()
        return this.#scanAt(version, range, options)
      },
      close: () => {
        if (isOpen) version.release()
        isOpen = false
      },
    }
  }

  clear(rows: readonly KvRow[] = []): Promise<void> {
    const isSmall = this.#rowsPut <= this.#rowsDeletedMax
    this.#rowsPut = 0
    const cleared = this.#delete([everything], rows, isSmall)
    this.#absent?.beginClear(cleared)
    return cleared
  }

  async deleteRanges(ranges: readonly KeyRange[], rows: readonly KvRow[] = []): Promise<void> {
    this.#mustBeOpen()
    const areFew = await this.#haveFewRows(ranges)
    await this.#delete(ranges, rows, areFew)
  }

  /** @param areFew - whether to delete the rows one by one; `rows` are set by the same batch */
  async #delete(ranges: readonly KeyRange[], rows: readonly KvRow[], areFew: boolean): Promise<void> {
    if (areFew) {
      const stored = this.#writer.areas.stored(ranges)
      await this.#writer.delete(ranges, rows)
      this.#leftover.add(stored, false)
      return
    }
    const before = new Set(this.#writer.areas.leftover)
    const moved = this.#writer.move(ranges, rows)
    const left = this.#writer.areas.leftover.filter((range) => !before.has(range))
    await moved
    this.#leftover.add(left, true)
  }

  async #haveFewRows(ranges: readonly KeyRange[]): Promise<boolean> {
    let room = this.#rowsDeletedMax + 1
    for (const range of this.#writer.areas.stored(ranges)) {
      for await (const keys of keysIn(this.#level, range, room)) room -= keys.length
      if (room === 0) return false
    }
    return true
  }

  async tidy(): Promise<void> {
    this.#mustBeOpen()
    await this.#leftover.over
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
    this.#writer.refuse(closedError(this.location))
    await this.#writer.idle()
    await this.#leftover.close()
    this.#closed = true
    this.#rows?.clear()
    this.#values?.clear()
    await this.#level.close()
    this.#acknowledged.close()
  }

  #scanAt(version: StoreVersion, range: KeyRange, options: ScanOptions = {}): KvScan {
    const scanOf = (part: PlacedRange): KvScan => new LevelScan(this.#source, version, part, options)
    const parts = version.areas.parts(range)
    if (parts.length < 2) return scanOf(parts[0] ?? { start: '', end: '', prefix: '' })
    version.hold()
    return partedScan(parts, options.reverse === true, scanOf, () => version.release())
  }

  /** Begins the next version, after the groups were acknowledged, all in one batch. */
  #advance(groups: readonly Group[]): void {
    const past = this.#version
    past.pass()
    let { areas } = past
    for (const group of groups) if ('areas' in group) areas = group.areas
    this.#version = new StoreVersion(past.sequence + 1, areas)
    for (const group of groups) {
      // To look for the rows of 20,000 entities took 50 ms in one turn; what was dropped is read from LevelDB again.
      if ('areas' in group ? group.deleted.length > 0 : countOf(group) > mergedRowsMax) {
        this.#rows?.clear()
        this.#values?.clear()
      } else if (!('areas' in group)) this.#tellCaches(group)
    }
  }

  /** The rows of tables that a cache has are made once more. */
  #tellCaches(writes: Writes): void {
    const rows = this.#rows
    const values = this.#values
    if (rows === undefined || values === undefined) return
    handOver(writes, {
      wants: (prefix) => values.wants(prefix) || rows.wants(prefix),
      write: (key, value) => {
        values.write(key, value)
        rows.write(key, value)
      },
    })
    rows.applied(writes)
  }

  #readAt(version: StoreVersion, key: RowKey): Uint8Array | undefined {
    const bytes = passingBytes(version.areas.place(key))
    let stored: Uint8Array | undefined
    try {
      stored =
        version.snapshot === undefined ? this.#level.getSync(bytes) : this.#level.getSync(bytes, version.snapshot)
    } catch (cause) {
      throw readError(this.#level.location, cause)
    }
    if (stored === undefined) return undefined
    const value = provenValue(bytes, stored)
    if (value === undefined) throw new DamagedRow(this.location, key)
    return value
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closedError(this.location)
  }
}
