/**
 * A table of the fake Bigtable: rows, mutations and filters with the limits of a real one (known: the comments of the published
 * protos, and cloud.google.com/bigtable/quotas). Requests are as protobufjs reads them, 64-bit numbers as bigint.
 */

export interface FakeCell {
  readonly family: string
  readonly qualifier: string
  readonly micros: bigint
  readonly value: Buffer
}

/** A message as protobufjs has it. */
// biome-ignore lint/suspicious/noExplicitAny: members of messages are checked where they are used
export type Message = any

/** A refusal with the code of google.rpc.Code. */
export class Refusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const invalid = (message: string): Refusal => new Refusal(3, message)

export const fakeLimits = {
  key: 4096,
  cell: 100 * 1024 * 1024,
  filter: 20_480,
  mutations: 100_000,
  readRequest: 512 * 1024,
} as const

/** Sorted by family, qualifier, and time with the newest first. */
type FakeRow = readonly FakeCell[]

const blockKeys = 512

/** Keys in the order of their bytes, in blocks: one more among very many moves few. */
export class SortedKeys {
  /** Each has a key at least. */
  readonly #blocks: string[][] = []

  add(key: string): void {
    const number = Math.max(0, placeIn(this.#blocks, (block) => (block[0] as string) <= key) - 1)
    const block = this.#blocks[number]
    if (block === undefined) {
      this.#blocks.push([key])
      return
    }
    block.splice(
      placeIn(block, (one) => one < key),
      0,
      key,
    )
    if (block.length > blockKeys) this.#blocks.splice(number + 1, 0, block.splice(blockKeys / 2))
  }

  delete(key: string): void {
    const number = placeIn(this.#blocks, (block) => (block[0] as string) <= key) - 1
    const block = this.#blocks[number] as string[]
    block.splice(block.indexOf(key), 1)
    if (block.length === 0) this.#blocks.splice(number, 1)
  }

  /** The first key that is `key` or comes after it. */
  from(key: string): string | undefined {
    const block = this.#blocks[placeIn(this.#blocks, (one) => (one.at(-1) as string) < key)]
    return block?.[placeIn(block, (one) => one < key)]
  }

  /** The last key before `key`; with none given, the last. */
  before(key: string | undefined): string | undefined {
    if (key === undefined) return this.#blocks.at(-1)?.at(-1)
    const block = this.#blocks[placeIn(this.#blocks, (one) => (one[0] as string) < key) - 1]
    return block?.[placeIn(block, (one) => one < key) - 1]
  }
}

/** How many items at the front of a sorted list are `low`. */
function placeIn<T>(items: readonly T[], isLow: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isLow(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

export class FakeTable {
  readonly families: ReadonlyMap<string, Message>
  readonly #rows = new Map<string, FakeRow>()
  readonly keys = new SortedKeys()

  constructor(families: ReadonlyMap<string, Message>) {
    this.families = families
  }

  /** What is there of a row now, through a filter. */
  read(key: string, filter: Message | undefined): FakeRow {
    const cells = this.#rows.get(key) ?? []
    return filter === undefined || filter === null ? cells : passed(cells, filter)
  }

  /**
   * All mutations, or none of them.
   *
   * @param now - in microseconds: the timestamp of cells that are set at -1
   */
  mutate(key: string, mutations: readonly Message[], now: bigint): void {
    checkKey(key)
    if (mutations.length === 0) throw invalid('No mutations provided')
    let cells = this.#rows.get(key) ?? []
    for (const mutation of mutations) cells = this.#changed(cells, mutation, now)
    const before = this.#rows.has(key)
    if (cells.length === 0) this.#rows.delete(key)
    else this.#rows.set(key, cells)
    if (before && cells.length === 0) this.keys.delete(key)
    if (!before && cells.length > 0) this.keys.add(key)
  }

  #changed(cells: FakeRow, mutation: Message, now: bigint): FakeRow {
    const { setCell, deleteFromColumn, deleteFromFamily, deleteFromRow } = mutation
    if (deleteFromRow) return []
    if (setCell) return this.#set(cells, setCell, now)
    if (deleteFromFamily) {
      this.#checkFamily(deleteFromFamily.familyName)
      return cells.filter(({ family }) => family !== deleteFromFamily.familyName)
    }
    if (!deleteFromColumn) throw invalid('unknown mutation type')
    this.#checkFamily(deleteFromColumn.familyName)
    const inRange = timeTest(deleteFromColumn.timeRange)
    const column = deleteFromColumn.columnQualifier.toString('latin1')
    return cells.filter(
      ({ family, qualifier, micros }) =>
        family !== deleteFromColumn.familyName || qualifier !== column || !inRange(micros),
    )
  }

  #set(cells: FakeRow, setCell: Message, now: bigint): FakeRow {
    const { familyName: family, columnQualifier, timestampMicros, value } = setCell
    const micros: bigint = timestampMicros === -1n ? now - (now % 1000n) : timestampMicros
    this.#checkFamily(family)
    if (micros < 0n || micros % 1000n !== 0n) {
      throw invalid(
        `Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond granularity), but got ${micros}.`,
      )
    }
    if (value.length > fakeLimits.cell) throw invalid(`a cell of ${value.length} bytes`)
    const qualifier = columnQualifier.toString('latin1')
    const others = cells.filter(
      (cell) => cell.family !== family || cell.qualifier !== qualifier || cell.micros !== micros,
    )
    return [...others, { family, qualifier, micros, value: Buffer.from(value) }].sort(inCellOrder)
  }

  #checkFamily(family: string): void {
    if (!this.families.has(family)) throw new Refusal(3, `unknown family "${family}"`)
  }
}

export function checkKey(key: string): void {
  if (key === '') throw invalid('Row keys must be non-empty')
  if (key.length > fakeLimits.key)
    throw invalid(`a row key of ${key.length} bytes is above the limit of ${fakeLimits.key}`)
}

function inCellOrder(a: FakeCell, b: FakeCell): number {
  if (a.family !== b.family) return a.family < b.family ? -1 : 1
  if (a.qualifier !== b.qualifier) return a.qualifier < b.qualifier ? -1 : 1
  return a.micros > b.micros ? -1 : a.micros < b.micros ? 1 : 0
}

/** An end of 0 is no end. */
function timeTest(range: Message | undefined): (micros: bigint) => boolean {
  const start: bigint = range?.startTimestampMicros ?? 0n
  const end: bigint = range?.endTimestampMicros ?? 0n
  return (micros) => micros >= start && (end === 0n || micros < end)
}

function wholeMatch(pattern: string, text: string): boolean {
  return new RegExp(`^(?:${pattern})$`, 's').test(text)
}

function valueTest(range: Message): (value: Buffer) => boolean {
  const { startValueClosed, startValueOpen, endValueClosed, endValueOpen } = range
  const order = (value: Buffer, bound: Buffer): number => Buffer.compare(value, bound)
  return (value) => {
    if (startValueClosed != null && order(value, startValueClosed) < 0) return false
    if (startValueOpen != null && order(value, startValueOpen) <= 0) return false
    if (endValueClosed != null && order(value, endValueClosed) > 0) return false
    return endValueOpen == null || order(value, endValueOpen) < 0
  }
}

/** The cells that pass a filter, in the order of cells. */
function passed(cells: FakeRow, filter: Message): FakeRow {
  const kind = Object.keys(filter).find((name) => filter[name] !== undefined && filter[name] !== null)
  const wanted = kind === undefined ? undefined : filter[kind]
  switch (kind) {
    case 'chain':
      return wanted.filters.reduce((left: FakeRow, one: Message) => passed(left, one), cells)
    case 'interleave':
      return wanted.filters.flatMap((one: Message) => passed(cells, one)).sort(inCellOrder)
    case 'passAllFilter':
      return cells
    case 'blockAllFilter':
      return []
    case 'familyNameRegexFilter':
      return cells.filter(({ family }) => wholeMatch(wanted, family))
    case 'timestampRangeFilter': {
      const inRange = timeTest(wanted)
      return cells.filter(({ micros }) => inRange(micros))
    }
    case 'valueRangeFilter': {
      const inRange = valueTest(wanted)
      return cells.filter(({ value }) => inRange(value))
    }
    case 'cellsPerColumnLimitFilter': {
      const seen = new Map<string, number>()
      return cells.filter(({ family, qualifier }) => {
        const number = (seen.get(`${family}:${qualifier}`) ?? 0) + 1
        seen.set(`${family}:${qualifier}`, number)
        return number <= wanted
      })
    }
    case 'stripValueTransformer':
      return cells.map((cell) => ({ ...cell, value: Buffer.alloc(0) }))
    default:
      throw new Refusal(12, `the fake has no filter ${kind}`)
  }
}
