/**
 * A decoder from the chunks of a ReadRows answer to rows. (Known: the comments of google/bigtable/v2/bigtable.proto.)
 *
 * A chunk is a cell or a piece of one. A chunk whose row key, family or qualifier is that of the chunk before it leaves it out.
 * Two cells of row `E/ToDo`, the second cut in two:
 *
 *   { rowKey E/ToDo, family d, value "a" }   { family x, value "lo", valueSize 4 }   { value "ng", commitRow }
 *
 * A `value_size` above 0 means that the cell continues in the next chunk; `reset_row` discards the row's chunks so far. A row is given
 * out after its `commit_row`, the same however it is cut (read-rows.test.ts). Chunks in an order that no Bigtable sends are an error.
 */
import { google, type Int64, type ReadRowsResponse, type ReadRowsResponseCellChunk } from '#gen/codecs.js'
import { CallError, grpcCodes } from './call-error.ts'

/** A cell as Bigtable has it; its time in microseconds. */
export interface ReadCell {
  readonly family: string
  readonly micros: bigint
  readonly value: Uint8Array
}

export interface ReadRow {
  readonly key: string
  readonly cells: readonly ReadCell[]
}

interface CellInProgress {
  readonly family: string
  readonly micros: bigint
  readonly pieces: Uint8Array[]
}

function isEmpty(bytes: Uint8Array): boolean {
  return bytes.length === 0
}

function wrong(message: string): CallError {
  return new CallError(grpcCodes.INTERNAL, `ReadRows answered chunks that make no rows: ${message}`)
}

/** Row keys are strings of one character (U+0000–U+00FF) a byte inside, and bytes on the wire. */
export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'latin1')
}

function keyOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

export function bigintOf({ low, high }: Int64): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

export class ChunkReader {
  readonly #onRow: (row: ReadRow) => void
  readonly #reversed: boolean
  /** The last key of the answer so far; the row of that key may be absent. */
  lastKey: string | undefined
  #key: string | undefined
  #family: string | undefined
  #cells: ReadCell[] = []
  #cell: CellInProgress | undefined

  /** @param after - the key of the row before the first */
  constructor(onRow: (row: ReadRow) => void, reversed: boolean, after?: string) {
    this.#onRow = onRow
    this.#reversed = reversed
    this.lastKey = after
  }

  message(bytes: Uint8Array): void {
    const response: ReadRowsResponse = google.bigtable.v2.ReadRowsResponse.decode(bytes)
    for (const chunk of response.chunks) this.#chunk(chunk)
    if (isEmpty(response.lastScannedRowKey)) return
    if (this.#key !== undefined) throw wrong('the last scanned key came within a row')
    this.lastKey = this.#inOrder(keyOf(response.lastScannedRowKey))
  }

  /** @throws if the answer ended within a row */
  end(): void {
    if (this.#key !== undefined) throw wrong('the answer ends within a row')
  }

  #chunk(chunk: ReadRowsResponseCellChunk): void {
    if (chunk.resetRow === true) this.#reset(chunk)
    else {
      if (this.#cell !== undefined) this.#goOn(chunk, this.#cell)
      else this.#begin(chunk)
      if (chunk.commitRow === true) this.#commit()
    }
  }

  #reset(chunk: ReadRowsResponseCellChunk): void {
    if (this.#key === undefined) throw wrong('a reset outside a row')
    if (!isEmpty(chunk.rowKey) || chunk.familyName !== null || chunk.qualifier !== null || !isEmpty(chunk.value)) {
      throw wrong('a reset with data')
    }
    this.#key = undefined
    this.#cell = undefined
    this.#cells = []
  }

  #begin(chunk: ReadRowsResponseCellChunk): void {
    if (this.#key === undefined) {
      if (isEmpty(chunk.rowKey)) throw wrong('a row begins without its key')
      if (chunk.familyName === null || chunk.qualifier === null) throw wrong('a row begins without family or qualifier')
      this.#key = this.#inOrder(keyOf(chunk.rowKey))
    } else if (!isEmpty(chunk.rowKey) && keyOf(chunk.rowKey) !== this.#key) {
      throw wrong('a row begins before the one before it was committed')
    }
    if (chunk.familyName !== null) {
      if (chunk.qualifier === null) throw wrong('a family without a qualifier')
      this.#family = chunk.familyName.value
    }
    const family = this.#family
    if (family === undefined) throw wrong('a cell without a family')
    this.#value({ family, micros: bigintOf(chunk.timestampMicros), pieces: [] }, chunk)
  }

  #goOn(chunk: ReadRowsResponseCellChunk, cell: CellInProgress): void {
    if (!isEmpty(chunk.rowKey) || chunk.familyName !== null || chunk.qualifier !== null) {
      throw wrong('another cell begins within a value')
    }
    this.#value(cell, chunk)
  }

  #value(cell: CellInProgress, chunk: ReadRowsResponseCellChunk): void {
    const { family, micros, pieces } = cell
    pieces.push(chunk.value)
    const isCut = chunk.valueSize > 0
    if (isCut && chunk.commitRow === true) throw wrong('a row is committed within a value')
    this.#cell = isCut ? cell : undefined
    if (!isCut) this.#cells.push({ family, micros, value: joined(pieces) })
  }

  #commit(): void {
    const key = this.#key
    if (key === undefined) throw wrong('a commit outside a row')
    const cells = this.#cells
    this.#key = undefined
    this.#family = undefined
    this.#cells = []
    this.lastKey = key
    this.#onRow({ key, cells })
  }

  #inOrder(key: string): string {
    const last = this.lastKey
    if (last !== undefined && (this.#reversed ? key >= last : key <= last)) throw wrong('row keys out of order')
    return key
  }
}

/** The pieces as a plain Uint8Array, whose `slice` copies; that of a Buffer shares its bytes. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces
  const all = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  return new Uint8Array(all.buffer, all.byteOffset, all.length)
}
