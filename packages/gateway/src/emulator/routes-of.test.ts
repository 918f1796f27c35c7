import { openEngine } from '@sixtables/engine'
import { expect, onTestFinished, test } from 'vitest'
import { type HttpAnswer, type HttpCalls, type HttpRequest, textType } from '../protocols/http-calls.ts'
import { eventOf, type Router } from '../protocols/router.ts'
import { routesOf } from './routes-of.ts'

const jsonType = 'application/json; charset=UTF-8'

async function gateway(routes?: (router: Router) => void): Promise<HttpCalls> {
  const engine = await openEngine({ indexFile: false })
  onTestFinished(() => engine.close())
  return routesOf(engine, { routes }).http
}

/** A request that came over no socket. */
function request(method: string, url: string, json?: unknown): HttpRequest {
  const readBody = async (): Promise<Buffer> => Buffer.from(json === undefined ? '' : JSON.stringify(json))
  return { method, url, headers: {}, connection: {}, readBody, serve: () => {} }
}

function shown(answer: HttpAnswer): unknown {
  if ('pieces' in answer) return answer
  return [answer.status, answer.contentType, JSON.parse(String(answer.body))]
}

test('the data API, endpoints and errors are answered without a socket', async () => {
  const http = await gateway()
  const key = { path: [{ kind: 'ToDo', name: 'a' }] }
  const mutations = [{ upsert: { key, properties: { done: { booleanValue: false } } } }]
  const post = (method: string, json: unknown) => http.exchange(request('POST', `/v1/projects/demo:${method}`, json))
  expect(shown(await post('commit', { mode: 'NON_TRANSACTIONAL', mutations }))).toMatchObject([200, jsonType, {}])
  const found = [{ entity: { properties: { done: { booleanValue: false } } } }]
  expect(shown(await post('lookup', { keys: [key] }))).toMatchObject([200, jsonType, { found }])
  expect(shown(await post('lookup', { keys: 1 }))).toMatchObject([
    400,
    jsonType,
    { error: { status: 'INVALID_ARGUMENT' } },
  ])
  expect(shown(await post('lokup', {}))).toMatchObject([
    404,
    jsonType,
    { error: { message: expect.stringContaining('did you mean lookup?') } },
  ])
  expect(await http.exchange(request('GET', '/'))).toEqual({ status: 200, contentType: textType, body: 'Ok\n' })
})

test('a stream is handed over before it begins, and exports of a machine are not there', async () => {
  const events = async function* (signal: AbortSignal) {
    for (let n = 0; !signal.aborted; n++) yield eventOf({ n })
  }
  const http = await gateway((router) => router.add('GET', '/ticks', () => ({ events })))
  const answer = await http.exchange(request('GET', '/ticks'))
  if (!('pieces' in answer)) expect.fail('no stream')
  const gone = new AbortController()
  const seen: string[] = []
  for await (const piece of answer.pieces(gone.signal)) {
    seen.push(String(piece))
    if (seen.length === 2) gone.abort()
  }
  expect([answer.contentType, seen]).toEqual(['text/event-stream', ['data: {"n":0}\n\n', 'data: {"n":1}\n\n']])
  expect(await http.exchange(request('POST', '/v1/projects/demo:export', {}))).toMatchObject({ status: 404 })
})

test('a path without a route is answered with the nearest one', async () => {
  const http = await gateway((router) => router.add('GET', '/emulator/ticks', () => ({ text: 'tick' })))
  for (const [path, remedy] of [
    ['/emulator/tick', '; did you mean /emulator/ticks?'],
    ['/x', ''],
  ] as const) {
    const body = `there is no GET ${path}${remedy}\n`
    expect(await http.exchange(request('GET', path))).toEqual({ status: 404, contentType: textType, body })
  }
})
