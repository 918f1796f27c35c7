import { createServer, type Server } from 'node:http'
import { createServer as createHttp2Server, constants as http2, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { closedLoop } from './closed-loop.ts'
import { CallFailed, Connection, HttpConnections } from './connection.ts'
import type { MethodName } from './messages.ts'

const body = Buffer.from('{"a":1}')

describe('connections', () => {
  let server: Server | undefined

  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** Answers with the number of the request, every third with 500. @returns what it saw */
  async function serve(): Promise<{ readonly port: number; readonly seen: { requests: number; most: number } }> {
    const seen = { requests: 0, most: 0 }
    let underWay = 0
    const listening = createServer((asked, response) => {
      underWay++
      seen.most = Math.max(seen.most, underWay)
      asked.resume()
      asked.on('end', () => {
        setImmediate(() => {
          underWay--
          response.statusCode = ++seen.requests % 3 === 0 ? 500 : 200
          response.end(
            `${asked.method} ${asked.url} ${asked.headers['content-length']} ${asked.headers['content-type']}`,
          )
        })
      })
    })
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    return { port: (listening.address() as AddressInfo).port, seen }
  }

  test('send a message, and give back what is answered', async () => {
    const connections = new HttpConnections((await serve()).port, 'application/json')
    const expected = `POST /v1/projects/bench:lookup ${body.length} application/json`
    for (let i = 0; i < 2; i++) expect(Buffer.from(await connections.ask('Lookup', body)).toString()).toBe(expected)
    await expect(connections.ask('Lookup', body)).rejects.toThrow('failed')
    expect(Buffer.from(await connections.ask('Lookup', body)).toString()).toBe(expected)
    connections.close()
  })

  test('fail a call whose answer breaks off', async () => {
    const listening = createServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half')
      setImmediate(() => response.destroy())
    })
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    const connections = new HttpConnections((listening.address() as AddressInfo).port, 'application/json')
    await expect(connections.ask('Lookup', body)).rejects.toThrow('failed')
    connections.close()
  })

  test('have one call each under way in a closed loop, and failures are counted apart', async () => {
    const { port, seen } = await serve()
    const connection = new HttpConnections(port, 'application/json')
    const operation = () => connection.ask('Lookup', body)
    const result = await closedLoop({ operation, streams: 4, warmMs: 0, timeMs: 100 })
    connection.close()
    expect(seen.most).toBeLessThanOrEqual(4)
    expect(result.operations).toBeGreaterThan(0)
    expect(result.failures).toBe(Math.floor(seen.requests / 3))
  })
})

describe('one connection of gRPC', () => {
  /** A method whose path names the end of its call. */
  const named = (end: string): MethodName => end.replace(/\W+/g, '-') as MethodName

  /** Answers each call by the path that names its end, over the connection that `asking` gets. */
  async function over(asking: (connection: Connection) => Promise<void>): Promise<void> {
    const half = (stream: ServerHttp2Stream, then: () => void): void => {
      stream.respond({ ':status': 200 })
      stream.write(Buffer.of(0, 0, 0, 0, 9, 1), () => setTimeout(then, 5))
    }
    const ends: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
      whole: (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
        stream.on('data', (chunk: Buffer) => stream.write(chunk))
        stream.on('end', () => stream.end())
      },
      'error in headers': (stream) => stream.respond({ ':status': 200, 'grpc-status': '10' }, { endStream: true }),
      'error in trailers': (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '10' }))
        stream.end()
      },
      refused: (stream) => stream.close(http2.NGHTTP2_REFUSED_STREAM),
      'reset without an error': (stream) => stream.close(http2.NGHTTP2_NO_ERROR),
      'half, then cancelled': (stream) => half(stream, () => stream.close(http2.NGHTTP2_CANCEL)),
      'half, then reset': (stream) => half(stream, () => stream.close(http2.NGHTTP2_NO_ERROR)),
      'session ends': (stream) => stream.session?.destroy(),
      'socket ends': () => sockets.at(-1)?.destroy(),
      'half, then the socket ends': (stream) => half(stream, () => sockets.at(-1)?.destroy()),
    }
    const sockets: Socket[] = []
    const server = createHttp2Server().on('stream', (stream, headers) => {
      stream.on('error', () => {})
      Object.entries(ends).find(([end]) => headers[':path']?.endsWith(`/${named(end)}`))?.[1](stream)
    })
    server.on('connection', (socket: Socket) => sockets.push(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const connection = await Connection.open((server.address() as AddressInfo).port)
    await asking(connection).finally(() => {
      connection.close()
      server.close()
    })
  }

  test('gives back messages of any size, many at once', () =>
    over(async (connection) => {
      const messages = [0, 5, 100_000].map((size) => Buffer.alloc(size, 1))
      const answers = await Promise.all(messages.map((message) => connection.ask(named('whole'), message)))
      expect(answers.map((answer) => Buffer.compare(answer, Buffer.alloc(answer.length, 1)))).toEqual([0, 0, 0])
      expect(answers.map(({ length }) => length)).toEqual([0, 5, 100_000])
    }))

  test.each([
    ...['error in headers', 'error in trailers', 'refused', 'reset without an error'],
    ...['half, then cancelled', 'half, then reset'],
  ])('fails a call, and goes on: %s', (end) =>
    over(async (connection) => {
      await expect(connection.ask(named(end), body)).rejects.toThrow(CallFailed)
      expect(await connection.ask(named('whole'), body)).toEqual(body)
    }),
  )

  test.each(['session ends', 'socket ends', 'half, then the socket ends'])('breaks with its connection: %s', (end) =>
    over(async (connection) => {
      const asked = [connection.ask(named(end), body), connection.ask(named(end), body)]
      for (const one of await Promise.allSettled(asked))
        expect(one.status === 'rejected' && !(one.reason instanceof CallFailed)).toBe(true)
      await expect(connection.ask(named('whole'), body)).rejects.toThrow('destroyed')
    }),
  )
})
