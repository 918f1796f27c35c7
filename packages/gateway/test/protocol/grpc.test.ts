import { connect, constants } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { DatastoreError, type Key, type LookupRequest, type LookupResult, type MaybePromise } from '@sixtables/engine'
import { describe, expect, test } from 'vitest'
import type { Logger } from '../../src/logger.ts'
import { engineDouble } from '../support/engines.ts'
import { grpcClient, rawConnection, sleep, testGateway, until } from '../support/gateway.ts'
import { framed } from '../support/grpc-client.ts'
import { heldTimers } from '../support/limits.ts'
import { answer, lookupOf, request } from '../support/messages.ts'
import { patienceMs } from '../support/patience.ts'

const allMissing = ({ keys }: LookupRequest): LookupResult => ({
  found: [],
  missing: keys,
  deferred: [],
  readTime: 1_000_001n,
})

const engine = engineDouble({ lookup: (_context, asked) => allMissing(asked) })
const oneKey = request('Lookup', lookupOf('a'))

function missingNames(body: Buffer): string[] {
  const { missing = [] } = answer<{ missing?: { entity: { key: { path: { name: string }[] } } }[] }>('Lookup', body)
  return missing.map(({ entity }) => entity.key.path[0]?.name ?? '')
}

describe('a unary call', () => {
  test('is answered with headers, one message and trailers', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', oneKey)
    expect(result).toMatchObject({ status: 0, httpStatus: 200, message: '', resetCode: 0 })
    expect(result.headers['content-type']).toBe('application/grpc')
    expect(result.headers).not.toHaveProperty('date')
    expect(answer('Lookup', result.body)).toEqual({
      missing: [
        { entity: { key: { partitionId: { projectId: 'p' }, path: [{ kind: 'K', name: 'a' }] } }, version: '1000001' },
      ],
      readTime: '1970-01-01T00:00:01.000001Z',
    })
  })

  test('tells the version of what it misses, except of an eventual read', async () => {
    const client = await grpcClient(await testGateway(engine))
    const versions = async (json: object): Promise<(string | undefined)[]> => {
      const { body } = await client.call('Lookup', request('Lookup', json))
      return answer<{ missing: { version?: string }[] }>('Lookup', body).missing.map(({ version }) => version)
    }
    const asked = lookupOf('a', 'b')
    expect(await versions(asked)).toEqual(['1000001', '1000001'])
    expect(await versions({ ...asked, readOptions: { readConsistency: 'EVENTUAL' } })).toEqual([undefined, undefined])
  })

  test('may come in frames of one byte', async () => {
    const client = await grpcClient(await testGateway(engine))
    const chunks = [...framed(oneKey)].map((byte) => Buffer.of(byte))
    const result = await client.call('Lookup', oneKey, { chunks })
    expect(missingNames(result.body)).toEqual(['a'])
  })

  test('may end with an empty frame', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', oneKey, { chunks: [framed(oneKey), Buffer.alloc(0)] })
    expect(result.status).toBe(0)
  })

  test('may be sent under application/grpc+proto and with any metadata', async () => {
    const client = await grpcClient(await testGateway(engine))
    const headers = {
      'content-type': 'application/grpc+proto',
      authorization: 'Bearer owner',
      'x-goog-request-params': 'project_id=another',
      'google-cloud-resource-prefix': 'projects/another',
    }
    expect((await client.call('Lookup', oneKey, { headers })).status).toBe(0)
  })

  test('of an empty message is an empty request', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', Buffer.alloc(0))
    expect(result).toMatchObject({ status: 3, message: expect.stringContaining('project id') })
  })

  test('with a large request and a large answer is whole', async () => {
    const client = await grpcClient(await testGateway(engine))
    const names = Array.from({ length: 1000 }, (_, i) => `name-${i}-${'x'.repeat(500)}`)
    const result = await client.call('Lookup', request('Lookup', lookupOf(...names)))
    expect(missingNames(result.body)).toEqual(names)
  })

  test('shares its connection with a thousand others', async () => {
    const waiting: (() => void)[] = []
    const slow = engineDouble({
      lookup: (_context, asked) =>
        new Promise<LookupResult>((resolve) => {
          waiting.push(() => resolve(allMissing(asked)))
          if (waiting.length === 1000) for (const go of waiting) go()
        }),
    })
    const client = await grpcClient(await testGateway(slow))
    const names = Array.from({ length: 1000 }, (_, i) => `n${i}`)
    const results = await Promise.all(names.map((name) => client.call('Lookup', request('Lookup', lookupOf(name)))))
    expect(results.map(({ body }) => missingNames(body)[0])).toEqual(names)
  })
})

describe('compression', () => {
  test('by gzip is undone', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', oneKey, {
      headers: { 'grpc-encoding': 'gzip' },
      chunks: [framed(gzipSync(oneKey), true)],
    })
    expect(missingNames(result.body)).toEqual(['a'])
  })

  test('by gzip may be announced and not used', async () => {
    const client = await grpcClient(await testGateway(engine))
    expect((await client.call('Lookup', oneKey, { headers: { 'grpc-encoding': 'gzip' } })).status).toBe(0)
  })

  test('by another method is UNIMPLEMENTED, and the accepted ones are named', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', oneKey, { headers: { 'grpc-encoding': 'snappy' } })
    expect(result.status).toBe(12)
    expect(result.headers['grpc-accept-encoding']).toBe('identity,gzip')
  })

  test('without an encoding header is INTERNAL', async () => {
    const client = await grpcClient(await testGateway(engine))
    expect((await client.call('Lookup', oneKey, { chunks: [framed(gzipSync(oneKey), true)] })).status).toBe(13)
  })

  test('that is no gzip is INVALID_ARGUMENT', async () => {
    const client = await grpcClient(await testGateway(engine))
    const headers = { 'grpc-encoding': 'gzip' }
    expect((await client.call('Lookup', oneKey, { headers, chunks: [framed(oneKey, true)] })).status).toBe(3)
  })

  test('of more than the limit is RESOURCE_EXHAUSTED, without being kept', async () => {
    const client = await grpcClient(await testGateway(engine))
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const result = await client.call('Lookup', oneKey, {
      headers: { 'grpc-encoding': 'gzip' },
      chunks: [framed(bomb, true)],
    })
    expect(result.status).toBe(8)
  })
})

describe('a broken call', () => {
  const broken: [string, Buffer[], number][] = [
    ['that ends without a message', [], 13],
    ['that ends inside the prefix', [Buffer.of(0, 0)], 13],
    ['that ends inside the message', [framed(oneKey).subarray(0, 12)], 13],
    ['with two messages', [framed(oneKey), framed(oneKey)], 13],
    ['with two messages in one frame', [Buffer.concat([framed(oneKey), framed(oneKey)])], 13],
    ['with an unknown flag', [Buffer.concat([Buffer.of(7), framed(oneKey).subarray(1)])], 13],
    ['whose message is no request', [framed(Buffer.of(0xff, 0xff, 0xff))], 3],
  ]
  test.each(broken)('%s ends alone', async (_name, chunks, status) => {
    const client = await grpcClient(await testGateway(engine))
    expect((await client.call('Lookup', oneKey, { chunks })).status).toBe(status)
    expect((await client.call('Lookup', oneKey)).status).toBe(0)
  })

  test('that announces more than 10 MiB is RESOURCE_EXHAUSTED at once', async () => {
    const client = await grpcClient(await testGateway(engine))
    const head = Buffer.of(0, 0x00, 0xa0, 0x00, 0x01)
    const result = await client.call('Lookup', oneKey, { chunks: [head], keepOpen: true })
    expect(result).toMatchObject({ status: 8, message: expect.stringContaining('10485761 bytes') })
    expect((await client.call('Lookup', oneKey)).status).toBe(0)
  })

  test('that goes on after its refusal does not stop the others', async () => {
    const client = await grpcClient(await testGateway(engine))
    const huge = Buffer.alloc(12 * 1024 * 1024)
    const result = await client.call('Lookup', oneKey, { chunks: [framed(huge)] })
    expect(result).toMatchObject({ status: 8, httpStatus: 200 })
    expect((await client.call('Lookup', oneKey)).status).toBe(0)
  })
})

describe('routing', () => {
  test('of an unknown method is UNIMPLEMENTED', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Frobnicate', oneKey)
    expect(result).toMatchObject({ status: 12, httpStatus: 200, message: expect.stringContaining('Frobnicate') })
  })

  test('of an unknown service is UNIMPLEMENTED', async () => {
    const client = await grpcClient(await testGateway(engine))
    expect((await client.call('/google.firestore.v1.Firestore/Commit', oneKey)).status).toBe(12)
  })

  test.each(['application/json', 'application/grpc-web', 'text/plain'])('of %s is 415', async (type) => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', oneKey, { headers: { 'content-type': type } })
    expect(result).toMatchObject({
      status: 3,
      httpStatus: 415,
      message: expect.stringContaining('application/grpc is'),
    })
  })

  test('of another verb than POST is 405', async () => {
    const client = await grpcClient(await testGateway(engine))
    const result = await client.call('Lookup', oneKey, { headers: { ':method': 'PUT' } })
    expect(result).toMatchObject({
      status: 3,
      httpStatus: 405,
      message: 'the verb PUT is not served over HTTP/2; POST is',
    })
  })
})

describe('a deadline', () => {
  const never = (signals: AbortSignal[]) =>
    engineDouble({
      lookup: (context): MaybePromise<LookupResult> => {
        if (context.signal !== undefined) signals.push(context.signal)
        return new Promise(() => {})
      },
    })

  test('that passes is DEADLINE_EXCEEDED, and ends the work', async () => {
    const passes = heldTimers(30)
    const signals: AbortSignal[] = []
    const client = await grpcClient(await testGateway(never(signals)))
    const call = client.call('Lookup', oneKey, { headers: { 'grpc-timeout': '30m' } })
    await until(() => signals.length === 1)
    passes()
    expect((await call).status).toBe(4)
    expect(signals[0]?.aborted).toBe(true)
  })

  test('is what the engine sees', async () => {
    let remaining = 0
    const looking = engineDouble({
      lookup: (context, asked) => {
        remaining = (context.deadlineAt ?? 0) - context.clock.steadyMs()
        return allMissing(asked)
      },
    })
    const client = await grpcClient(await testGateway(looking))
    await client.call('Lookup', oneKey, { headers: { 'grpc-timeout': '100H' } })
    expect(remaining).toBeGreaterThan(99 * 3_600_000)
    expect(remaining).toBeLessThanOrEqual(100 * 3_600_000)
  })

  test('that cannot be read is INVALID_ARGUMENT', async () => {
    const client = await grpcClient(await testGateway(engine))
    expect((await client.call('Lookup', oneKey, { headers: { 'grpc-timeout': 'soon' } })).status).toBe(3)
  })
})

describe('a client that gives up', () => {
  test('aborts the work of its call and of no other', async () => {
    const contexts: { signal: AbortSignal | undefined; keys: readonly Key[] }[] = []
    const bothWork = (): Promise<void> => until(() => contexts.length === 2)
    const hanging = engineDouble({
      lookup: (context, { keys }) => {
        contexts.push({ signal: context.signal, keys })
        return new Promise(() => {})
      },
    })
    const client = await grpcClient(await testGateway(hanging))
    void client.call('Lookup', request('Lookup', lookupOf('stays')))
    const left = client.call('Lookup', request('Lookup', lookupOf('leaves')), {
      onStream: (stream) => void bothWork().then(() => stream.close(constants.NGHTTP2_CANCEL)),
    })
    await left
    await until(() => contexts.some(({ signal }) => signal?.aborted === true))
    expect(contexts.map(({ signal, keys }) => [keys[0]?.path[0]?.name, signal?.aborted])).toEqual([
      ['stays', false],
      ['leaves', true],
    ])
  })

  test('by closing the connection aborts all its calls', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const hanging = engineDouble({
      lookup: (context) => {
        signals.push(context.signal)
        return new Promise(() => {})
      },
    })
    const client = await grpcClient(await testGateway(hanging))
    for (let i = 0; i < 5; i++) void client.call('Lookup', oneKey)
    await until(() => signals.length === 5)
    client.close()
    await until(() => signals.every((signal) => signal?.aborted === true))
  })

  test('after the answer aborts nothing', async () => {
    let signal: AbortSignal | undefined
    const looking = engineDouble({
      lookup: (context, asked) => {
        signal = context.signal
        return allMissing(asked)
      },
    })
    const client = await grpcClient(await testGateway(looking))
    await client.call('Lookup', oneKey)
    client.close()
    await sleep(20)
    expect(signal?.aborted).toBe(false)
  })
})

describe('errors', () => {
  test('come as trailers alone, with the message percent-encoded', async () => {
    const failing = engineDouble({
      lookup: () => {
        throw new DatastoreError('ABORTED', 'the key „ä"\n100% taken')
      },
    })
    const client = await grpcClient(await testGateway(failing))
    const result = await client.call('Lookup', oneKey)
    expect(result).toMatchObject({ status: 10, httpStatus: 200, message: 'the key „ä"\n100% taken' })
    expect(result.headers['grpc-message']).toBe('the key %E2%80%9E%C3%A4"%0A100%25 taken')
    expect(result.headers['content-type']).toBe('application/grpc')
  })

  test('of ours are logged and told as INTERNAL without detail', async () => {
    const logged: string[] = []
    const logger: Logger = { error: (line) => logged.push(line), warn() {}, info() {}, debug() {} }
    const failing = engineDouble({ lookup: () => Promise.reject(new TypeError('secret detail')) })
    const client = await grpcClient(await testGateway(failing, { logger }))
    const result = await client.call('Lookup', oneKey)
    expect(result.status).toBe(13)
    expect(result.message).not.toContain('secret')
    expect(logged.join()).toContain('TypeError: secret detail')
  })

  test('with endless messages fit into trailers', async () => {
    const failing = engineDouble({
      lookup: () => {
        throw new DatastoreError('INVALID_ARGUMENT', 'ü'.repeat(100_000))
      },
    })
    const client = await grpcClient(await testGateway(failing))
    expect((await client.call('Lookup', oneKey)).status).toBe(3)
  })
})

describe('a session', () => {
  test('answers pings', async () => {
    const client = await grpcClient(await testGateway(engine))
    for (let i = 0; i < 50; i++) {
      await new Promise<void>((resolve, reject) =>
        client.session.ping((error: Error | null) => (error === null ? resolve() : reject(error))),
      )
    }
    expect((await client.call('Lookup', oneKey)).status).toBe(0)
  })

  test('is closed gracefully: calls under way are answered, new ones are not taken', async () => {
    let release: (() => void) | undefined
    const slow = engineDouble({
      lookup: (_context, asked) =>
        new Promise((resolve) => {
          release = () => resolve(allMissing(asked))
        }),
    })
    const gateway = await testGateway(slow, { closeGraceMs: patienceMs })
    const client = await grpcClient(gateway)
    const underWay = client.call('Lookup', oneKey)
    await until(() => release !== undefined)
    const closed = gateway.close()
    await sleep(50)
    release?.()
    expect((await underWay).status).toBe(0)
    await closed
    await expect(
      new Promise((resolve, reject) => {
        connect(`http://127.0.0.1:${gateway.port}`).on('error', reject).on('connect', resolve)
      }),
    ).rejects.toThrow('ECONNREFUSED')
  })

  test('that sends garbage after its preface is ended, and no other', async () => {
    const gateway = await testGateway(engine)
    const client = await grpcClient(gateway)
    const raw = await rawConnection(gateway)
    raw.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    raw.socket.write(Buffer.alloc(1000, 0xaa))
    await raw.closed
    expect((await client.call('Lookup', oneKey)).status).toBe(0)
  })
})
