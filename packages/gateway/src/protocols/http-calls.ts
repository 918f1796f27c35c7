/**
 * HTTP calls, whatever brings them: a request with its headers and body ─▶ an answer as a whole, or in pieces. No sockets and no Node here, so
 * that a page in a browser can be the other transport.
 *
 *   POST /v1/projects/{project}:{method}     application/json, application/x-protobuf: answered in the same type
 *   other paths                              router.ts
 *   unknown path, or wrong verb              404; below /v1/ as an error of the API, elsewhere as plain text
 *
 * A transport decides who may call, reads bodies, and sends answers: http.ts is the one over Node's sockets.
 *
 * Measured: paths, types and status codes on both of Google's emulators, whose 404 is a plain text everywhere.
 */
import { limits, notFound, type Scheduler, turnOfItsOwn } from '@sixtables/engine'
import { nearest } from '@sixtables/engine/did-you-mean'
import { Call, type Handlers, messageOf, watcherHeader } from '../call.ts'
import type { Calls } from '../calls/calls.ts'
import { reportBody } from '../convert/json-steps.ts'
import type { Logger } from '../logger.ts'
import { type MethodName, methodNames } from '../methods.ts'
import type { FairQueue } from './fair-queue.ts'
import type { Headers, RouteAnswer, Router } from './router.ts'
import { httpStatuses, type Status, statusOf } from './status.ts'
import { checkMessageSize, jsonForm, protobufForm, type WireForm } from './wire-form.ts'

export const textType = 'text/plain; charset=UTF-8'

/** A larger body is answered 413. Measured: both of Google's emulators do so somewhere above 10.6 MB. */
export const bodyBytesMax: number = 2 * limits.requestBytesMax

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
  readonly code = 'RESOURCE_EXHAUSTED'

  constructor() {
    super(
      `the request body is larger than ${bodyBytesMax} bytes, the limit before and after decompression; split the request`,
    )
  }
}

/** The client went away before its body was complete. */
export class BodyAborted extends Error {
  override readonly name = 'BodyAborted'
  readonly code = 'CANCELLED'
  override readonly message = 'the client is gone'
}

export interface HttpRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Headers
  /** Identifies the client in the queue of calls. */
  readonly connection: object
  /** The whole body, decompressed; not called if it is not wanted. @throws BodyTooLarge, BodyAborted */
  readBody(): Promise<Buffer>
  /** Cancels the call if the client goes away before it has the answer. */
  serve(call: Call): void
}

export interface WholeAnswer {
  readonly status: number
  readonly contentType: string
  /** Further headers, besides type and length. */
  readonly headers?: Readonly<Record<string, string>>
  /** A list is sent piece by piece. */
  readonly body: Buffer | string | readonly Buffer[]
  /** Whether it may wait for other answers of its turn, to be sent with them. */
  readonly canWait?: boolean
}

/** An answer that is sent while it is made, status 200. Before the first piece its errors are answered by {@link HttpCalls.refusal}. */
export interface StreamAnswer {
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  pieces(signal: AbortSignal): AsyncIterable<Buffer | string>
  /** Whether it waits for its reader for ever. Events do not. */
  readonly isPatient: boolean
}

export type HttpAnswer = WholeAnswer | StreamAnswer

export interface Serving {
  readonly handlers: Handlers
  readonly clock: Scheduler
  readonly logger: Logger
  readonly queue: FairQueue
  readonly calls: Calls
}

export interface HttpCallsOptions extends Serving {
  readonly router: Router
}

const methods: Readonly<Record<string, MethodName>> = methodNames

export class HttpCalls {
  readonly #options: HttpCallsOptions
  /** The path and target of the last data call: a client sends mostly the same path. */
  #path = ''
  #target: DataTarget | undefined

  constructor(options: HttpCallsOptions) {
    this.#options = options
  }

  /** Serves a request. @throws BodyTooLarge, BodyAborted; other errors are answers */
  exchange(request: HttpRequest): Promise<HttpAnswer> {
    const [path = '', query = ''] = split(request.url)
    const target = request.method === 'POST' ? this.#targetOf(path) : undefined
    return target === undefined ? this.#serveRoute(request, path, query) : this.#serveData(request, target)
  }

  #targetOf(path: string): DataTarget | undefined {
    if (path !== this.#path) [this.#path, this.#target] = [path, dataTarget(path)]
    return this.#target
  }

  refusal(error: unknown): WholeAnswer {
    return errorAnswer(statusOf(error, this.#options.logger), jsonForm)
  }

  async #serveData(request: HttpRequest, target: DataTarget): Promise<HttpAnswer> {
    const found = one(request.headers['content-type'])
    const form = formOf(found)
    if (form === undefined) {
      const message = `content type ${found} is not served: use application/json or application/x-protobuf; with curl, -H 'content-type: application/json'`
      return errorAnswer({ code: 'INVALID_ARGUMENT', message }, jsonForm, 415)
    }
    const { clock, handlers, logger, queue, calls } = this.#options
    const { method } = target
    const protocol = form === jsonForm ? 'json' : 'protobuf'
    const isUncounted = request.headers[watcherHeader] === '1'
    const call = new Call({ clock, pathProjectId: target.projectId, isUncounted })
    if (calls.any) calls.begin(call)
    request.serve(call)
    try {
      const read = form.request(method, await request.readBody(), call)
      const message = read instanceof Promise ? await read : read
      checkMessageSize(message)
      const given = queue.isFree(request.connection)
        ? handlers[method](message, call)
        : queue.wait(request.connection, call, () => handlers[method](message, call))
      const answer = given instanceof Promise ? await given : given
      const printed = form.answer(method, messageOf(answer), call)
      const body = printed instanceof Promise ? await printed : printed
      if (call.beganAtMs !== undefined) calls.end(call, { method, protocol, code: 'OK' })
      return { status: 200, contentType: form.contentType, body, canWait: true }
    } catch (error) {
      if (error instanceof BodyTooLarge || error instanceof BodyAborted) {
        calls.end(call, { method, protocol, code: error.code, message: error.message })
        throw error
      }
      const status = statusOf(error, logger)
      calls.end(call, { method, protocol, ...status })
      return errorAnswer(status, form)
    }
  }

  async #serveRoute(request: HttpRequest, path: string, query: string): Promise<HttpAnswer> {
    try {
      const { router, clock } = this.#options
      const found = router.find(request.method, path)
      if (found === undefined) return unknownPath(request, path, router)
      const body = await request.readBody()
      const call = new Call({ clock })
      request.serve(call)
      const { headers } = request
      const { parameters, route } = found
      const { signal } = call
      await turnOfItsOwn(call)
      const answer = await route({ query: new URLSearchParams(query), body, headers, parameters, signal })
      await turnOfItsOwn(call)
      return await answerOf(answer, call)
    } catch (error) {
      if (error instanceof BodyTooLarge || error instanceof BodyAborted) throw error
      return this.refusal(error)
    }
  }
}

async function answerOf(answer: RouteAnswer, call: Call): Promise<HttpAnswer> {
  if ('text' in answer) return { status: 200, contentType: textType, body: answer.text }
  if ('json' in answer) {
    return { status: 200, contentType: jsonForm.contentType, body: await reportBody(call, answer.json) }
  }
  if ('jsonText' in answer) return { status: 200, contentType: jsonForm.contentType, body: answer.jsonText }
  if ('file' in answer) return { status: 200, ...answer.file }
  if ('events' in answer) return { contentType: 'text/event-stream', pieces: answer.events, isPatient: false }
  const { document } = answer
  const { contentType, fileName } = document
  // RFC 6266, percent-encoded: the name of a kind or namespace may have any characters.
  const name = fileName === undefined ? undefined : `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`
  return {
    contentType,
    ...(name === undefined ? {} : { headers: { 'Content-Disposition': name } }),
    pieces: (signal) => document.pieces(signal),
    isPatient: true,
  }
}

function errorAnswer(error: Status, form: WireForm, status = httpStatuses[error.code]): WholeAnswer {
  return { status, contentType: form.contentType, body: form.error(error, status) }
}

/** An error below /v1/ in the form of the request, elsewhere as plain text. */
export function errorOn({ url, headers }: HttpRequest, error: Status, status: number): WholeAnswer {
  if (!url.startsWith('/v1/')) return { status, contentType: textType, body: `${error.message}\n` }
  return errorAnswer(error, formOf(one(headers['content-type'])) ?? jsonForm, status)
}

/** The answer to an unknown path or a wrong verb. */
function unknownPath(request: HttpRequest, path: string, router: Router): WholeAnswer {
  const verbs = dataTarget(path) === undefined ? router.verbsOf(path) : ['POST']
  const remedy = useVerb(verbs) ?? didYouMean(meantMethod(path) ?? router.nearestTo(path))
  const message = `there is no ${request.method} ${path}${remedy === undefined ? '' : `; ${remedy}`}`
  return errorOn(request, notFound(message), 404)
}

function useVerb(verbs: readonly string[]): string | undefined {
  return verbs.length === 0 ? undefined : `use ${verbs.join(' or ')}`
}

function didYouMean(near: string | undefined): string | undefined {
  return near === undefined ? undefined : `did you mean ${near}?`
}

function meantMethod(path: string): string | undefined {
  const [, verb] = /^\/v1\/projects\/[^/]+:([A-Za-z]+)$/.exec(path) ?? []
  const near = verb === undefined ? undefined : nearest(verb, Object.keys(methods))
  return near === verb ? undefined : near
}

interface DataTarget {
  readonly projectId: string
  readonly method: MethodName
}

/** The project and method in a path of the data API. Project ids may contain colons. */
function dataTarget(path: string): DataTarget | undefined {
  const [, project, verb] = /^\/v1\/projects\/([^/]+):([A-Za-z]+)$/.exec(path) ?? []
  if (project === undefined || verb === undefined || !Object.hasOwn(methods, verb)) return undefined
  const method = methods[verb]
  try {
    return method === undefined ? undefined : { projectId: decodeURIComponent(project), method }
  } catch {
    return undefined
  }
}

/** The form for a content type; JSON without one, or with an empty one. */
function formOf(contentType: string | undefined): WireForm | undefined {
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return jsonForm
  if (contentType === 'application/x-protobuf') return protobufForm
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return jsonForm
  return type === 'application/x-protobuf' || type === 'application/protobuf' ? protobufForm : undefined
}

function split(url: string): readonly string[] {
  const at = url.indexOf('?')
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)]
}

export function one(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header[0] : header
}
