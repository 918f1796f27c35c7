/** A body of more than 20 MiB is refused with words, whatever its length was said to be and in whatever form it came. */
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { engineDouble } from '../support/engines.ts'
import { testGateway } from '../support/gateway.ts'

const mebibyte = 1024 * 1024
const message =
  'the request body is larger than 20971520 bytes, the limit before and after decompression; split the request'
const inJson = { error: { code: 413, message, status: 'RESOURCE_EXHAUSTED' } }
const large = Buffer.alloc(20 * mebibyte + 1, 0x20)

async function post(path: string, headers: Record<string, string>, body: Buffer): Promise<[number, Buffer]> {
  const gateway = await testGateway(engineDouble(), {
    routes: (router) => router.add('POST', '/emulator/fixtures', () => ({ text: '' })),
  })
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body })
  return [response.status, Buffer.from(await response.arrayBuffer())]
}

test.each([
  ['announced', {}, large],
  ['compressed', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(64 * mebibyte, 0x20))],
])('a JSON body, %s', async (_, headers, body) => {
  const [status, answer] = await post('/v1/projects/p:lookup', { 'content-type': 'application/json', ...headers }, body)
  expect([status, JSON.parse(`${answer}`)]).toEqual([413, inJson])
})

test('a JSON body in chunks', async () => {
  const gateway = await testGateway(engineDouble())
  const answer = await new Promise<IncomingMessage>((resolve) => {
    const sent = request(`${gateway.url}/v1/projects/p:lookup`, { method: 'POST' }, resolve)
    sent.on('error', () => {})
    for (let i = 0; i < 21; i++) sent.write(large.subarray(0, mebibyte))
  })
  expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual([413, inJson])
})

test('a protobuf body: the answer is a google.rpc.Status', async () => {
  const answer = await post('/v1/projects/p:lookup', { 'content-type': 'application/x-protobuf' }, large)
  expect(answer).toEqual([413, Buffer.concat([Buffer.of(0x08, 8, 0x12, message.length), Buffer.from(message)])])
})

test('a body for another path: the answer is a line of text', async () => {
  expect(await post('/emulator/fixtures', {}, large)).toEqual([413, Buffer.from(`${message}\n`)])
})
