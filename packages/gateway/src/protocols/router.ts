/**
 * Endpoints other than the data API, by verb and path. A route gets the named parts of the path, the query and the body, and answers
 * with JSON or plain text; an error that it throws is answered as JSON. docs/reference/http.md has each path and parameter.
 *
 *   /v1/projects/{project}/indexes/{index}      a name in braces matches one or more characters other than a slash
 *   /v1/projects/{project}:export               text after a name is part of the pattern: a project id may contain colons, too
 *   /emulator/heat?table,span,rows              the query may have these names only
 */
import { invalidArgument, type MaybePromise } from '@sixtables/engine'
import { nearest } from '@sixtables/engine/did-you-mean'
import type { Line } from '../calls/line-queue.ts'
import { checkParameters } from '../convert/parameters.ts'

/** Headers of a request, with names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface RouteRequest {
  readonly query: URLSearchParams
  readonly body: Buffer
  readonly headers: Headers
  /** Named parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

export type RouteAnswer =
  | { readonly text: string }
  | { readonly json: unknown }
  /** JSON that is printed already, because JSON.stringify() would lose something. */
  | { readonly jsonText: string | Buffer }
  | { readonly events: Events }
  | { readonly file: FileAnswer }
  | { readonly document: Document }

export interface FileAnswer {
  readonly body: Buffer
  readonly contentType: string
  /** Further headers, besides type and length. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default 200. */
  readonly status?: number
}

export interface Document {
  readonly contentType: string
  /** The file name for a browser; without it the document is shown. */
  readonly fileName?: string
  /** Errors before the first piece are answered as errors of the call; later ones end the connection. */
  pieces(signal: AbortSignal): AsyncIterable<string>
}

/** Server-sent events ({@link eventOf}). They end by themselves, or when the signal says that the client is gone. */
export type Events = (signal: AbortSignal) => AsyncIterable<Buffer>

/** Redirects a browser to another path of this server. */
export function redirect(path: string): FileAnswer {
  return {
    status: 302,
    body: Buffer.from(`See ${path}\n`),
    contentType: 'text/plain; charset=UTF-8',
    headers: { Location: path, Vary: 'Accept', 'Cache-Control': 'no-store' },
  }
}

/** A server-sent event with one JSON text, encoded: several streams may share it. */
export function eventOf(value: unknown): Buffer {
  return Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
}

/** Approximate maximum of a piece. A longer text is sent as bytes that all readers share. */
const pieceMax = 64 * 1024

/**
 * Batches of JSON lines as events, in pieces that a slow reader takes one by one. An empty batch becomes a comment, which shows
 * a reader that the server is alive.
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

  /**
   * @param pattern - a path such as `/reset`, or a pattern; of several matching patterns the first one added is used. Behind a question mark
   *   are the names that the query may have: another one is refused, as the answer would be to another question. Without it the route reads
   *   the query itself
   */
  add(verb: Verb, pattern: string, handler: Route): void {
    const [path = '', query] = pattern.split('?')
    const parameters = query?.split(',').filter(Boolean)
    const route: Route =
      parameters === undefined
        ? handler
        : (request) => {
            checkParameters(request.query, parameters)
            return handler(request)
          }
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

  /** The path that may be meant by one without a route, among those without named parts: `/reset` for `/rset` and `/emulator/reset`. */
  nearestTo(path: string): string | undefined {
    const all = [...this.#routes.keys()].map((route) => route.slice(route.indexOf(' ') + 1))
    const paths = all.filter((one) => one !== '/')
    const sameEnd = paths.filter((one) => lastPart(one) === lastPart(path))
    return nearest(path, sameEnd) ?? sameEnd[0] ?? nearest(path, paths)
  }

  /** The verbs that a path has routes for. @throws INVALID_ARGUMENT like {@link find} */
  verbsOf(path: string): readonly Verb[] {
    return verbs.filter((verb) => this.find(verb, path) !== undefined)
  }
}

function lastPart(path: string): string | undefined {
  return path.split('/').filter(Boolean).at(-1)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalidArgument(`"${part}" in the path is not percent-encoded UTF-8`)
  }
}
