/**
 * Reads the parts of a row key one after the other, from behind the byte of its key space on:
 *
 *   A text("p") text("") text("") text("ToDo") text("owner") "ada" path(ToDo:1)     EntitiesByPropertyAsc
 *     partition()                 text()       text()        value() lastPath()
 *
 * Malformed bytes throw InvariantError.
 */
import { invariant } from '../invariant.ts'
import type { DatabaseName, PartitionId, PathElement } from '../model/key.ts'
import { invert } from './bytes.ts'
import { decodePartition, decodePath, skipPath } from './key-codec.ts'
import { decodeInt64, decodeText, decodeUint64 } from './ordered.ts'
import { skipValue } from './value-codec.ts'

export class RowReader {
  readonly #row: string
  at: number

  constructor(row: string, at = 1) {
    this.#row = row
    this.at = at
  }

  /** The next byte; NaN at the end. */
  get byte(): number {
    return this.#row.charCodeAt(this.at)
  }

  get isAtEnd(): boolean {
    return this.at === this.#row.length
  }

  text(): string {
    return this.#taken(decodeText(this.#row, this.at))
  }

  texts(): string[] {
    const texts: string[] = []
    while (!this.isAtEnd) texts.push(this.text())
    return texts
  }

  database(): DatabaseName {
    return { projectId: this.text(), databaseId: this.text() }
  }

  partition(): PartitionId {
    return this.#taken(decodePartition(this.#row, this.at))
  }

  int64(): bigint {
    return this.#taken({ value: decodeInt64(this.#row, this.at), next: this.at + 8 })
  }

  uint64(): bigint {
    return this.#taken({ value: decodeUint64(this.#row, this.at), next: this.at + 8 })
  }

  path(isInverted = false): PathElement[] {
    if (isInverted) {
      const next = skipPath(this.#row, this.at, true)
      return this.#taken({ value: decodePath(invert(this.#row.slice(this.at, next)), 0).path, next })
    }
    const { path, next } = decodePath(this.#row, this.at)
    return this.#taken({ value: path, next })
  }

  lastPath(isInverted?: boolean): PathElement[] {
    const path = this.path(isInverted)
    this.end()
    return path
  }

  /** A value code, in ascending form. */
  value(isInverted: boolean): string {
    const next = skipValue(this.#row, this.at, isInverted)
    invariant(next <= this.#row.length, 'a value goes beyond the end')
    const code = this.#row.slice(this.at, next)
    return this.#taken({ value: isInverted ? invert(code) : code, next })
  }

  end(): void {
    invariant(this.isAtEnd, `bytes left after byte ${this.at}`)
  }

  #taken<T>({ value, next }: { readonly value: T; readonly next: number }): T {
    this.at = next
    return value
  }
}
