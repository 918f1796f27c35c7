/** `application/json`: messages by the proto3 JSON mapping, errors in the envelope of Google's APIs. */

import { andThen, giveWay } from '@sixtables/engine'
import type { Call } from '../call.ts'
import { wholeBytesMax } from '../convert/pieces.ts'
import type { MethodName } from '../methods.ts'
import { cutJson } from './json-pieces.ts'
import { jsonErrorOf } from './status.ts'
import type { WireForm } from './wire-form.ts'

type Codec = typeof import('./json-codec.ts')

let loaded: Codec | Promise<Codec> | undefined

/** The codec; the first call loads it. */
function codec(): Codec | Promise<Codec> {
  loaded ??= import('./json-codec.ts').then((module) => {
    loaded = module
    return module
  })
  return loaded
}

/**
 * This many bytes take as long as reading a row. Bodies and answers above 16 KiB therefore wait for a turn of the event loop without
 * other long work.
 */
const bytesOfWork = 4

/** Longer answers are printed in pieces. */
const wholeAnswerBytesMax = 16 * 1024

/** The lists without a limit on their length. All others are checked before they are read. */
const lists: Partial<Record<MethodName, string>> = { Commit: 'mutations', AllocateIds: 'keys', ReserveIds: 'keys' }

async function requestInPieces(
  json: Codec,
  method: MethodName,
  body: Buffer,
  list: string,
  call: Call,
): Promise<Buffer> {
  const bodies = await cutJson(call, body, list)
  const messages: Buffer[] = []
  for (const piece of bodies ?? [body]) {
    await giveWay(call, piece.length / bytesOfWork)
    messages.push(json.requestFromJson(method, piece))
  }
  return Buffer.concat(messages)
}

export const jsonForm: WireForm = {
  contentType: 'application/json; charset=UTF-8',
  request: (method, body, call) =>
    andThen(codec(), (json) => {
      const list = body.length > wholeBytesMax ? lists[method] : undefined
      if (list !== undefined) return requestInPieces(json, method, body, list, call)
      return andThen(giveWay(call, body.length / bytesOfWork), () => json.requestFromJson(method, body))
    }),
  answer: (method, message, call) =>
    andThen(giveWay(call, message.length / bytesOfWork), () =>
      andThen(codec(), (json) =>
        message.length <= wholeAnswerBytesMax
          ? json.answerToJson(method, message)
          : json.longAnswerToJson(method, message, call),
      ),
    ),
  error: jsonErrorOf,
}
