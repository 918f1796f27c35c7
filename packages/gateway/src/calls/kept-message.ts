/**
 * A message of the data API as the recorder keeps it. A long one loses most elements of its list, and remains a message of its type of
 * at most {@link keptBytesMax} bytes, or with one element if that is larger:
 *
 *   CommitRequest { project_id, mutations × 500 }  3 MiB   ─▶   CommitRequest { project_id, mutations × 9 }  64 KiB, 9 of 500
 *
 * Known: the wire format, and field numbers of google/datastore/v1/datastore.proto.
 */
import { contentOf, fieldsOf, headOf } from '../convert/wire-fields.ts'

export interface KeptMessage {
  readonly bytes: Buffer
  readonly size: number
  /** Number of elements kept and of all; absent if none was lost. */
  readonly cut?: { readonly kept: number; readonly of: number }
}

export const keptBytesMax: number = 64 * 1024
const otherBytes = 4096

/** Field numbers of the path to the long lists of a message, one level after the other. */
type ListPath = readonly (readonly number[])[]

const lists: Readonly<Record<string, { readonly request?: ListPath; readonly answer?: ListPath }>> = {
  Lookup: { request: [[3]], answer: [[1, 2, 3]] },
  RunQuery: { answer: [[1], [2]] },
  Commit: { request: [[6]], answer: [[3]] },
  AllocateIds: { request: [[1]], answer: [[1]] },
  ReserveIds: { request: [[1]] },
}

/** @param method - the protocol's name of the RPC: `Lookup` */
export function keptMessage(method: string, side: 'request' | 'answer', message: Uint8Array): KeptMessage {
  const size = message.length
  // A copy in memory of its own: a part of Node's pool would keep its neighbours.
  if (size <= keptBytesMax) return { bytes: Buffer.from(new Uint8Array(message).buffer), size }
  const counts = { kept: 0, of: 0, bytes: 0 }
  try {
    const bytes = Buffer.concat(cutParts(message, lists[method]?.[side] ?? [], counts))
    return bytes.length === size ? { bytes, size } : { bytes, size, cut: { kept: counts.kept, of: counts.of } }
  } catch {
    // These bytes are no message, so nothing can be kept.
    return { bytes: Buffer.alloc(0), size, cut: { kept: 0, of: 0 } }
  }
}

function cutParts(
  message: Uint8Array,
  [numbers = [], ...inside]: ListPath,
  counts: { kept: number; of: number; bytes: number },
): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (const { number, bytes: field } of fieldsOf(message)) {
    if (!numbers.includes(number)) {
      if (counts.bytes + field.length <= keptBytesMax) {
        parts.push(field)
        counts.bytes += field.length
      }
    } else if (inside.length > 0) {
      const inner = Buffer.concat(cutParts(contentOf(field), inside, counts))
      parts.push(headOf(number, inner.length), inner)
    } else {
      counts.of++
      const isKept = counts.kept === 0 || counts.bytes + field.length <= keptBytesMax - otherBytes
      if (!isKept) continue
      counts.kept++
      counts.bytes += field.length
      parts.push(field)
    }
  }
  return parts
}
