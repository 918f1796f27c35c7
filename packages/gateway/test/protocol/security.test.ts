import { request } from 'node:http'
import { connect } from 'node:http2'
import { connect as tcpConnect } from 'node:net'
import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { type Double, engineDouble } from '../support/engines.ts'
import { grpcClient, rawConnection, type TestGateway, testGateway } from '../support/gateway.ts'
import { lookupOf, request as message } from '../support/messages.ts'

interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
}

/** fetch() would not let us set Origin and Host. */
function ask(gateway: TestGateway, { method = 'POST', path = '/reset', headers }: Asked) {
  return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const sent = request(`${gateway.url}${path}`, { method, headers, agent: false }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
      })
      sent.on('error', reject)
      sent.end()
    },
  )
}

async function withDouble(options = {}): Promise<{ gateway: TestGateway; double: Double }> {
  const double = engineDouble({
    lookup: (_context, { keys }) => ({ found: [], missing: keys, deferred: [], readTime: 0n }),
  })
  return { gateway: await testGateway(double, options), double }
}

describe('a page from elsewhere', () => {
  test.each([
    'http://evil.example',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://evil-localhost:80',
    'http://[::2]',
    'null',
    'file://',
    'chrome-extension://abc',
    'http://localhost@evil.example',
    '',
  ])('of origin %j cannot reset the store', async (origin) => {
    const { gateway, double } = await withDouble()
    const answer = await ask(gateway, { headers: { origin } })
    expect(answer.status).toBe(403)
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    expect(answer.text).toContain('--allowed-origin')
    expect(double.resets).toEqual([])
  })

  test('cannot ask for permission by a preflight', async () => {
    const { gateway } = await withDouble()
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' }
    const answer = await ask(gateway, { method: 'OPTIONS', headers })
    expect(answer.status).toBe(403)
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('cannot send a request that carries no origin either', async () => {
    const { gateway, double } = await withDouble()
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
    expect((await ask(gateway, { headers })).status).toBe(403)
    expect(double.resets).toEqual([])
  })

  test('may lead its user to us', async () => {
    const { gateway } = await withDouble()
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await ask(gateway, { method: 'GET', path: '/', headers })).status).toBe(200)
  })

  test('cannot come in by a name of its own that points at this machine', async () => {
    const { gateway, double } = await withDouble()
    for (const host of ['evil.example', 'evil.example:8081', '127.0.0.1.evil.example', 'localhost.evil.example:80']) {
      const answer = await ask(gateway, { headers: { host } })
      expect([host, answer.status]).toEqual([host, 403])
      expect(answer.text).toContain('--allowed-host')
    }
    expect(double.resets).toEqual([])
  })

  test('cannot hide gRPC in the body of its request', async () => {
    const { gateway, double } = await withDouble()
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    const body = Buffer.from(`${preface}POST /reset HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    const status = await new Promise((resolve, reject) => {
      const sent = request(
        `${gateway.url}/v1/projects/p:lookup`,
        { method: 'POST', headers: { origin: 'http://evil.example', 'content-length': body.length } },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
    expect(status).toBe(403)
    expect(double.resets).toEqual([])
  })

  test('cannot speak gRPC', async () => {
    const { gateway } = await withDouble()
    const client = await grpcClient(gateway)
    const bytes = message('Lookup', lookupOf('a'))
    const refused = await client.call('Lookup', bytes, { headers: { origin: 'http://evil.example' } })
    expect(refused).toMatchObject({ httpStatus: 200, status: 7, message: expect.stringContaining('--allowed-origin') })
    const renamed = await client.call('Lookup', bytes, { headers: { ':authority': 'evil.example' } })
    expect(renamed).toMatchObject({ httpStatus: 200, status: 7, message: expect.stringContaining('--allowed-host') })
    expect((await client.call('Lookup', bytes)).status).toBe(0)
  })
})

test.each([
  ['no Host header', 'GET / HTTP/1.1', [], /^HTTP\/1\.1 400 [\s\S]*no Host header: send one\n$/],
  [
    'too long headers',
    'GET / HTTP/1.1',
    ['Host: localhost', `A: ${'a'.repeat(20_000)}`],
    /^HTTP\/1\.1 431 [\s\S]*16 KiB in all: send fewer/,
  ],
  [
    'two lengths',
    'POST /v1/projects/p:lookup HTTP/1.1',
    ['Host: localhost', 'Content-Length: 3', 'Transfer-Encoding: chunked'],
    /^HTTP\/1\.1 400 [\s\S]*no HTTP\/1\.1 request \(.*Transfer-Encoding.*\): see to what the client/,
  ],
  ['a broken first line', 'GET / FTP/1.1', ['Host: localhost'], /^HTTP\/1\.1 400 [\s\S]*no HTTP\/1\.1 request/],
])(
  'a request with %s is answered by a text that says what to do, behind the answer before it',
  async (_, line, lines, expected) => {
    const { gateway } = await withDouble()
    const { socket, closed } = await rawConnection(gateway)
    socket.write([line, ...lines, '', '{}'].join('\r\n'))
    expect((await closed).toString()).toMatch(expected)
    const second = await rawConnection(gateway)
    const first = ['POST /v1/projects/p:lookup HTTP/1.1', 'Host: localhost', 'Content-Length: 2', '', '{}'].join('\r\n')
    second.socket.write(first + [line, ...lines, '', '{}'].join('\r\n'))
    const [, both] = /^HTTP\/1\.1 200 [\s\S]*?\}\n(HTTP[\s\S]*)$/.exec((await second.closed).toString()) ?? []
    expect(both).toMatch(expected)
  },
)

test('a request with two Host headers is refused, also where both are good', async () => {
  const { gateway, double } = await withDouble()
  const others = Array.from({ length: 2_100 }, () => 'a:')
  const asked = [
    ['Host: localhost', 'Host: evil.example'],
    ['Host: localhost', 'Host: localhost'],
    ['Host: localhost', ...others, 'Host: evil.example'],
  ]
  for (const headers of asked) {
    const socket = tcpConnect({ port: gateway.port, host: '127.0.0.1' })
    const lines = ['POST /reset HTTP/1.1', 'Content-Length: 0', ...headers, '', '']
    socket.end(lines.join('\r\n'))
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*more than one Host header: send one/)
  }
  expect(double.resets).toEqual([])
})

describe('a local page', () => {
  test.each([
    'http://localhost:3000',
    'https://localhost',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://viewer.localhost:5173',
    'HTTP://LOCALHOST:3000',
  ])('of origin %s is served with CORS headers', async (origin) => {
    const { gateway, double } = await withDouble()
    const answer = await ask(gateway, { headers: { origin } })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    })
    expect(double.resets).toHaveLength(1)
  })

  test('is told by a preflight what it may send', async () => {
    const { gateway } = await withDouble()
    const answer = await ask(gateway, {
      method: 'OPTIONS',
      path: '/v1/projects/p:lookup',
      headers: {
        origin: 'http://localhost:3000',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-anything',
        'access-control-request-private-network': 'true',
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'access-control-allow-methods': 'DELETE, GET, HEAD, PATCH, POST, PUT',
      'access-control-allow-headers': 'content-type,x-anything',
      'access-control-allow-private-network': 'true',
    })
  })
})

describe('names that are allowed', () => {
  test('let an origin in', async () => {
    const { gateway } = await withDouble({ allowedOrigins: ['https://viewer.example/', 'null'] })
    expect((await ask(gateway, { headers: { origin: 'https://viewer.example' } })).status).toBe(200)
    expect((await ask(gateway, { headers: { origin: 'null' } })).status).toBe(200)
    expect((await ask(gateway, { headers: { origin: 'https://other.example' } })).status).toBe(403)
  })

  test('let a host in', async () => {
    const { gateway } = await withDouble({ allowedHosts: ['Datastore'] })
    expect((await ask(gateway, { headers: { host: 'datastore:8081' } })).status).toBe(200)
    expect((await ask(gateway, { headers: { host: 'other:8081' } })).status).toBe(403)
  })
})

describe('a server on this machine alone', () => {
  test.each(['0.0.0.0:8081', '[::]:8081', '0.0.0.0'])(
    'answers to the unspecified address %s, and not to its foreign pages',
    async (host) => {
      const { gateway, double } = await withDouble()
      expect((await ask(gateway, { headers: { host } })).status).toBe(200)
      const client = await grpcClient(gateway)
      const found = await client.call('Lookup', message('Lookup', lookupOf('a')), { headers: { ':authority': host } })
      expect(found.status).toBe(0)
      expect((await ask(gateway, { headers: { host, origin: 'http://evil.example' } })).status).toBe(403)
      expect(double.resets).toHaveLength(1)
    },
  )

  test('answers to no other address', async () => {
    const { gateway } = await withDouble()
    expect((await ask(gateway, { headers: { host: '192.168.7.7:8081' } })).status).toBe(403)
  })
})

describe('a form of a foreign page', () => {
  test.each([
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
  ])('that comes without an origin cannot reset the store: %j', async (headers) => {
    const { gateway, double } = await withDouble()
    expect((await ask(gateway, { headers })).status).toBe(403)
    expect(double.resets).toEqual([])
  })

  test('of a local page can', async () => {
    const { gateway, double } = await withDouble()
    const headers = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }
    expect((await ask(gateway, { headers })).status).toBe(200)
    expect(double.resets).toHaveLength(1)
  })
})

describe('a server on all addresses', () => {
  test.each(['evil.example', 'container-7:8081', 'localhost.evil.example', '127.0.0.1.evil.example'])(
    'lets no page read by the name %s, which a stranger may point at it',
    async (host) => {
      const { gateway, double } = await withDouble({ host: '0.0.0.0' })
      for (const site of [undefined, 'none', 'same-origin', 'cross-site']) {
        const headers = {
          host,
          ...(site === undefined ? {} : { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }),
        }
        for (const method of ['GET', 'POST']) {
          const answer = await ask(gateway, { method, path: method === 'GET' ? '/' : '/reset', headers })
          expect(answer.status).toBe(403)
          expect(answer.text).toContain('--allowed-host')
        }
      }
      expect(double.resets).toEqual([])
    },
  )

  test.each([
    'localhost:8081',
    '127.0.0.1',
    '[::1]:8081',
    '0.0.0.0:8081',
    '192.168.7.7:8081',
    '[fe80::1]:80',
    hostname(),
  ])('answers to %s', async (host) => {
    const { gateway } = await withDouble({ host: '0.0.0.0' })
    expect((await ask(gateway, { headers: { host } })).status).toBe(200)
  })

  test('answers to a name that is allowed', async () => {
    const { gateway } = await withDouble({ host: '0.0.0.0', allowedHosts: ['datastore'] })
    expect((await ask(gateway, { headers: { host: 'datastore:8081' } })).status).toBe(200)
    expect((await ask(gateway, { headers: { host: 'other:8081' } })).status).toBe(403)
  })

  test('answers to any name over gRPC, which no browser speaks without TLS', async () => {
    const { gateway } = await withDouble({ host: '0.0.0.0' })
    const client = await grpcClient(gateway)
    const bytes = message('Lookup', lookupOf('a'))
    const named = await client.call('Lookup', bytes, { headers: { ':authority': 'container-7:8081' } })
    expect(named.status).toBe(0)
    const page = { ':authority': 'evil.example', origin: 'http://evil.example' }
    expect((await client.call('Lookup', bytes, { headers: page })).status).toBe(7)
  })

  test('serves its own pages under its address', async () => {
    const { gateway } = await withDouble({ host: '0.0.0.0' })
    const own = { host: '192.168.7.7:8081', origin: 'http://192.168.7.7:8081' }
    expect((await ask(gateway, { headers: own })).status).toBe(200)
    const other = { host: '192.168.7.7:8081', origin: 'http://192.168.7.8' }
    expect((await ask(gateway, { headers: other })).status).toBe(403)
  })
})

test('the default host is both loopback addresses', async () => {
  const gateway = await testGateway(engineDouble(), { host: undefined })
  expect(gateway.addresses.map(({ host }) => host)).toContain('127.0.0.1')
  expect(new Set(gateway.addresses.map(({ port }) => port)).size).toBe(1)
  for (const { host } of gateway.addresses) {
    await new Promise((resolve, reject) => {
      const session = connect(`http://${host.includes(':') ? `[${host}]` : host}:${gateway.port}`)
      session.on('error', reject)
      session.on('connect', () => {
        session.destroy()
        resolve(undefined)
      })
    })
  }
})
