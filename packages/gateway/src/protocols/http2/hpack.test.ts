import { connect as connectHttp2, createServer } from 'node:http2'
import { createServer as createNetServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeHeaders, HpackDecoder } from './hpack.ts'
import { decodeHuffman } from './huffman.ts'

function decodeAll(decoder: HpackDecoder, block: Buffer): [string, string][] {
  const fields: [string, string][] = []
  decoder.decode(block, (name, value) => fields.push([name, value]))
  return fields
}

/** The header blocks that Node's own HTTP/2 client sends for these headers, each a request on one connection. */
function blocksOf(requests: readonly Record<string, string>[]): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const server = createNetServer((socket: Socket) => {
      let bytes = Buffer.alloc(0)
      const blocks: Buffer[] = []
      // SETTINGS, without which the client does not begin.
      socket.write(Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0))
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk])
        for (let at = 24; at + 9 <= bytes.length; ) {
          const length = bytes.readUIntBE(at, 3)
          const end = at + 9 + length
          if (end > bytes.length) return
          const [type, flags] = [bytes[at + 3], bytes[at + 4] ?? 0]
          if (type === 1) blocks.push(bytes.subarray(at + 9 + (flags & 0x20 ? 5 : 0), end))
          bytes = Buffer.concat([bytes.subarray(0, 24), bytes.subarray(end)])
        }
        if (blocks.length < requests.length) return
        socket.destroy()
        server.close()
        resolve(blocks)
      })
    })
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      const session = connectHttp2(`http://127.0.0.1:${port}`)
      session.on('error', () => {})
      session.on('connect', () => {
        for (const headers of requests) {
          session.request(headers, { endStream: true }).on('error', () => {})
        }
      })
      setTimeout(() => reject(new Error('no blocks came')), 10_000).unref()
    })
  })
}

/** Every byte that a header value may hold, in an order in which none is trimmed. */
const allBytes = Array.from({ length: 256 }, (_, i) => i)
  .filter((byte) => byte >= 0x20 && byte !== 0x7f)
  .map((byte) => String.fromCharCode(byte))
const valueText = fc.array(fc.constantFrom(...allBytes), { maxLength: 40 }).map((letters) => `x${letters.join('')}x`)

describe('the decoder', () => {
  test('reads what Node sends, byte for byte, over many requests on one connection', async () => {
    const requests = Array.from({ length: 60 }, (_, i) => ({
      ':method': i % 3 === 0 ? 'PUT' : 'POST',
      ':path': `/path/${i % 7}`,
      'content-type': 'application/grpc',
      'grpc-timeout': `${59_000 + i}m`,
      [`x-name-${i % 11}`]: `${'long '.repeat(i % 40)}value`,
      'x-bytes': `x${allBytes.slice(i * 4, i * 4 + 12).join('')}x`,
    }))
    const blocks = await blocksOf(requests)
    const decoder = new HpackDecoder()
    for (const [i, block] of blocks.entries()) {
      const found = Object.fromEntries(decodeAll(decoder, block))
      expect(found).toMatchObject(requests[i] ?? {})
      expect(found[':scheme']).toBe('http')
    }
  })

  test('reads the Huffman code of every byte', async () => {
    const texts = fc.sample(valueText, 40)
    const blocks = await blocksOf(texts.map((text) => ({ ':path': '/', 'x-text': text })))
    const decoder = new HpackDecoder()
    for (const [i, block] of blocks.entries()) {
      expect(Object.fromEntries(decodeAll(decoder, block))['x-text']).toBe(texts[i])
    }
  })

  test('reads the examples of the published format', () => {
    // RFC 7541, C.4.1 to C.4.3 and C.2.2.
    const decoder = new HpackDecoder()
    const hex = (text: string) => Buffer.from(text, 'hex')
    expect(decodeAll(decoder, hex('828684418cf1e3c2e5f23a6ba0ab90f4ff'))).toEqual([
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
    ])
    expect(decodeAll(decoder, hex('828684be5886a8eb10649cbf'))).toEqual([
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
      ['cache-control', 'no-cache'],
    ])
    expect(decodeAll(decoder, hex('828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf')).at(-1)).toEqual([
      'custom-key',
      'custom-value',
    ])
    expect(decodeAll(new HpackDecoder(), hex('040c2f73616d706c652f70617468'))).toEqual([[':path', '/sample/path']])
  })

  test('forgets the oldest fields when the table is full', () => {
    const decoder = new HpackDecoder()
    const keep = (name: string, value: string): Buffer =>
      Buffer.concat([Buffer.of(0x40, name.length), Buffer.from(name), encodeHeaders([['', value]]).subarray(2)])
    // 60 bytes each: 68 of them fit into 4096.
    for (let i = 0; i < 200; i++) decodeAll(decoder, keep('name', String(i).padStart(24, '0')))
    expect(decodeAll(decoder, Buffer.of(0x80 | 62))).toEqual([['name', String(199).padStart(24, '0')]])
    expect(decodeAll(decoder, Buffer.of(0xff, 62 + 67 - 127))).toEqual([['name', String(199 - 67).padStart(24, '0')]])
    expect(() => decodeAll(decoder, Buffer.of(0xff, 62 + 68 - 127))).toThrow('the tables do not have')
  })

  test.each([
    ['an entry 0', '80'],
    ['an entry that is not there', 'be'],
    ['an integer that does not end', 'ffffffff'],
    ['an integer out of all measure', '7fffffffffffffff7f'],
    ['a string that does not end', '4005aa'],
    ['a table that is too large', '3fe2ff03'],
    ['padding of zeros', '00018261008100'],
    ['padding of a whole byte', '000161' + '82ffff'],
    ['an end-of-string symbol', '000161' + '84fffffffc'],
  ])('refuses a block with %s', (_name, hex) => {
    expect(() => decodeAll(new HpackDecoder(), Buffer.from(hex, 'hex'))).toThrow(/header (block|string)/)
  })

  test('refuses a block that grows beyond measure when it is read', () => {
    const decoder = new HpackDecoder()
    decodeAll(decoder, Buffer.concat([Buffer.of(0x40, 1, 0x61, 0x7f, 0xa1, 0x1e), Buffer.alloc(4000, 0x62)]))
    expect(() => decodeAll(decoder, Buffer.alloc(100, 0xbe))).toThrow('larger than')
  })

  test('ends in fields or a compression error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeAll(new HpackDecoder(), Buffer.from(bytes))
        } catch (error) {
          expect(error).toMatchObject({ name: 'ConnectionError' })
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('the encoder', () => {
  test('writes what a decoder reads, and leaves no trace in its table', () => {
    const fields = fc.array(fc.tuple(fc.stringMatching(/^[a-z-]{1,20}$/), valueText), { maxLength: 10 })
    fc.assert(
      fc.property(fields, (list) => {
        const decoder = new HpackDecoder()
        expect(decodeAll(decoder, encodeHeaders(list))).toEqual(list)
        expect(() => decodeAll(decoder, Buffer.of(0xbe))).toThrow('do not have')
      }),
      { numRuns: 200 },
    )
  })

  test('writes what Node reads', async () => {
    const block = encodeHeaders([
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', '/x'],
      [':authority', 'localhost'],
      ['content-type', 'application/grpc'],
      ['x-long', 'v'.repeat(300)],
    ])
    const server = createServer()
    const seen = new Promise((resolve) => server.on('stream', (_stream, headers) => resolve({ ...headers })))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const { connect } = await import('node:net')
    const socket = connect({ host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 })
    const head = Buffer.of(0, block.length >> 8, block.length & 0xff, 1, 5, 0, 0, 0, 1)
    socket.write(
      Buffer.concat([
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
        head,
        block,
      ]),
    )
    expect(await seen).toMatchObject({ ':path': '/x', 'content-type': 'application/grpc', 'x-long': 'v'.repeat(300) })
    socket.destroy()
    server.close()
  })
})

test('a Huffman code is read from within a larger buffer', () => {
  const bytes = Buffer.from('ffa8eb10649cbfff', 'hex')
  expect(decodeHuffman(bytes, 1, 7)).toBe('no-cache')
})
