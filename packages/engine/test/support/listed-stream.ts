/**
 * A row stream over a list of positions, for tests of single operators. It records its use. A caller that breaks the contract
 * of row-stream.ts (two calls at a time, a call after close) gets an error.
 */
import type { PositionedRow, RowStream } from '../../src/executor/row-stream.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'

const noCell = new Uint8Array(0)

export interface ListedStreamOptions {
  readonly late?: boolean
  /** Whether the list descends. */
  readonly reverse?: boolean
}

export class ListedStream implements RowStream {
  /** Rows returned so far. */
  read = 0
  seeks = 0
  closed = false
  readonly #positions: readonly string[]
  readonly #late: boolean
  readonly #reverse: boolean
  #at = 0
  #isOpen = false

  /** @param positions - in result order */
  constructor(positions: readonly string[], { late = false, reverse = false }: ListedStreamOptions = {}) {
    this.#positions = positions
    this.#late = late
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    this.#mustBeFree()
    const rows = this.#positions
      .slice(this.#at, this.#at + count)
      .map((position) => ({ position, cell: noCell, image: undefined }))
    this.#at += rows.length
    this.read += rows.length
    if (!this.#late) return rows
    this.#isOpen = true
    return Promise.resolve().then(() => {
      this.#isOpen = false
      return rows
    })
  }

  seek(position: string): void {
    this.#mustBeFree()
    this.seeks++
    const isBehind = (one: string): boolean => (this.#reverse ? one <= position : one >= position)
    while (this.#at < this.#positions.length && !isBehind(this.#positions[this.#at] as string)) this.#at++
  }

  close(): void {
    this.closed = true
  }

  #mustBeFree(): void {
    if (this.closed) throw new Error('a closed stream is asked')
    if (this.#isOpen) throw new Error('a stream is asked while a promise of it is open')
  }
}

/** All positions of a stream, read in batches of these sizes in turn. */
export async function positionsOf(stream: RowStream, sizes: readonly number[]): Promise<string[]> {
  const positions: string[] = []
  for (let i = 0; ; i++) {
    const wanted = sizes[i % sizes.length] ?? 1
    const rows = await stream.next(wanted)
    if (rows.length > wanted) throw new Error(`${rows.length} rows were given where ${wanted} were asked for`)
    if (rows.length === 0) return positions
    positions.push(...rows.map(({ position }) => position))
  }
}
