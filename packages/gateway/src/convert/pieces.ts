/**
 * A large request message in pieces, so that it can be decoded in slices: each piece is a run of elements of its one long list,
 * as a message of the same type; what is left is a message, too.
 *
 *   1: a  6: m  6: m  6: m  6: m  3: b        ─▶  rest 1: a  3: b      pieces 6: m 6: m │ 6: m 6: m
 *
 * B1  Pieces and rest together are the fields of the message, each list in its order. Bytes that are no fields are the last
 *     piece: the decoder says what is wrong with them.                                                    pieces.test.ts
 *
 * Known: the wire format; a message may be cut between any of its fields.
 */
import { giveWay, type MaybePromise } from '@sixtables/engine'
import type { Call } from '../call.ts'

/** Larger requests are read in pieces. */
export const wholeBytesMax: number = 64 * 1024
/** A piece ends with the first element that makes it as long. */
const pieceBytes = 16 * 1024
/** The same slice as for rows that are read. */
const workOfPiece = 1024

export interface Pieces {
  readonly rest: Buffer
  readonly pieces: readonly Buffer[]
}

/** Cuts a message along the fields with the number `list`. */
export async function cutMessage(call: Call, bytes: Buffer, list: number): Promise<Pieces> {
  const rest: Buffer[] = []
  const pieces: Buffer[] = []
  let start = 0
  let at = 0
  let isList = false
  const end = (to: number): void => {
    if (to > start) (isList ? pieces : rest).push(bytes.subarray(start, to))
    start = to
  }
  while (at < bytes.length) {
    const field = fieldAt(bytes, at)
    if (field === undefined) {
      end(at)
      pieces.push(bytes.subarray(at))
      return { rest: Buffer.concat(rest), pieces }
    }
    const isNext = field.number === list
    if (isNext !== isList || at - start >= pieceBytes) {
      end(at)
      await giveWay(call, workOfPiece)
    }
    isList = isNext
    at = field.end
  }
  end(at)
  return { rest: Buffer.concat(rest), pieces }
}

interface Field {
  readonly number: number
  readonly end: number
}

/** The field that begins at `at`; `undefined` for what is none. */
function fieldAt(bytes: Buffer, at: number): Field | undefined {
  const tag = varintAt(bytes, at)
  if (tag === undefined) return undefined
  const number = tag.value >>> 3
  const end = endOf(bytes, tag.end, tag.value & 7)
  return end === undefined || end > bytes.length || number === 0 ? undefined : { number, end }
}

function endOf(bytes: Buffer, at: number, wire: number): number | undefined {
  switch (wire) {
    case 0:
      return varintAt(bytes, at)?.end
    case 1:
      return at + 8
    case 2: {
      const length = varintAt(bytes, at)
      return length === undefined ? undefined : length.end + length.value
    }
    case 5:
      return at + 4
    default:
      return undefined
  }
}

function varintAt(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let i = 0; i < 10; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) return undefined
    if (i < 5) value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { value, end: at + i + 1 }
  }
  return undefined
}

/** Runs `step` for each piece, and gives way in between. */
export async function forEachPiece(
  call: Call,
  pieces: readonly Buffer[],
  step: (piece: Buffer) => MaybePromise<void>,
): Promise<void> {
  for (const piece of pieces) {
    await step(piece)
    await giveWay(call, workOfPiece)
  }
}
