/**
 * Proves that the six tables are what the logs say.
 *
 *   files                                their bytes are as they were written; if not, the check ends here
 *   pending markers ──▶ records          each marker has a record, and each such entity has one of its pending images
 *   entities ──▶ index rows              every row that an entity should have is there, with the right cell
 *   index rows ──▶ entities              there are as many rows as expected; if more, each is looked up
 *   log ──▶ entities                     the newest kept after-image of each entity is its row
 *
 * If ToDo:1 was written done=false, then done=true, and both are pending, its row may be absent or have either value. An index row that
 * all images have must be there; one that no image has must not. The check reads a snapshot if the store has one.
 *
 * V1  A repair judges each row again while nothing else is written. Rows with pending records get the state before the first of
 *     them, from which applying continues.
 */
import { checkAlive, type RequestContext } from '../context.ts'
import { hexOf, sameBytes } from '../encoding/bytes.ts'
import { prettyRowKey } from '../encoding/pretty.ts'
import { InvariantError, invariant } from '../invariant.ts'
import { decodeLogRecord } from '../log/log-record.ts'
import { type MaybePromise, runSteps, type Steps, waitFor, whenFails } from '../maybe-promise.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import { indexTables } from '../row.ts'
import { giveWay } from '../slices.ts'
import {
  type KeyRange,
  type KvReader,
  type KvRow,
  type KvScan,
  type RowKey,
  type RowKv,
  rowsFrom,
} from '../storage/kv.ts'
import { DamagedRow } from '../storage/level-error.ts'
import { entityRowKey, entityRowKeyOf, entityRowOf } from '../tables/entities.ts'
import { indexIdOf, parseCompositeRowKey } from '../tables/entities-by-composite-property.ts'
import { parseEntitiesByKindRowKey } from '../tables/entities-by-kind.ts'
import { parsePropertyRowKey } from '../tables/entities-by-property.ts'
import {
  codesOfEntityRow,
  EntityRows,
  groupOfEntityRow,
  type IndexRules,
  RowProducer,
  tableOfRow,
} from '../tables/entity-rows.ts'
import { logRowKey, parseLogRowKey } from '../tables/log-rows.ts'
import { codeOfRow, isOf, rowsOf } from '../tables/rows.ts'
import { type CheckReport, type PendingGroup, type Problem, type ProblemKind, problemsListed } from './report.ts'

export interface CheckOptions {
  /** Writes missing index rows, corrects wrong ones and deletes orphans. */
  readonly repair?: boolean
  /** Called from time to time with the number of rows read so far. */
  readonly onProgress?: ((rows: number) => void) | undefined
}

export interface CheckSource {
  readonly kv: RowKv
  /** Runs `work` over the rows of one moment without commits in progress. */
  atOneMoment<T>(work: (reader: KvReader) => Promise<T>): Promise<T>
  /** The indexes of a database that must be complete, and its rules. @param code - begins with that of the database */
  rulesOf(code: string): IndexRules
  /** The caller that waits for the report. The check yields between slices, and ends when the caller is gone. */
  readonly context: RequestContext
  /** Runs `task` while nothing is committed or applied; for repairs. */
  alone<T>(task: () => Promise<T>): Promise<T>
  readonly remedy?: string
}

const batchRows = 512
/** Rows that one repair step corrects while writers wait. */
const repairsAtOnce = 64

type Cell = Uint8Array | undefined

export async function checkStore(source: CheckSource, options: CheckOptions = {}): Promise<CheckReport> {
  const damaged = (await source.kv.damage?.(() => checkAlive(source.context))) ?? []
  if (damaged.length === 0) return source.atOneMoment((reader) => new Check({ ...source, ...options, reader }).run())
  const problems = damaged.map(
    ({ file, what }): Problem => ({ kind: 'damaged file', row: file, rowKey: '', detail: what }),
  )
  const nothing = { entities: 0, indexRows: 0, logRecords: 0, pending: [], repaired: 0 }
  return { ...nothing, problemCount: problems.length, problems: problems.slice(0, problemsListed) }
}

class Check {
  readonly #parts: CheckSource & CheckOptions & { readonly reader: KvReader }
  /** The possible images of each entity with pending records, by its row key: before the first record, then after each. */
  readonly #chains = new Map<RowKey, Cell[]>()
  readonly #pending: PendingGroup[] = []
  readonly #problems: Problem[] = []
  readonly #broken = new Set<RowKey>()
  #problemCount = 0
  #rowsSeen = 0
  #entities = 0
  #logRecords = 0
  /** Index rows that were found and belong to an entity. */
  #accounted = 0
  /** Damaged rows: each is reported once, and not compared. */
  readonly #unreadable = new Set<RowKey>()

  constructor(parts: CheckSource & CheckOptions & { readonly reader: KvReader }) {
    this.#parts = parts
  }

  async run(): Promise<CheckReport> {
    await this.#readPending()
    await this.#entitiesToIndexRows()
    await runSteps(this.#chainsToIndexRows())
    const indexRows = await this.#indexRowsToEntities()
    await this.#logToEntities()
    const { repair, remedy } = this.#parts
    const repaired = repair ? await this.#repair() : 0
    return {
      entities: this.#entities,
      indexRows,
      logRecords: this.#logRecords,
      pending: this.#pending,
      problemCount: this.#problemCount,
      problems: this.#problems,
      repaired,
      ...(remedy === undefined || this.#problemCount === 0 ? {} : { remedy }),
    }
  }

  /** @returns how many broken rows are right now */
  async #repair(): Promise<number> {
    const rows = [...this.#broken]
    for (let i = 0; i < rows.length; i += repairsAtOnce) {
      await this.#parts.alone(async () => {
        for (const row of rows.slice(i, i + repairsAtOnce)) await this.#putRight(row)
      })
      await this.#giveWay(repairsAtOnce)
    }
    return rows.length
  }

  /** Judges a row again (V1): it may be right by now, or gone with its index. */
  async #putRight(row: RowKey): Promise<void> {
    if (!this.#isChecked(row)) return
    const { kv } = this.#parts
    const entityRow = entityRowOfIndexRow(row, this.#rulesOf(row).indexes)
    const right = this.#indexRows(entityRow, await this.#indexedImage(entityRow)).get(row)
    if (this.#unreadable.has(row) || !sameBytes(right, await kv.get(row))) await kv.mutate({ key: row, value: right })
  }

  /** The image of an entity to which its index rows belong now: the one before its first pending record, or its row. */
  async #indexedImage(entityRow: RowKey): Promise<Cell> {
    const { kv } = this.#parts
    const { path } = codesOfEntityRow(entityRow)
    const group = groupOfEntityRow(entityRow)
    for await (const { key } of rowsFrom(kv.scan(rowsOf('Pending', group)), batchRows)) {
      const value = await kv.get(logRowKey(group, parseLogRowKey(key).version))
      const change = value && decodeLogRecord(value).changes.find((candidate) => candidate.path === path)
      if (change) return change.before
    }
    return kv.get(entityRow)
  }

  async #readPending(): Promise<void> {
    const groups = new Map<string, { group: string; records: number }>()
    await this.#each(rowsOf('Pending'), async ({ key }) => {
      const { group, partition, version } = parseLogRowKey(key)
      const row = logRowKey(group, version)
      const value = await this.#get(row)
      const record = value && this.#tried(key, () => decodeLogRecord(value))
      if (record === undefined) {
        if (value === undefined && !this.#unreadable.has(row))
          this.#report('marker without record', key, 'the record it speaks of is not in the log')
        return
      }
      const entry = groups.get(group) ?? { group: prettyRowKey(entityRowOf(group)), records: 0 }
      entry.records++
      groups.set(group, entry)
      for (const { path, before, after } of record.changes) {
        const row = entityRowKey(partition, path)
        const chain = this.#chains.get(row)
        if (chain === undefined) this.#chains.set(row, [before, after])
        else chain.push(after)
      }
    })
    this.#pending.push(...groups.values())
  }

  async #entitiesToIndexRows(): Promise<void> {
    const look = ({ key, value }: KvRow): MaybePromise<void> => {
      this.#entities++
      return this.#chains.has(key) ? undefined : runSteps(this.#expectRows(key, value))
    }
    await this.#each(rowsOf('Entities'), look, this.#parts.reader.gathersReads)
  }

  *#chainsToIndexRows(): Steps<void> {
    for (const [row, chain] of this.#chains) {
      const cell = yield* waitFor(this.#get(row))
      if (!this.#unreadable.has(row) && !chain.some((image) => sameBytes(image, cell))) {
        this.#report('entity differs from log', row, 'the row is none of the images of its pending records')
      }
      yield* this.#expectRowsOfAny(row, chain)
    }
  }

  *#expectRowsOfAny(entityRow: RowKey, images: readonly Cell[]): Steps<void> {
    /** How many of the images have a row. */
    const counts = new Map<RowKey, number>()
    for (const image of images) {
      for (const rows of this.#indexRowsInParts(entityRow, image)) {
        for (const [key] of rows) counts.set(key, (counts.get(key) ?? 0) + 1)
        yield* waitFor(this.#giveWay(rows.length))
      }
      yield* waitFor(this.#giveWay(1))
    }
    for (const [key, count] of counts) {
      yield* waitFor(this.#giveWay(1))
      const found = yield* waitFor(this.#get(key))
      if (found !== undefined || this.#unreadable.has(key)) this.#accounted++
      else if (count === images.length) {
        const detail = 'before and after its pending records the entity has this row'
        this.#report('missing index row', key, detail, 'broken')
      }
    }
  }

  *#expectRows(entityRow: RowKey, cell: Cell): Steps<void> {
    for (const rows of this.#indexRowsInParts(entityRow, cell)) {
      for (const [key, value] of rows) {
        yield* waitFor(this.#giveWay(1))
        const cell = yield* waitFor(this.#get(key))
        if (cell === undefined) {
          if (this.#unreadable.has(key)) continue
          this.#report('missing index row', key, 'the entity has this value, the table has no row for it', 'broken')
          continue
        }
        this.#accounted++
        if (!sameBytes(cell, value)) {
          this.#report('wrong index row', key, `the cell is ${hexOf(cell)}, it should be ${hexOf(value)}`, 'broken')
        }
      }
    }
  }

  /** Counts the rows of the index tables. Only if there are too many, each is looked up. */
  async #indexRowsToEntities(): Promise<number> {
    let count = 0
    for (const table of indexTables) {
      await this.#each(rowsOf(table), ({ key }) => {
        if (this.#isChecked(key)) count++
      })
    }
    if (count === this.#accounted) return count
    const look = async ({ key }: KvRow): Promise<void> => {
      if (!this.#isChecked(key)) return
      const entityRow = entityRowOfIndexRow(key, this.#rulesOf(key).indexes)
      const chain = this.#chains.get(entityRow) ?? [await this.#get(entityRow)]
      if (this.#unreadable.has(entityRow) || chain.some((cell) => this.#indexRows(entityRow, cell).has(key))) return
      const isGone = chain.every((cell) => cell === undefined)
      const detail = isGone ? 'its entity does not exist' : 'its entity does not have this value'
      this.#report('orphan index row', key, detail, 'broken')
    }
    for (const table of indexTables) await this.#each(rowsOf(table), look, this.#parts.reader.gathersReads)
    return count
  }

  /** Rows of an index that is being built or dropped need not be complete. */
  #isChecked(key: RowKey): boolean {
    if (tableOfRow(key) !== 'EntitiesByCompositeProperty') return true
    const indexId = indexIdOf(key)
    return this.#rulesOf(key).indexes.some(({ id }) => id === indexId)
  }

  async #logToEntities(): Promise<void> {
    let group = ''
    let newest = new Map<RowKey, Cell>()
    const compare = async (): Promise<void> => {
      for (const [row, after] of newest) {
        await this.#giveWay(1)
        if (this.#chains.has(row)) continue
        const cell = await this.#get(row)
        if (sameBytes(cell, after) || this.#unreadable.has(row)) continue
        const found = cell === undefined ? 'there is no such row' : 'the row is another state'
        this.#report('entity differs from log', row, `${found} than its newest record says`)
      }
    }
    await this.#each(rowsOf('Log'), async ({ key, value }) => {
      this.#logRecords++
      const position = parseLogRowKey(key)
      if (position.group !== group) {
        await compare()
        group = position.group
        newest = new Map()
      }
      const record = this.#tried(key, () => decodeLogRecord(value))
      for (const { path, after } of record?.changes ?? []) newest.set(entityRowKey(position.partition, path), after)
    })
    await compare()
  }

  /** The result of `read`. If it throws, the row is reported as unreadable. */
  #tried<T>(key: RowKey, read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      this.#report('unreadable row', key, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  #rulesOf(rowKey: RowKey): IndexRules {
    return this.#parts.rulesOf(codeOfRow(rowKey))
  }

  #indexRows(entityRow: RowKey, cell: Cell): ReadonlyMap<RowKey, Uint8Array> {
    return new Map([...this.#indexRowsInParts(entityRow, cell)].flat())
  }

  /** The index rows of an entity, some at a time: it may have 40,000. */
  *#indexRowsInParts(entityRow: RowKey, after: Cell): Generator<(readonly [RowKey, Uint8Array])[]> {
    const codes = codesOfEntityRow(entityRow)
    const delta = { codes, row: entityRow, before: undefined, after }
    const entity = this.#tried(entityRow, () => new EntityRows(delta, this.#parts.rulesOf(codes.partition)))
    if (entity === undefined) return
    let made: (readonly [RowKey, Uint8Array])[] = []
    const write = (key: RowKey, value: Uint8Array | undefined) => value && made.push([key, value])
    const producer = new RowProducer({ write })
    for (let place = 0; place < entity.places; place += batchRows) {
      made = []
      producer.indexRows(entity, place, place + batchRows)
      yield made
    }
  }

  /** @param isSideBySide - for stores that combine the reads of a turn into few calls: looks at a batch of rows at a time */
  #each(range: KeyRange, look: (row: KvRow) => MaybePromise<void>, isSideBySide = false): MaybePromise<void> {
    return runSteps(this.#rowByRow(range, look, isSideBySide))
  }

  *#rowByRow(range: KeyRange, look: (row: KvRow) => MaybePromise<void>, isSideBySide: boolean): Steps<void> {
    const { reader, onProgress } = this.#parts
    const scan = reader.scan(range)
    try {
      for (;;) {
        const rows = yield* waitFor(this.#next(scan))
        if (rows === 'damaged') continue
        if (rows.length === 0) return
        if (isSideBySide) yield* waitFor(Promise.all(rows.map(look)))
        for (const row of rows) {
          if (!isSideBySide) yield* waitFor(look(row))
          yield* waitFor(this.#giveWay(1))
        }
        this.#rowsSeen += rows.length
        onProgress?.(this.#rowsSeen)
      }
    } finally {
      scan.close()
    }
  }

  /** The next rows of a scan; `damaged`: the scan was moved behind an unreadable row. */
  #next(scan: KvScan): MaybePromise<readonly KvRow[] | 'damaged'> {
    return whenFails(
      () => scan.next(batchRows),
      (error) => {
        this.#noteDamaged(error)
        scan.seek(`${(error as DamagedRow).rowKey}\x00`)
        return 'damaged'
      },
    )
  }

  /** The value of a row; `undefined` also if it cannot be read. */
  #get(key: RowKey): MaybePromise<Cell> {
    return whenFails(
      () => this.#parts.reader.get(key),
      (error) => this.#noteDamaged(error),
    )
  }

  #noteDamaged(error: unknown): undefined {
    if (!(error instanceof DamagedRow)) throw error
    const { rowKey } = error
    if (this.#unreadable.has(rowKey)) return
    this.#unreadable.add(rowKey)
    const isIndexRow = indexTables.some((table) => isOf(table, rowKey))
    this.#report('unreadable row', rowKey, 'its bytes do not fit its checksum', isIndexRow ? 'broken' : undefined)
  }

  #giveWay(work: number): Promise<void> | undefined {
    return giveWay(this.#parts.context, work)
  }

  /** @param repairable - `broken` if the row can be derived from its entity and repaired */
  #report(kind: ProblemKind, key: RowKey, detail: string, repairable?: 'broken'): void {
    this.#problemCount++
    if (repairable === 'broken') this.#broken.add(key)
    if (this.#problems.length === problemsListed) return
    this.#problems.push({ kind, row: prettyRowKey(key), rowKey: hexOf(key), detail })
  }
}

function entityRowOfIndexRow(rowKey: RowKey, indexes: readonly CompositeIndex[]): RowKey {
  const table = tableOfRow(rowKey)
  switch (table) {
    case 'EntitiesByKind':
      return entityRowKeyOf(parseEntitiesByKindRowKey(rowKey))
    case 'EntitiesByPropertyAsc':
    case 'EntitiesByPropertyDesc':
      return entityRowKeyOf(parsePropertyRowKey(rowKey).key)
    case 'EntitiesByCompositeProperty': {
      const indexId = indexIdOf(rowKey)
      const index = indexes.find(({ id }) => id === indexId)
      invariant(index !== undefined, `index ${indexId} has rows but no definition`)
      return entityRowKeyOf(parseCompositeRowKey(index, rowKey).key)
    }
    default:
      throw new InvariantError(`a row of ${table} is no index row`)
  }
}
