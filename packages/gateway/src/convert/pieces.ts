/**
 * A large request in pieces, so that it can be decoded in slices. A piece is a run of elements of its one long list, as a message of the same
 * type; the rest is a message, too. A message with a list of four elements in field 6:
 *
 *   1: a  6: m  6: m  6: m  6: m  3: b        ─▶  rest 1: a  3: b      pieces 6: m 6: m │ 6: m 6: m
 *
 * B1  Pieces and rest together are the fields of the message, each list in its order. Bytes that are not fields are the last
 *     piece, so that the decoder reports them.                                                    pieces.test.ts
 *
 * Known: the wire format; a message may be cut between any two fields.
 */
import { giveWay, type MaybePromise, type RequestContext } from '@sixtables/engine'
import { type Answer, answerHeadBytes, messageOf } from '../call.ts'
import { wholeFieldsOf } from './wire-fields.ts'

export const wholeBytesMax: number = 64 * 1024
/** A piece ends with the element that makes it at least this long. */
const pieceBytes = 16 * 1024
/** Work of a piece in rows that are read: one slice. */
const workOfPiece = 1024

export interface Pieces {
  readonly rest: Buffer
  readonly pieces: readonly Buffer[]
}

export async function cutMessage(context: RequestContext, bytes: Buffer, list: number): Promise<Pieces> {
  const rest: Buffer[] = []
  const pieces: Buffer[] = []
  let start = 0
  let at = 0
  let isList = false
  const end = (to: number): void => {
    if (to > start) (isList ? pieces : rest).push(bytes.subarray(start, to))
    start = to
  }
  for (const { number, bytes: field } of wholeFieldsOf(bytes)) {
    const isNext = number === list
    if (isNext !== isList || at - start >= pieceBytes) {
      end(at)
      await giveWay(context, workOfPiece)
    }
    isList = isNext
    at += field.length
  }
  end(at)
  if (at < bytes.length) pieces.push(bytes.subarray(at))
  return { rest: Buffer.concat(rest), pieces }
}

/** Runs `step` for each piece, and gives way in between. */
export async function forEachPiece(
  context: RequestContext,
  pieces: readonly Buffer[],
  step: (piece: Buffer) => MaybePromise<void>,
): Promise<void> {
  for (const piece of pieces) {
    await step(piece)
    await giveWay(context, workOfPiece)
  }
}

/** Elements of a long answer that are written at a time, and the work of writing them. */
const elementsAtOnce = 500
const workOfElements = 2000

/** An answer with a list; a long one is joined from messages with some elements each, of which only the last has other fields. */
export function writeInPieces<T>(
  context: RequestContext,
  list: readonly T[],
  write: (part: readonly T[], isLast: boolean) => Answer,
): MaybePromise<Answer> {
  return list.length <= elementsAtOnce ? write(list, true) : joinedPieces(context, list, write)
}

async function joinedPieces<T>(
  context: RequestContext,
  list: readonly T[],
  write: (part: readonly T[], isLast: boolean) => Answer,
): Promise<Answer> {
  const pieces: Buffer[] = [Buffer.alloc(answerHeadBytes)]
  for (let end = 0; end < list.length; ) {
    const start = end
    end = Math.min(start + elementsAtOnce, list.length)
    pieces.push(messageOf(write(list.slice(start, end), end === list.length)))
    await giveWay(context, workOfElements)
  }
  return Buffer.concat(pieces)
}
