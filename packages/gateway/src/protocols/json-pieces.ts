/**
 * A large JSON body in pieces, so that it can be read in slices. The elements of its one long list are spread over several
 * bodies:
 *
 *   {"mode": 2, "mutations": [a, b, c, d]}   ─▶  {"mode": 2, "mutations": []}   {"mutations":[a, b]}   {"mutations":[c, d]}
 *
 * Their encoded messages, one after the other, are the message of the whole: a protobuf decoder appends lists, and all other fields are in
 * the first piece only.
 *
 * J1  A body is accepted in pieces exactly if it is as a whole, with the same message. One of an unusual form is not cut.
 *                                                                                                    json-pieces.test.ts
 */
import { giveWay } from '@sixtables/engine'
import type { Call } from '../call.ts'
import { closeList, closeObject, comma, depthMax, endOfString, openList, openObject, quote } from './json-scan.ts'

/** A piece ends with the element that makes it at least this long. */
const pieceBytes = 16 * 1024
/** Bytes that are scanned between two chances for other calls. */
const bytesPerLook = 128 * 1024
const workPerLook = 1024

/** The bodies, the first without elements; `undefined` for one that should not be cut. */
export async function cutJson(call: Call, body: Buffer, list: string): Promise<readonly Buffer[] | undefined> {
  const scan = new ListScan(body, list)
  while (scan.go(bytesPerLook)) await giveWay(call, workPerLook)
  return scan.bodies()
}

class ListScan {
  readonly #body: Buffer
  readonly #list: Buffer
  #at = 0
  #depth = 0
  /** The latest string at the top level: the name of the member, if a list follows. */
  #name: Buffer | undefined
  #isInList = false
  #listStart = -1
  #listEnd = -1
  readonly #pieces: Buffer[] = []
  #pieceStart = 0
  #isUnusual = false

  constructor(body: Buffer, list: string) {
    this.#body = body
    this.#list = Buffer.from(list)
  }

  /** Scans so many bytes. @returns whether there are more */
  go(bytes: number): boolean {
    const body = this.#body
    const end = Math.min(this.#at + bytes, body.length)
    while (this.#at < end && !this.#isUnusual) {
      const byte = body[this.#at] as number
      if (byte === quote) this.#string()
      else if (byte === comma) this.#comma()
      else if (byte === openList || byte === openObject) this.#open(byte)
      else if (byte === closeList || byte === closeObject) this.#close(byte)
      this.#at++
    }
    return this.#at < body.length && !this.#isUnusual
  }

  bodies(): readonly Buffer[] | undefined {
    if (this.#isUnusual || this.#listEnd < 0 || this.#pieces.length < 2) return undefined
    // A comma without an element after it: JSON.parse() refuses the whole.
    if (this.#pieces.at(-1)?.toString('latin1').trim() === '') return undefined
    const head = Buffer.from(`{"${this.#list}":[`)
    const tail = Buffer.from(']}')
    const rest = Buffer.concat([this.#body.subarray(0, this.#listStart), this.#body.subarray(this.#listEnd)])
    return [rest, ...this.#pieces.map((piece) => Buffer.concat([head, piece, tail]))]
  }

  #string(): void {
    const body = this.#body
    const start = this.#at + 1
    const end = endOfString(body, this.#at)
    if (end === body.length) this.#isUnusual = true
    if (this.#depth === 1) this.#name = body.subarray(start, end)
    this.#at = end
  }

  #comma(): void {
    if (!this.#isInList || this.#depth !== 2 || this.#at - this.#pieceStart < pieceBytes) return
    this.#endPiece()
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#isUnusual = byte === openList || this.#at > 0
    else if (this.#depth === 1 && byte === openList && this.#name?.equals(this.#list) === true) {
      this.#isUnusual = this.#listStart >= 0
      this.#isInList = true
      this.#listStart = this.#at + 1
      this.#pieceStart = this.#at + 1
    }
    if (++this.#depth > depthMax) this.#isUnusual = true
  }

  #close(byte: number): void {
    this.#depth--
    if (!this.#isInList || this.#depth !== 1) return
    if (byte === closeObject) this.#isUnusual = true
    this.#endPiece()
    this.#listEnd = this.#at
    this.#isInList = false
  }

  #endPiece(): void {
    this.#pieces.push(this.#body.subarray(this.#pieceStart, this.#at))
    this.#pieceStart = this.#at + 1
  }
}
