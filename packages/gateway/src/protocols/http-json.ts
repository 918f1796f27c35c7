/** `application/json`: messages by the proto3 JSON mapping, errors in the envelope of Google's APIs. */
import { andThen, giveWay } from '@sixtables/engine'
import { jsonErrorOf } from './status.ts'
import type { WireForm } from './wire-form.ts'

type Codec = typeof import('./json-codec.ts')

let loaded: Codec | Promise<Codec> | undefined

/** The codec, loaded by the first call. */
function codec(): Codec | Promise<Codec> {
  loaded ??= import('./json-codec.ts').then((module) => {
    loaded = module
    return module
  })
  return loaded
}

/**
 * So many bytes take as long as a row that is read: bodies and answers above 16 KiB always wait for a turn of the event loop,
 * in which no other long work goes on.
 */
const bytesOfWork = 4

export const jsonForm: WireForm = {
  contentType: 'application/json; charset=UTF-8',
  request: (method, body, call) =>
    andThen(giveWay(call, body.length / bytesOfWork), () =>
      andThen(codec(), (json) => json.requestFromJson(method, body)),
    ),
  answer: (method, message, call) =>
    andThen(giveWay(call, message.length / bytesOfWork), () =>
      andThen(codec(), (json) => json.answerToJson(method, message)),
    ),
  error: jsonErrorOf,
}
