/**
 * The forms of messages and errors in HTTP bodies, one object for each content type. Handlers take and give protobuf messages:
 *
 *   application/json         {"keys": [ … ]} ─▶ LookupRequest ─▶ handler ─▶ LookupResponse ─▶ {"found": [ … ]}
 *   application/x-protobuf   the bytes of both messages as they are, errors are google.rpc.Status
 */

import { andThen, DatastoreError, giveWay, limits, type MaybePromise, type RequestContext } from '@sixtables/engine'
import type { MethodName } from '../methods.ts'
import type { ConversionTask } from './json-threads.ts'
import { jsonErrorOf, protobufErrorOf, type Status } from './status.ts'

export interface WireForm {
  readonly contentType: string
  /** Decodes the request message. Long work gives way to other calls. */
  request(method: MethodName, body: Buffer, context: RequestContext): MaybePromise<Buffer>
  /** Encodes an answer message. Long work gives way to other calls. */
  answer(method: MethodName, message: Buffer, context: RequestContext): MaybePromise<Buffer | string>
  /** @param httpStatus - default: that of the code */
  error(status: Status, httpStatus?: number): Buffer | string
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
const threads = lazily(() => import('./json-threads.ts'))

/**
 * This many bytes take as long as reading a row. Bodies and answers above 16 KiB therefore wait for a turn of the event loop without
 * other long work.
 */
const bytesOfWork = 4

/** Longer ones are converted in a thread. These take some 5 ms: the JSON of an answer is several times as long as its message. */
const bodyBytesMaxHere = 128 * 1024
const answerBytesMaxHere = 64 * 1024

/** @param here - the conversion without a thread. @param bytesMaxHere - longer messages are converted in a thread, where there are threads */
function convert<T>(
  task: ConversionTask,
  here: (json: typeof import('./json-codec.ts')) => T,
  bytesMaxHere: number,
  context: RequestContext,
): MaybePromise<T | Buffer> {
  const { length } = task.bytes
  const inTurn = (): MaybePromise<T> =>
    andThen(codec(), (json) => andThen(giveWay(context, length / bytesOfWork), () => here(json)))
  if (length <= bytesMaxHere) return inTurn()
  return andThen(
    threads(),
    ({ convertInThread }): MaybePromise<T | Buffer> => convertInThread?.(task, context) ?? inTurn(),
  )
}

export const jsonForm: WireForm = {
  contentType: 'application/json; charset=UTF-8',
  request(method, bytes, context) {
    const task = { conversion: 'requestFromJson', method, bytes } as const
    return convert(task, (json) => json.requestFromJson(method, bytes), bodyBytesMaxHere, context)
  },
  answer(method, bytes, context) {
    const task = { conversion: 'answerToJson', method, bytes } as const
    return convert(task, (json) => json.answerToJson(method, bytes), answerBytesMaxHere, context)
  },
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
