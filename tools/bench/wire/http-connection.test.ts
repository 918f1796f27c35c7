import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { closedLoop } from './closed-loop.ts'
import { HttpConnections, httpRequest, wholeAnswer } from './http-connection.ts'

const body = Buffer.from('{"a":1}')
const request = httpRequest('lookup', 'application/json', body)

describe('an answer', () => {
  const plain = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: x\r\nContent-Length: 5\r\n\r\nhello')
  const chunked = Buffer.from(
    'HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n',
  )

  test.each([
    ['of a known length', plain, 200],
    ['in chunks', chunked, 404],
  ])('%s is whole with its last byte, and not before', (_what, bytes, status) => {
    for (let length = 0; length < bytes.length; length++) expect(wholeAnswer(bytes.subarray(0, length))).toBeUndefined()
    expect(wholeAnswer(bytes)).toEqual({ status, body: Buffer.from('hello') })
  })

  test('that does not say where it ends is an error', () => {
    expect(() => wholeAnswer(Buffer.from('HTTP/1.1 200 OK\r\n\r\nx'))).toThrow('without a length')
  })
})

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

  test('send what was made beforehand, and give back what is answered', async () => {
    const connections = await HttpConnections.open((await serve()).port, 1)
    const expected = `POST /v1/projects/bench:lookup ${body.length} application/json`
    for (let i = 0; i < 2; i++) expect(Buffer.from(await connections.ask('Lookup', request)).toString()).toBe(expected)
    await expect(connections.ask('Lookup', request)).rejects.toThrow('failed')
    expect(Buffer.from(await connections.ask('Lookup', request)).toString()).toBe(expected)
    connections.close()
  })

  test('have one call each under way in a closed loop, and failures are counted apart', async () => {
    const { port, seen } = await serve()
    const connection = await HttpConnections.open(port, 4)
    const steps = [{ method: 'Lookup' as const, message: () => request }]
    const result = await closedLoop({ connection, steps, streams: 4, warmMs: 0, timeMs: 100 })
    connection.close()
    expect(seen.most).toBeLessThanOrEqual(4)
    expect(result.operations).toBeGreaterThan(0)
    expect(result.failures).toBe(Math.floor(seen.requests / 3))
  })

  test('are as many as there may be calls', async () => {
    const connections = await HttpConnections.open((await serve()).port, 1)
    const first = connections.ask('Lookup', request)
    await expect(connections.ask('Lookup', request)).rejects.toThrow('more calls at once than connections')
    await first
    connections.close()
  })
})
