/** `application/json`: messages by the proto3 JSON mapping, errors in the envelope of Google's APIs. */
import { andThen } from '@sixtables/engine'
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

export const jsonForm: WireForm = {
  contentType: 'application/json; charset=UTF-8',
  request: (method, body) => andThen(codec(), (json) => json.requestFromJson(method, body)),
  answer: (method, message) => andThen(codec(), (json) => json.answerToJson(method, message)),
  error: jsonErrorOf,
}
