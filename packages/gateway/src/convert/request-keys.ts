/** The keys of a request to complete or reserve ids, which may be any number; those of a large request are read in slices. */
import { decodeKeys, type Key, type MaybePromise } from '@sixtables/engine'
import type { Decoder } from '#gen/wire.js'
import type { Call } from '../call.ts'
import type { MethodName } from '../methods.ts'
import type { DatabaseName } from './parameters.ts'
import { cutMessage, forEachPiece, wholeBytesMax } from './pieces.ts'
import { decodeRequest, requestScope } from './request.ts'

export interface ScopedKeys {
  readonly scope: DatabaseName
  readonly keys: readonly Key[]
}

interface KeysMethod {
  readonly name: MethodName
  readonly decoder: Decoder<Parameters<typeof requestScope>[0]>
  /** The number of the field with the keys. */
  readonly field: number
}

export function readKeys(method: KeysMethod, bytes: Buffer, call: Call): MaybePromise<ScopedKeys> {
  if (bytes.length > wholeBytesMax) return inPieces(method, bytes, call)
  const scope = requestScope(decodeRequest(method.decoder, bytes, method.name), call)
  return { scope, keys: decodeKeys(bytes, method.field, scope) }
}

async function inPieces({ name, decoder, field }: KeysMethod, bytes: Buffer, call: Call): Promise<ScopedKeys> {
  const { rest, pieces } = await cutMessage(call, bytes, field)
  const scope = requestScope(decodeRequest(decoder, rest, name), call)
  return { scope, keys: await keysOfPieces(call, pieces, field, scope) }
}

/** The keys of a large lookup, whose other fields are read already. */
export async function keysInPieces(call: Call, bytes: Buffer, field: number, scope: DatabaseName): Promise<Key[]> {
  const { pieces } = await cutMessage(call, bytes, field)
  return keysOfPieces(call, pieces, field, scope)
}

async function keysOfPieces(call: Call, pieces: readonly Buffer[], field: number, scope: DatabaseName): Promise<Key[]> {
  const keys: Key[] = []
  await forEachPiece(call, pieces, (piece) => {
    for (const key of decodeKeys(piece, field, scope)) keys.push(key)
  })
  return keys
}
