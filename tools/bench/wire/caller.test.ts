import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { HttpConnections } from './caller.ts'
import { closedLoop } from './closed-loop.ts'

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
