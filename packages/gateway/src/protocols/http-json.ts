/** `application/json`: messages by the proto3 JSON mapping, errors in the envelope of Google's APIs. */

import { andThen, giveWay, type MaybePromise } from '@sixtables/engine'
import { wholeBytesMax } from '../convert/pieces.ts'
import { jsonErrorOf } from './status.ts'
import type { WireForm } from './wire-form.ts'

/** A module that the first call loads. */
function lazily<T extends object>(load: () => Promise<T>): () => MaybePromise<T> {
  let loaded: MaybePromise<T> | undefined
  return () => {
    loaded ??= load().then((module) => {
      loaded = module
      return module
    })
    return loaded
  }
}

/** Loads the codec: a transport that may wait for its first call loads it before. */
export const codec: () => MaybePromise<typeof import('./json-codec.ts')> = lazily(() => import('./json-codec.ts'))
const large = lazily(() => import('./json-large.ts'))

/**
 * This many bytes take as long as reading a row. Bodies and answers above 16 KiB therefore wait for a turn of the event loop without
 * other long work.
 */
const bytesOfWork = 4

/** Longer answers are printed in pieces. */
const wholeAnswerBytesMax = 16 * 1024

export const jsonForm: WireForm = {
  contentType: 'application/json; charset=UTF-8',
  request: (method, body, call) =>
    body.length > wholeBytesMax
      ? andThen(large(), (json) => json.largeRequestFromJson(call, method, body))
      : andThen(codec(), (json) =>
          andThen(giveWay(call, body.length / bytesOfWork), () => json.requestFromJson(method, body)),
        ),
  answer: (method, message, call) =>
    andThen(giveWay(call, message.length / bytesOfWork), () =>
      message.length > wholeAnswerBytesMax
        ? andThen(large(), (json) => json.longAnswerToJson(method, message, call))
        : andThen(codec(), (json) => json.answerToJson(method, message)),
    ),
  error: jsonErrorOf,
}
