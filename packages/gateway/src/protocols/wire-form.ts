/**
 * The forms of messages and errors in HTTP bodies, one object for each content type. Handlers take and give protobuf messages:
 *
 *   application/json         {"keys": [ … ]} ─▶ LookupRequest ─▶ handler ─▶ LookupResponse ─▶ {"found": [ … ]}
 *   application/x-protobuf   the bytes of both messages as they are, errors are google.rpc.Status
 */

import { andThen, DatastoreError, giveWay, limits, type MaybePromise } from '@sixtables/engine'
import type { Call } from '../call.ts'
import { wholeBytesMax } from '../convert/pieces.ts'
import type { MethodName } from '../methods.ts'
import { jsonErrorOf, protobufErrorOf, type Status } from './status.ts'

export interface WireForm {
  readonly contentType: string
  /** Decodes the request message. Long work gives way to other calls. */
  request(method: MethodName, body: Buffer, call: Call): MaybePromise<Buffer>
  /** Encodes an answer message. Long work gives way to other calls. */
  answer(method: MethodName, message: Buffer, call: Call): MaybePromise<Buffer | string | readonly Buffer[]>
  error(status: Status): Buffer | string
}

export const protobufForm: WireForm = {
  contentType: 'application/x-protobuf',
  request: (_method, body) => body,
  answer: (_method, message) => message,
  error: protobufErrorOf,
}

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

/** Refuses a message above the API's limit, also if its JSON or compressed body was smaller. */
export function checkMessageSize(message: Buffer): void {
  if (message.length > limits.requestBytesMax) throw tooLarge(message.length, 'the request')
}

export function tooLarge(bytes: number, what: string): DatastoreError {
  return new DatastoreError(
    'RESOURCE_EXHAUSTED',
    `${what} has ${bytes} bytes, at most ${limits.requestBytesMax} are allowed; split the request`,
    { retry: 'never' },
  )
}
