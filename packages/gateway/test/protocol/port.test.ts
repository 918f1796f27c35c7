import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { Port, protocolOf } from '../../src/protocols/port.ts'
import { engineDouble } from '../support/engines.ts'
import { rawConnection, sleep, testGateway, until } from '../support/gateway.ts'
import { heldTimers } from '../support/limits.ts'
import { patienceMs } from '../support/patience.ts'

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

describe('the first bytes', () => {
  test.each([
    [preface, 'http2'],
    [`${preface}more`, 'http2'],
    ['P', 'undecided'],
    ['PRI', 'undecided'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r', 'undecided'],
    ['PRI * HTTP/1.1\r\n', 'http1'],
    ['POS', 'undecided'],
    ['POST /', 'http1'],
    ['PROPFIND / ', 'http1'],
    ['M-SEARCH * ', 'http1'],
    ['\r\nGET / ', 'http1'],
    ['\x16\x03\x01', 'http1'],
    ['\x00\x01', 'http1'],
    ['get / ', 'http1'],
    [' GET /', 'http1'],
    ['SSH-2.0-x', 'http1'],
    ['A'.repeat(100), 'http1'],
    ['', 'undecided'],
  ])('%j say %s', (bytes, protocol) => {
    expect(protocolOf(Buffer.from(bytes, 'latin1'))).toBe(protocol)
  })
})

describe('a connection', () => {
  test('whose first bytes come one by one is served', async () => {
    const gateway = await testGateway(engineDouble())
    const raw = await rawConnection(gateway)
    for (const letter of 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n') {
      raw.socket.write(letter)
      await sleep(1)
    }
    expect((await raw.closed).toString()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\n\r\nOk\n$/)
  })

  test('whose HTTP/2 preface comes in pieces is served', async () => {
    const gateway = await testGateway(engineDouble())
    const raw = await rawConnection(gateway)
    raw.socket.write(preface.slice(0, 10))
    await sleep(20)
    raw.socket.write(Buffer.concat([Buffer.from(preface.slice(10)), Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0)]))
    await until(() => raw.received().length > 3)
    // The first frame of a server is SETTINGS.
    expect(raw.received()[3]).toBe(4)
  })

  test.each([
    ['TLS', Buffer.of(0x16, 0x03, 0x01, 0x02, 0x00)],
    ['an unknown protocol', Buffer.of(0, 1)],
  ])('that speaks %s is told so, and closed', async (_, bytes) => {
    const gateway = await testGateway(engineDouble())
    const raw = await rawConnection(gateway)
    raw.socket.end(bytes)
    expect((await raw.closed).toString()).toMatch(/^HTTP\/1\.1 400 [\s\S]*this is no HTTP\/1\.1 request/)
  })

  test('that ends before it has said anything is closed', async () => {
    const gateway = await testGateway(engineDouble())
    const raw = await rawConnection(gateway)
    raw.socket.end()
    expect(await raw.closed).toHaveLength(0)
  })

  test('whose first bytes came while the process stood still is served', async () => {
    const firstBytesTimeoutMs = 7_000
    const passTime = heldTimers(firstBytesTimeoutMs)
    let served = 0
    const port = new Port({ connections: { http1: () => served++, http2() {} }, firstBytesTimeoutMs })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    const connect = () => rawConnection({ ...address, addresses: [address], close: async () => {} })
    const [late, early] = [await connect(), await connect()]
    early.socket.write('GET / ')
    // Connections are accepted in their order: now both are.
    await until(() => served === 1)
    late.socket.write('GET / ')
    // After a standstill timers come first, and then sockets.
    passTime()
    expect(await Promise.race([until(() => served === 2), late.closed])).toBeUndefined()
    port.stop()
    port.destroyConnections()
  })

  test('that shows its protocol together with many others is handed over with a few of them in a turn', async () => {
    const count = 40
    let turn = 0
    let isOver = false
    const handed: number[] = []
    const port = new Port({ connections: { http1: () => handed.push(turn), http2() {} } })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    const connect = () => rawConnection({ ...address, addresses: [address], close: async () => {} })
    const clients = await Promise.all(Array.from({ length: count }, connect))
    const next = (): void => {
      turn++
      if (!isOver) setImmediate(next)
    }
    next()
    // A turn accepts a connection.
    await until(() => turn > 10 * count)
    for (const { socket } of clients) socket.write('GET / HTTP/1.1')
    await until(() => handed.length === count)
    isOver = true
    const most = Math.max(...handed.map((one) => handed.filter((other) => other === one).length))
    expect(most).toBeLessThanOrEqual(9)
    port.stop()
    port.destroyConnections()
  })

  test('that sends a request and closes its half, together with many others, is read to the end', async () => {
    const count = 40
    const read: string[] = []
    const http1 = (socket: Socket): void => {
      socket.setEncoding('latin1')
      socket.on('data', (text) => read.push(`${text}`))
      socket.on('end', () => socket.end())
    }
    const port = new Port({ connections: { http1, http2() {} } })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    const connect = () => rawConnection({ ...address, addresses: [address], close: async () => {} })
    const clients = await Promise.all(Array.from({ length: count }, connect))
    // A turn accepts a connection.
    for (let turn = 0; turn < 10 * count; turn++) await new Promise((resolve) => setImmediate(resolve))
    for (const { socket } of clients) socket.end('GET / HTTP/1.1')
    await Promise.all(clients.map(({ closed }) => closed))
    expect(read).toEqual(Array.from({ length: count }, () => 'GET / HTTP/1.1'))
    port.stop()
    port.destroyConnections()
  })

  test.each([
    ['', 'silent'],
    ['PRI * HTT', 'undecided'],
  ])('that sends %j and then nothing is closed in time', async (bytes) => {
    const port = new Port({ connections: { http1() {}, http2() {} }, firstBytesTimeoutMs: 50 })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    const raw = await rawConnection({ ...address, addresses: [address], close: async () => {} })
    raw.socket.write(bytes)
    expect(await raw.closed).toHaveLength(0)
    port.stop()
  })

  test('that has said nothing is ended when listening ends, and one that has begun to speak is not', async () => {
    let served = 0
    const port = new Port({ connections: { http1: () => served++, http2() {} } })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    const connect = () => rawConnection({ ...address, addresses: [address], close: async () => {} })
    const [silent, speaking] = [await connect(), await connect()]
    speaking.socket.write('POST / HTTP/1.1')
    await until(() => served === 1)
    port.stop()
    await silent.closed
    expect(speaking.socket.destroyed).toBe(false)
    port.destroyConnections()
    await speaking.closed
    expect(await port.drained(patienceMs)).toBe(true)
  })

  test('whose first bytes came while the process stood still is served, though listening has ended', async () => {
    let served = 0
    const port = new Port({ connections: { http1: () => served++, http2() {} } })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    const connect = () => rawConnection({ ...address, addresses: [address], close: async () => {} })
    const [late, early] = [await connect(), await connect()]
    early.socket.write('GET / HTTP/1.1')
    // Connections are accepted in their order: now both are.
    await until(() => served === 1)
    late.socket.write('GET / HTTP/1.1')
    port.stop()
    const end = performance.now() + 200
    while (performance.now() < end);
    await until(() => served === 2)
    port.destroyConnections()
  })
})
