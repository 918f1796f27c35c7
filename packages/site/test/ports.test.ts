import { isUtf8 as isUtf8InNode, Buffer as NodeBuffer } from 'node:buffer'
import * as node from 'node:crypto'
import { createHistogram as createNodeHistogram } from 'node:perf_hooks'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PortClient } from '../src/port-client.ts'
import { Buffer, isUtf8 } from '../src/ports/buffer.ts'
import { createHash, createHmac } from '../src/ports/crypto.ts'
import { createHistogram } from '../src/ports/perf-hooks.ts'
import { setImmediate as later } from '../src/ports/turns.ts'

type Encoding = 'utf8' | 'latin1' | 'hex' | 'base64'
const encodings = fc.constantFrom<Encoding>('utf8', 'latin1', 'hex', 'base64')
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.base64String(),
  fc.constantFrom('a'.repeat(9000), '\ufeffé😀', '\ud800x', '-_8=', 'abc0g'),
)
const bytes = fc.uint8Array({ maxLength: 40 })

test('buffers read and write texts as those of Node', () => {
  fc.assert(
    fc.property(texts, encodings, fc.nat(3), (some, encoding, at) => {
      const text = encoding === 'hex' || encoding === 'base64' ? NodeBuffer.from(some).toString(encoding) + at : some
      const [ours, theirs] = [Buffer.from(text, encoding), NodeBuffer.from(text, encoding)]
      expect([...ours]).toEqual([...theirs])
      expect(ours.toString(encoding)).toBe(theirs.toString(encoding))
      expect(Buffer.byteLength(text)).toBe(NodeBuffer.byteLength(text))
      if (encoding !== 'utf8' && encoding !== 'latin1') return
      const [target, other] = [Buffer.alloc(20), NodeBuffer.alloc(20)]
      expect(target.write(text, at, encoding)).toBe(other.write(text, at, encoding))
      expect([...target]).toEqual([...other])
    }),
    { numRuns: 300, seed: 1 },
  )
})

test('buffers compare, join, copy and hold numbers as those of Node', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      bytes,
      fc.double(),
      fc.nat(),
      (one, two, real, whole) => {
        const [ours, theirs] = [Buffer.from(one), NodeBuffer.from(one)]
        expect(Buffer.compare(one, two)).toBe(NodeBuffer.compare(one, two))
        expect(ours.equals(two)).toBe(theirs.equals(two))
        expect([...Buffer.concat([one, two], 30)]).toEqual([...NodeBuffer.concat([one, two], 30)])
        expect([ours.toString('latin1', 2, 9), ours.subarray(3).toString()]).toEqual([
          theirs.toString('latin1', 2, 9),
          theirs.subarray(3).toString(),
        ])
        expect(isUtf8(one)).toBe(isUtf8InNode(one))
        const [a, b] = [Buffer.alloc(50), NodeBuffer.alloc(50)]
        for (const target of [a, b]) {
          target.writeDoubleLE(real, 1)
          target.writeUInt32BE(whole, 10)
          target.writeUInt32LE(whole, 14)
        }
        expect(ours.copy(a, 20, 1)).toBe(theirs.copy(b, 20, 1))
        expect([...a]).toEqual([...b])
        expect([a.readDoubleLE(1), a.readUInt32BE(10), a.readInt32BE(14)]).toEqual([
          b.readDoubleLE(1),
          b.readUInt32BE(10),
          b.readInt32BE(14),
        ])
      },
    ),
    { numRuns: 300, seed: 1 },
  )
})

test('digests are those of Node', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 200]) {
    const text = 'é'.repeat(length)
    expect(createHash('md5').update(text).digest().toString('hex')).toBe(
      node.createHash('md5').update(text).digest('hex'),
    )
    const theirs = node.createHmac('sha256', text).update(`of ${text}`).digest('hex')
    expect(createHmac('sha256', text).update('of ').update(text).digest().toString('hex')).toBe(theirs)
  }
})

test('percentiles are those of Node within two per cent, and later turns come in order', async () => {
  const [ours, theirs] = [createHistogram(), createNodeHistogram({ lowest: 1, highest: 1e9, figures: 2 })]
  for (let i = 1; i <= 1000; i++) for (const one of [ours, theirs]) one.record(i * i)
  for (const percent of [50, 99]) {
    expect(Math.abs(ours.percentile(percent) / theirs.percentile(percent) - 1)).toBeLessThan(0.02)
  }
  const order: number[] = []
  later(() => order.push(1))
  await new Promise<void>((resolve) => later(resolve))
  expect(order).toEqual([1])
})

test('a call that was aborted before it is asked is not asked', async () => {
  const asked: unknown[] = []
  const port = { postMessage: (message: unknown) => asked.push(message), onmessage: null } as unknown as MessagePort
  const call = new Request('http://tab/emulator/commits', { signal: AbortSignal.abort() })
  await expect(new PortClient(port).ask(call)).rejects.toThrow('aborted')
  expect(asked).toEqual([])
})
