/** Compressed requests are held for what they are when they are decompressed (admission/B1). */
import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { grpcClient, type TestGateway, testGateway } from '../support/gateway.ts'
import { framed, type GrpcResult } from '../support/grpc-client.ts'
import { eventually } from '../support/patience.ts'
import { encodeRequest } from '../support/published-protos.ts'

const megabyte = 1024 * 1024

let engine: Engine

beforeEach(async () => {
  engine = await openEngine()
})

afterEach(() => engine.close())

/** A commit of an entity with so many bytes that compress well. */
function commitOf(bytes: number): Buffer {
  const properties = Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 500_000) }, (_, i) => {
      return [`p${i}`, { blobValue: Buffer.alloc(500_000), excludeFromIndexes: true }]
    }),
  )
  const mutations = Object.entries(properties).map(([name, value]) => ({
    upsert: { key: { path: [{ kind: 'K', name }] }, properties: { value } },
  }))
  return encodeRequest('Commit', { projectId: 'p', mode: 'NON_TRANSACTIONAL', mutations })
}

const encoding = { 'grpc-encoding': 'gzip' }

function viaHttp(gateway: TestGateway, body: Buffer): Promise<number | undefined> {
  const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' }
  return new Promise((resolve, reject) => {
    const path = '/v1/projects/p:commit'
    const sent = httpRequest({ host: '127.0.0.1', port: gateway.port, method: 'POST', path, headers, agent: false })
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('a compressed request', () => {
  test('that grows above --max-request-bytes is refused, over gRPC and HTTP, and leaves its room to others', async () => {
    const gateway = await testGateway(engine, { load: { requestBytesMax: 4 * megabyte } })
    const client = await grpcClient(gateway)
    const large = gzipSync(commitOf(6 * megabyte))
    expect(large.length).toBeLessThan(20_000)
    const small = gzipSync(commitOf(3 * megabyte))
    const viaGrpc = (body: Buffer): Promise<GrpcResult> =>
      client.call('Commit', Buffer.alloc(0), { headers: encoding, chunks: [framed(body, true)] })
    for (let i = 0; i < 5; i++) {
      const refused = await viaGrpc(large)
      expect(refused).toMatchObject({ status: 8, message: expect.stringContaining('--max-request-bytes') })
      expect(await viaHttp(gateway, large)).toBe(429)
    }
    // The room of a call is free again when its stream is closed, which its client may hear of before the server does.
    await eventually(async () => expect((await viaGrpc(small)).status).toBe(0))
    await eventually(async () => expect(await viaHttp(gateway, small)).toBe(200))
  })

  test('is answered among many others, which are decompressed a few at a time', async () => {
    const gateway = await testGateway(engine, { load: { requestBytesMax: 60 * megabyte } })
    const client = await grpcClient(gateway)
    const body = gzipSync(commitOf(8 * megabyte))
    const results = await Promise.all(
      Array.from({ length: 30 }, () => {
        return client.call('Commit', Buffer.alloc(0), { headers: encoding, chunks: [framed(body, true)] })
      }),
    )
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 0))
  })

  test('whose client goes away holds nothing', async () => {
    const gateway = await testGateway(engine, { load: { requestBytesMax: 10 * megabyte } })
    const body = gzipSync(commitOf(8 * megabyte))
    for (let i = 0; i < 5; i++) {
      const leaving = await grpcClient(gateway)
      const options = { headers: encoding, chunks: [framed(body, true)] }
      for (let calls = 0; calls < 4; calls++) void leaving.call('Commit', Buffer.alloc(0), options)
      await new Promise((resolve) => setTimeout(resolve, 5))
      leaving.close()
    }
    const client = await grpcClient(gateway)
    const served = async (): Promise<void> => {
      const result = await client.call('Commit', Buffer.alloc(0), { headers: encoding, chunks: [framed(body, true)] })
      expect(result.status).toBe(0)
    }
    await eventually(served, 50)
  })
})
