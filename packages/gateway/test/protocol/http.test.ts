import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { LookupRequest, LookupResult } from '@sixtables/engine'
import { describe, expect, test, vi } from 'vitest'
import type { Router } from '../../src/protocols/router.ts'
import { engineDouble } from '../support/engines.ts'
import { rawConnection, type TestGateway, testGateway, until } from '../support/gateway.ts'
import { answer, lookupOf, request } from '../support/messages.ts'
import { eventually, patienceMs } from '../support/patience.ts'

const allMissing = ({ keys }: LookupRequest): LookupResult => ({
  found: [],
  missing: keys,
  deferred: [],
  readTime: 1_000_001n,
})

const engine = engineDouble({ lookup: (_context, asked) => allMissing(asked) })
const json = { 'content-type': 'application/json' }
const protobuf = { 'content-type': 'application/x-protobuf' }

interface Sent {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

function send(
  gateway: TestGateway,
  { path = '/v1/projects/p:lookup', method = 'POST', headers = json, body = '' }: Sent,
) {
  return fetch(gateway.url + path, method === 'POST' ? { method, headers, body } : { method, headers })
}

describe('the data API in JSON', () => {
  test('answers in JSON of two blanks a level and a line break', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { body: '{"keys":[{"path":[{"kind":"K","id":"5"}]}]}' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.text()).toBe(
      `${JSON.stringify(
        {
          missing: [
            {
              entity: { key: { partitionId: { projectId: 'p' }, path: [{ kind: 'K', id: '5' }] } },
              version: '1000001',
            },
          ],
          readTime: '1970-01-01T00:00:01.000001Z',
        },
        null,
        2,
      )}\n`,
    )
  })

  test('takes an empty body for an empty message', async () => {
    const gateway = await testGateway(engine)
    expect(await (await send(gateway, { body: '' })).json()).toEqual({ readTime: '1970-01-01T00:00:01.000001Z' })
  })

  test('answers an empty message with an empty object', async () => {
    const gateway = await testGateway(engineDouble({ reserveIds: () => undefined }))
    const response = await send(gateway, { path: '/v1/projects/p:reserveIds', body: '{}' })
    expect(await response.text()).toBe('{}\n')
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON', ''])('is spoken under "%s"', async (type) => {
    const gateway = await testGateway(engine)
    expect((await send(gateway, { headers: { 'content-type': type }, body: '{}' })).status).toBe(200)
  })

  test('ignores query parameters', async () => {
    const gateway = await testGateway(engine)
    const path = '/v1/projects/p:lookup?alt=json&prettyPrint=false&key=x'
    expect((await send(gateway, { path, body: '{}' })).status).toBe(200)
  })

  test('takes projects with a colon and escaped characters', async () => {
    const gateway = await testGateway(engine)
    const path = '/v1/projects/example.com%3Aapp:lookup'
    const response = await send(gateway, { path, body: '{"keys":[{"path":[{"kind":"K","id":"5"}]}]}' })
    expect(await response.text()).toContain('"example.com:app"')
    expect((await send(gateway, { path: '/v1/projects/example.com:app:lookup', body: '{}' })).status).toBe(200)
  })

  test('refuses a project in the body that is not that of the path', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { body: '{"projectId":"q"}' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringMatching(/"p".*"q"/) },
    })
    expect((await send(gateway, { body: '{"projectId":"p"}' })).status).toBe(200)
  })
})

describe('the data API in protobuf', () => {
  test('answers in protobuf', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { headers: protobuf, body: request('Lookup', lookupOf('a')) })
    expect(response.headers.get('content-type')).toBe('application/x-protobuf')
    const message = Buffer.from(await response.arrayBuffer())
    expect(answer<{ missing: unknown[] }>('Lookup', message).missing).toHaveLength(1)
  })

  test('takes an empty body for an empty message', async () => {
    const gateway = await testGateway(engine)
    expect((await send(gateway, { headers: protobuf })).status).toBe(200)
  })

  test('refuses bytes that are no request', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { headers: protobuf, body: Buffer.of(0xff, 0xff) })
    expect(response.status).toBe(400)
  })
})

describe('compressed bodies', () => {
  test('in gzip are undone', async () => {
    const gateway = await testGateway(engine)
    const body = gzipSync('{"keys":[{"path":[{"kind":"K","id":"5"}]}]}')
    const response = await send(gateway, { headers: { ...json, 'content-encoding': 'gzip' }, body })
    expect(await response.text()).toContain('"id": "5"')
  })

  test('in something else are refused', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { headers: { ...json, 'content-encoding': 'br' }, body: '{}' })
    expect(response.status).toBe(400)
  })

  test('that are broken are refused', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { headers: { ...json, 'content-encoding': 'gzip' }, body: 'no gzip' })
    expect(response.status).toBe(400)
  })
})

describe('large bodies', () => {
  test('above 10 MiB are RESOURCE_EXHAUSTED', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { headers: protobuf, body: Buffer.alloc(10 * 1024 * 1024 + 1) })
    expect(response.status).toBe(429)
  })
})

describe('a refused request whose client is still sending', () => {
  test.each([
    ['too large', '413', ''],
    ['of an unwelcome page', '403', 'origin: http://evil.example\r\n'],
  ])('%s, is read to its end before the connection is closed', async (_, status, header) => {
    const gateway = await testGateway(engine)
    const { socket, received, closed } = await rawConnection(gateway)
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    const chunks = 21
    socket.write(
      `POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\n${header}content-length: ${chunks * chunk.length}\r\n\r\n`,
    )
    await until(() => received().includes('\r\n\r\n'))
    for (let i = 0; i < chunks; i++) {
      await new Promise<void>((resolve, reject) => socket.write(chunk, (error) => (error ? reject(error) : resolve())))
    }
    expect((await closed).toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  test('does not count among the bytes of requests', async () => {
    const mebibyte = 1024 * 1024
    const gateway = await testGateway(engine, { load: { requestBytesMax: 24 * mebibyte } })
    const { socket, received } = await rawConnection(gateway)
    socket.write('POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(mebibyte, 0x20), Buffer.from('\r\n')])
    for (let i = 0; i < 22; i++) socket.write(chunk)
    await until(() => received().includes('\r\n\r\n'))
    expect(received().toString()).toMatch(/^HTTP\/1.1 413 /)
    expect((await send(gateway, { body: `{}${' '.repeat(8 * mebibyte)}` })).status).toBe(200)
  })
})

describe('what is not there', () => {
  test.each([
    ['POST', '/v1/projects/p:frobnicate', ''],
    ['POST', '/v1/projects/p:Lookup', '; did you mean lookup?'],
    ['POST', '/v1/projects/p:runQeury', '; did you mean runQuery?'],
    ['POST', '/v1/projects/p:toString', ''],
    ['POST', '/v1/projects/p/databases/d:lookup', ''],
    ['POST', '/v1/projects/%zz:lookup', ''],
    ['GET', '/v1/projects/p:lookup', '; use POST'],
    ['PUT', '/v1/projects/p:lookup', '; use POST'],
    ['GET', '/v1/projects/p:runQeury', '; did you mean runQuery?'],
    ['POST', '/v1/projects/p/things/t', '; use GET or DELETE'],
  ])('%s %s is 404, an error as of any other call', async (method, path, remedy) => {
    const thing = () => ({ text: '' })
    const routes = (router: Router) => {
      for (const verb of ['GET', 'DELETE'] as const) router.add(verb, '/v1/projects/{project}/things/{thing}', thing)
    }
    const gateway = await testGateway(engine, { routes })
    const response = await send(gateway, { method, path, body: '{}' })
    expect(response.status).toBe(404)
    const error = { code: 404, status: 'NOT_FOUND', message: `there is no ${method} ${path}${remedy}` }
    expect(await response.json()).toEqual({ error })
  })

  test('to a caller in protobuf such an error is protobuf', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { path: '/v1/projects/p:runQeury', headers: protobuf })
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/x-protobuf'])
    expect(await response.text()).toContain('did you mean runQuery?')
  })

  test.each([
    ['POST', '/v1beta3/projects/p:lookup'],
    ['GET', '/reset'],
    ['GET', '/shutdown'],
    ['POST', '/'],
    ['GET', '/nothing'],
  ])('%s %s is 404 with a plain text', async (method, path) => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { method, path, body: '{}' })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
  })

  test('a content type that we do not speak is 415, and says which we do', async () => {
    const gateway = await testGateway(engine)
    const response = await send(gateway, { headers: { 'content-type': 'text/plain' }, body: '{}' })
    expect(response.status).toBe(415)
    expect(await response.json()).toEqual({
      error: {
        code: 415,
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining("-H 'content-type: application/json'"),
      },
    })
  })
})

describe('emulator endpoints', () => {
  test('GET / says Ok', async () => {
    const gateway = await testGateway(engine)
    const response = await fetch(gateway.url)
    expect([response.status, await response.text()]).toEqual([200, 'Ok\n'])
  })

  test('POST /reset resets all, or what its query names', async () => {
    const double = engineDouble()
    const gateway = await testGateway(double)
    for (const query of ['', '?project=p', '?project=p&database=d&namespace=n', '?project=p&namespace=n']) {
      expect((await fetch(`${gateway.url}/reset${query}`, { method: 'POST' })).status).toBe(200)
    }
    expect(double.resets).toEqual([
      {},
      { projectId: 'p' },
      { projectId: 'p', databaseId: 'd', namespaceId: 'n' },
      { projectId: 'p', databaseId: '', namespaceId: 'n' },
    ])
    expect((await fetch(`${gateway.url}/reset?namespace=n`, { method: 'POST' })).status).toBe(400)
    expect(double.resets).toHaveLength(4)
  })

  test('POST /shutdown is answered, and then told to the program around us', async () => {
    let told = 0
    const gateway = await testGateway(engine, { onShutdown: () => told++ })
    expect((await fetch(`${gateway.url}/shutdown`, { method: 'POST' })).status).toBe(200)
    await until(() => told === 1)
  })

  test('of the program around us are served', async () => {
    const gateway = await testGateway(engine, {
      routes: (router) => router.add('GET', '/extra', ({ query }) => ({ json: { x: query.get('x') } })),
    })
    expect(await (await fetch(`${gateway.url}/extra?x=1`)).json()).toEqual({ x: '1' })
  })
})

describe('a client that goes away', () => {
  test('or is idle keeps no body in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const gateway = await testGateway(engine)
    const body = Buffer.alloc(4_000_000, ' ')
    collect()
    const before = process.memoryUsage().arrayBuffers
    const head = `POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`
    for (let i = 0; i < 5; i++) {
      // The port closes a connection that sends nothing for 10 s, which the one before may take.
      const { socket, received } = await rawConnection(gateway)
      socket.write(head)
      socket.write(body)
      await until(() => received().includes('readTime'))
    }
    await eventually(() => {
      collect()
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * body.length)
    })
  })

  test('in the middle of its body leaves nothing behind', async () => {
    const gateway = await testGateway(engine, { load: { connectionsMax: 1 } })
    const raw = await rawConnection(gateway)
    raw.socket.write('POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"ke')
    expect((await fetch(gateway.url)).status).toBe(429)
    raw.socket.destroy()
    await eventually(async () => expect((await fetch(gateway.url)).status).toBe(200))
  })

  test('by a chunk that is none is told so', async () => {
    const gateway = await testGateway(engine)
    const raw = await rawConnection(gateway)
    raw.socket.write('POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n')
    raw.socket.write('4\r\n{"ke\r\nno length\r\n')
    expect((await raw.closed).toString()).toMatch(/^HTTP\/1.1 400 /)
  })

  test('while it waits aborts the work', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const hanging = engineDouble({
      lookup: (context) => {
        signals.push(context.signal)
        return new Promise(() => {})
      },
    })
    const gateway = await testGateway(hanging)
    const giveUp = new AbortController()
    const sent = fetch(`${gateway.url}/v1/projects/p:lookup`, {
      method: 'POST',
      headers: json,
      body: '{}',
      signal: giveUp.signal,
    }).catch((error: unknown) => error)
    await until(() => signals.length === 1)
    expect(signals[0]?.aborted).toBe(false)
    giveUp.abort()
    await sent
    await until(() => signals[0]?.aborted === true)
  })

  test('while answers to later requests of its connection wait for their turn gives back all of them', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const hanging = engineDouble({
      lookup: (context) => {
        signals.push(context.signal)
        return new Promise(() => {})
      },
    })
    const gateway = await testGateway(hanging, { load: { callsMax: 3 } })
    const raw = await rawConnection(gateway)
    raw.socket.write('POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}'.repeat(3))
    await until(() => signals.length === 3)
    expect((await fetch(gateway.url)).status).toBe(429)
    raw.socket.destroy()
    await eventually(async () => expect((await fetch(gateway.url)).status).toBe(200))
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true])
  })

  test('and sends two requests in one packet gets two answers', async () => {
    const gateway = await testGateway(engine)
    const raw = await rawConnection(gateway)
    raw.socket.write(
      'GET / HTTP/1.1\r\nhost: localhost\r\n\r\nGET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    )
    const all = (await raw.closed).toString()
    expect(all.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
  })

  test('and sends two calls in one packet gets their answers in that order, whichever is done first', async () => {
    let finishFirst: (() => void) | undefined
    const slowFirst = engineDouble({
      lookup: (_context, asked) => {
        if (finishFirst !== undefined) {
          setImmediate(finishFirst)
          return allMissing(asked)
        }
        return new Promise((resolve) => {
          finishFirst = () => resolve(allMissing(asked))
        })
      },
    })
    const raw = await rawConnection(await testGateway(slowFirst))
    for (const [id, last] of [
      ['1', ''],
      ['2', 'connection: close\r\n'],
    ]) {
      const body = `{"keys":[{"path":[{"kind":"K","id":"${id}"}]}]}`
      const head = `POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\n${last}content-length: ${body.length}\r\n\r\n`
      raw.socket.write(head + body)
    }
    const all = (await raw.closed).toString()
    expect(all.match(/"id": "\d"/g)).toEqual(['"id": "1"', '"id": "2"'])
  })

  test('and waits for answers when the server closes gets them, and is closed then', async () => {
    const finish: (() => void)[] = []
    const slow = engineDouble({
      lookup: (_context, asked) => new Promise((resolve) => finish.push(() => resolve(allMissing(asked)))),
    })
    const gateway = await testGateway(slow, { closeGraceMs: 4 * patienceMs })
    const raw = await rawConnection(gateway)
    for (const id of ['1', '2']) {
      const body = `{"keys":[{"path":[{"kind":"K","id":"${id}"}]}]}`
      raw.socket.write(
        `POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
    }
    await until(() => finish.length === 2)
    const closing = gateway.close()
    finish[0]?.()
    await until(() => raw.received().includes('"id": "1"'))
    finish[1]?.()
    // An idle connection would end by itself after 60 s.
    await vi.waitFor(() => expect(raw.socket.closed).toBe(true), { timeout: 30_000 })
    expect(raw.received().toString()).toContain('"id": "2"')
    await closing
  })

  test('and sends no proper HTTP is told 400', async () => {
    const gateway = await testGateway(engine)
    const raw = await rawConnection(gateway)
    raw.socket.write('GET nonsense\r\n\r\n')
    expect((await raw.closed).toString()).toMatch(/^HTTP\/1\.1 400/)
  })
})
