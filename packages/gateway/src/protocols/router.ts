/**
 * Endpoints beside the data API, by verb and path. A route gets the parts of the path that its pattern names, the query and
 * the body, and answers with JSON or plain text; what it throws is answered in the JSON envelope.
 *
 *   /v1/projects/{project}/indexes/{index}      a name in braces stands for one or more characters but a slash
 *   /v1/projects/{project}:export               what follows it is part of the pattern: projects may have colons of their own
 */
import type { IncomingHttpHeaders } from 'node:http'
import { invalidArgument, type MaybePromise } from '@sixtables/engine'
import type { Line } from '../calls/line-queue.ts'

export interface RouteRequest {
  readonly query: URLSearchParams
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  /** Parts of the path by their names in the pattern, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

export type RouteAnswer =
  | { readonly text: string }
  | { readonly json: unknown }
  /** JSON that is printed already, since it has what JSON.stringify() would lose. */
  | { readonly jsonText: string }
  | { readonly events: Events }
  | { readonly file: FileAnswer }
  | { readonly document: Document }

/** A file for a browser. */
export interface FileAnswer {
  readonly body: Buffer
  readonly contentType: string
  /** Beside type and length. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default 200. */
  readonly status?: number
}

/** A document that is sent while it is made. */
export interface Document {
  readonly contentType: string
  /** The name under which a browser stores it; absent = it is shown. */
  readonly fileName?: string
  /** An error before the first piece is the answer of the call; a later one ends the connection. */
  pieces(signal: AbortSignal): AsyncIterable<string>
}

/** Server-sent events ({@link eventOf}), until they end or the signal says that the client has gone. */
export type Events = (signal: AbortSignal) => AsyncIterable<Buffer>

/** Sends a browser on to another path of this server. */
export function redirect(path: string): FileAnswer {
  return {
    status: 302,
    body: Buffer.from(`See ${path}\n`),
    contentType: 'text/plain; charset=UTF-8',
    headers: { Location: path, Vary: 'Accept', 'Cache-Control': 'no-store' },
  }
}

/** A server-sent event with one JSON text, as it is sent: streams may share it. */
export function eventOf(value: unknown): Buffer {
  return Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
}

/** Maximum size of a piece, about; words from this length on are sent as the bytes that all readers share. */
const pieceMax = 64 * 1024

/**
 * Batches of lines of JSON as events, in pieces: a reader that is slow takes one after the other. An empty batch is a comment, which
 * tells a reader that the server is there.
 */
export async function* eventsOfLines(batches: AsyncIterable<readonly Line[]>): AsyncGenerator<Buffer> {
  for await (const lines of batches) {
    let text = lines.length === 0 ? ':\n\n' : ''
    for (const { head, words } of lines) {
      text += `data: ${head}`
      if (words.text.length < pieceMax) text += words.text
      else {
        yield Buffer.from(text)
        const { bytes } = words
        for (let at = 0; at < bytes.length; at += pieceMax) yield bytes.subarray(at, at + pieceMax)
        text = ''
      }
      text += '\n\n'
      if (text.length < pieceMax) continue
      yield Buffer.from(text)
      text = ''
    }
    if (text !== '') yield Buffer.from(text)
  }
}

export type Route = (request: RouteRequest) => MaybePromise<RouteAnswer>

const verbs = ['GET', 'POST', 'PATCH', 'DELETE'] as const

export type Verb = (typeof verbs)[number]

export interface FoundRoute {
  readonly route: Route
  readonly parameters: RouteRequest['parameters']
}

interface Pattern {
  readonly verb: Verb
  readonly expression: RegExp
  readonly names: readonly string[]
  readonly route: Route
}

const noParameters: RouteRequest['parameters'] = {}

export class Router {
  readonly #routes = new Map<string, Route>()
  readonly #patterns: Pattern[] = []

  /** @param path - without query, such as `/reset`, or a pattern; of patterns that match the one added first counts */
  add(verb: Verb, path: string, route: Route): void {
    if (!path.includes('{')) {
      this.#routes.set(`${verb} ${path}`, route)
      return
    }
    const names: string[] = []
    const source = path.replace(/\{(\w+)\}|[.*+?^${}()|[\]\\]/g, (text, name: string | undefined) => {
      if (name === undefined) return `\\${text}`
      names.push(name)
      return '([^/]+)'
    })
    this.#patterns.push({ verb, expression: new RegExp(`^${source}$`), names, route })
  }

  /** @throws INVALID_ARGUMENT when the path matches but is not properly percent-encoded */
  find(verb: string, path: string): FoundRoute | undefined {
    const asked = verb === 'HEAD' ? 'GET' : verb
    const route = this.#routes.get(`${asked} ${path}`)
    if (route !== undefined) return { route, parameters: noParameters }
    for (const pattern of this.#patterns) {
      const found = pattern.verb === asked ? pattern.expression.exec(path) : null
      if (found === null) continue
      const parts = pattern.names.map((name, i) => [name, decoded(found[i + 1] ?? '')] as const)
      return { route: pattern.route, parameters: Object.fromEntries(parts) }
    }
    return undefined
  }

  /** The verbs that a path is served for. @throws INVALID_ARGUMENT as {@link find} */
  verbsOf(path: string): readonly Verb[] {
    return verbs.filter((verb) => this.find(verb, path) !== undefined)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalidArgument(`"${part}" in the path is not percent-encoded UTF-8`)
  }
}
