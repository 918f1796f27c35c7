/** The same over HTTP/1.1, in both of its forms: a connection for each call that is under way, as clients in other processes have. */
import { closedLoop } from './closed-loop.ts'
import { HttpConnections, httpRequest } from './http-connection.ts'
import * as messages from './messages.ts'
import { hot, hotSize, must, pick, type Workload } from './workload.ts'

const json = 'application/json'
const protobuf = 'application/x-protobuf'
const streams = 16

interface HttpWorkload {
  readonly name: string
  readonly title: string
  readonly size: number
  /** How many different requests are sent in turn. */
  readonly count: number
  request(i: number): messages.Bytes
  /** @throws when the answer to the first request is not right */
  check(answer: messages.Bytes): void
}

function httpWorkload({ name, title, size, count, request, check }: HttpWorkload): Workload {
  return {
    name,
    title,
    size,
    streams,
    async check({ port }) {
      const connections = await HttpConnections.open(port, 1)
      try {
        check(await connections.ask(request(0)))
      } finally {
        connections.close()
      }
    },
    async measure({ connection: { port }, streams, warmMs, timeMs }) {
      const made = Array.from({ length: count }, (_, i) => request(i))
      const steps = [{ method: 'Lookup' as const, message: (i: number) => made[i % count] ?? request(i) }]
      const connection = await HttpConnections.open(port, streams)
      try {
        return await closedLoop({ connection, steps, streams, warmMs, timeMs })
      } finally {
        connection.close()
      }
    },
  }
}

function jsonRequest(verb: string, body: object): messages.Bytes {
  return httpRequest(verb, json, Buffer.from(JSON.stringify(body)))
}

/** What is looked at in an answer, in JSON. */
interface JsonAnswer {
  readonly found?: readonly {
    readonly entity: { readonly key: { readonly path: readonly { readonly name: string }[] } }
  }[]
  readonly mutationResults?: readonly { readonly key?: { readonly path: readonly { readonly id?: string }[] } }[]
}

function parsed(answer: messages.Bytes): JsonAnswer {
  return JSON.parse(Buffer.from(answer).toString())
}

export const httpWorkloads: readonly Workload[] = [
  httpWorkload({
    name: 'lookup-json',
    title: 'lookup of 1 key over HTTP JSON',
    size: hotSize,
    count: 2000,
    request: (i) => jsonRequest('lookup', { keys: [messages.jsonKey(hot, pick(i, hotSize))] }),
    check(answer) {
      const name = parsed(answer).found?.[0]?.entity.key.path[0]?.name
      must(name === pick(0, hotSize), `a lookup over JSON finds ${name}`)
    },
  }),
  httpWorkload({
    name: 'lookup-protobuf',
    title: 'lookup of 1 key over HTTP protobuf',
    size: hotSize,
    count: 2000,
    request: (i) => httpRequest('lookup', protobuf, messages.lookup(hot, [pick(i, hotSize)])),
    check(answer) {
      must(messages.answers.found(answer) === 1, 'a lookup over HTTP finds nothing')
    },
  }),
  httpWorkload({
    name: 'upsert-json',
    title: 'upsert of 1 over HTTP JSON, automatic id',
    size: 0,
    count: 1000,
    request: (i) =>
      jsonRequest('commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: messages.jsonEntity('AutoJson', i) }] }),
    check(answer) {
      const id = parsed(answer).mutationResults?.[0]?.key?.path[0]?.id
      must(Number(id) > 0, `a commit over JSON gives the id ${id}`)
    },
  }),
]
