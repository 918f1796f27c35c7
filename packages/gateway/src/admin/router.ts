/**
 * Endpoints beside the data API, by verb and path. A route gets the query and the body and answers with JSON or plain text;
 * what it throws is answered in the JSON envelope.
 */
import type { MaybePromise } from '@sixtables/engine'

export interface RouteRequest {
  readonly query: URLSearchParams
  readonly body: Buffer
}

export type RouteAnswer = { readonly text: string } | { readonly json: unknown }

export type Route = (request: RouteRequest) => MaybePromise<RouteAnswer>

export type Verb = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export class Router {
  readonly #routes = new Map<string, Route>()

  /** @param path - without query, such as `/reset` */
  add(verb: Verb, path: string, route: Route): void {
    this.#routes.set(`${verb} ${path}`, route)
  }

  find(verb: string, path: string): Route | undefined {
    return this.#routes.get(`${verb === 'HEAD' ? 'GET' : verb} ${path}`)
  }
}
