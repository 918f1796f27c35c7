/** The services for tools: health and reflection, the two that stream. */
import type { ClientHttp2Stream } from 'node:http2'
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { DatastoreError, openEngine } from '@sixtables/engine'
import { describe, expect, test } from 'vitest'
import type { EnginePort } from '../../src/engine-port.ts'
import { engineDouble } from '../support/engines.ts'
import { grpcClient, testGateway, until } from '../support/gateway.ts'
import { framed, type GrpcClient } from '../support/grpc-client.ts'
import { heldTimers } from '../support/limits.ts'

const data = 'google.datastore.v1.Datastore'
const admin = 'google.datastore.admin.v1.DatastoreAdmin'

/** A message with one text in it. */
function textMessage(field: number, text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.of((field << 3) | 2, bytes.length), bytes])
}

/** A call that stays open, and the messages that came so far. */
function stream(client: GrpcClient, path: string, headers: Record<string, string> = {}) {
  const open: ClientHttp2Stream = client.session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  let received = Buffer.alloc(0)
  let status: number | undefined
  let isClosed = false
  open.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
  })
  open.on('response', (given) => {
    if (given['grpc-status'] !== undefined) status = Number(given['grpc-status'])
  })
  open.on('trailers', (given) => {
    status = Number(given['grpc-status'])
  })
  open.on('close', () => {
    isClosed = true
  })
  open.on('error', () => {})
  return {
    open,
    send: (message: Buffer) => open.write(framed(message)),
    messages(): readonly Buffer[] {
      const all: Buffer[] = []
      for (let at = 0; at + 5 <= received.length; ) {
        const end = at + 5 + received.readUInt32BE(at + 1)
        all.push(received.subarray(at + 5, end))
        at = end
      }
      return all
    },
    status: () => status,
    isClosed: () => isClosed,
  }
}

describe('grpc.health.v1.Health', () => {
  test('Check answers SERVING for the server and for each service, and NOT_FOUND for others', async () => {
    const engine = await openEngine()
    const client = await grpcClient(await testGateway(engine))
    const check = (service: string) =>
      client.call('/grpc.health.v1.Health/Check', service === '' ? Buffer.alloc(0) : textMessage(1, service))
    for (const service of ['', data, admin]) {
      expect(await check(service)).toMatchObject({ status: 0, body: Buffer.of(8, 1) })
    }
    expect(await check('a.B')).toMatchObject({ status: 5 })
    expect(await client.call('/grpc.health.v1.Health/Check', Buffer.of(10, 5, 1))).toMatchObject({ status: 3 })
    await engine.close()
  })

  test('Watch answers at once, goes on until its client leaves, and is told when the server closes', async () => {
    // Nobody waits for streams that would go on for ever: with the grace of a call under way the test would not end.
    const gateway = await testGateway(engineDouble(), { closeGraceMs: 3_600_000 })
    const client = await grpcClient(gateway)
    const known = stream(client, '/grpc.health.v1.Health/Watch')
    const unknown = stream(client, '/grpc.health.v1.Health/Watch')
    const leaving = stream(client, '/grpc.health.v1.Health/Watch')
    known.open.end(framed(Buffer.alloc(0)))
    unknown.open.end(framed(textMessage(1, 'a.B')))
    leaving.open.end(framed(Buffer.alloc(0)))
    await until(() => known.messages().length === 1 && unknown.messages().length === 1)
    expect([known.messages()[0], unknown.messages()[0]]).toEqual([Buffer.of(8, 1), Buffer.of(8, 3)])
    leaving.open.close(8)
    const closing = gateway.close()
    await until(() => known.isClosed() && unknown.isClosed())
    expect(known.messages()[1]).toEqual(Buffer.of(8, 2))
    expect(unknown.messages()).toHaveLength(1)
    expect([known.status(), unknown.status()]).toEqual([14, 14])
    client.close()
    await closing
  })

  test('Check and Watch say NOT_SERVING as long as the store takes no writes', async () => {
    let tell = (_: DatastoreError | undefined): void => {}
    const store: { failure?: DatastoreError | undefined; onFailure(listener: typeof tell): void } = {
      onFailure(listener) {
        tell = listener
      },
    }
    const engine: EnginePort = { ...engineDouble(), store }
    const client = await grpcClient(await testGateway(engine))
    const watch = stream(client, '/grpc.health.v1.Health/Watch')
    watch.open.end(framed(Buffer.alloc(0)))
    await until(() => watch.messages().length === 1)
    store.failure = new DatastoreError('UNAVAILABLE', 'An earlier write to the store failed: no space.')
    tell(store.failure)
    await until(() => watch.messages().length === 2)
    expect(watch.messages()[1]).toEqual(Buffer.of(8, 2))
    expect(await client.call('/grpc.health.v1.Health/Check', textMessage(1, data))).toMatchObject({
      status: 0,
      body: Buffer.of(8, 2),
    })
    store.failure = undefined
    tell(undefined)
    await until(() => watch.messages().length === 3)
    expect(watch.messages()[2]).toEqual(Buffer.of(8, 1))
    watch.open.close(8)
  })

  test('Watch ends with its deadline', async () => {
    const passes = heldTimers(30)
    const client = await grpcClient(await testGateway(engineDouble()))
    const watch = stream(client, '/grpc.health.v1.Health/Watch', { 'grpc-timeout': '30m' })
    watch.open.end(framed(Buffer.alloc(0)))
    await until(() => watch.messages().length === 1)
    passes()
    await until(() => watch.isClosed())
    expect(watch.status()).toBe(4)
    expect(watch.messages()).toHaveLength(1)
  })
})

describe.each(['v1', 'v1alpha'])('grpc.reflection.%s', (version) => {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`

  /** The fields of a message by number; each once or more. */
  function fields(message: Buffer): ReadonlyMap<number, readonly Buffer[]> {
    const found = new Map<number, Buffer[]>()
    let at = 0
    const varint = (): number => {
      let value = 0
      for (let shift = 0; ; shift += 7) {
        const byte = message[at++] ?? 0
        value |= (byte & 0x7f) << shift
        if (byte < 0x80) return value
      }
    }
    while (at < message.length) {
      const tag = varint()
      const size = varint()
      const content = tag % 8 === 2 ? message.subarray(at, at + size) : Buffer.of(size)
      if (tag % 8 === 2) at += size
      found.set(tag >> 3, [...(found.get(tag >> 3) ?? []), content])
    }
    return found
  }

  test('lists the services, and hands out files that describe them and all that they import', async () => {
    const engine = await openEngine()
    const client = await grpcClient(await testGateway(engine))
    const asking = stream(client, path)
    asking.send(textMessage(7, ''))
    asking.send(textMessage(4, admin))
    asking.send(textMessage(3, 'grpc/health/v1/health.proto'))
    asking.send(textMessage(4, `${data}.Lookup`))
    asking.send(textMessage(4, 'a.B'))
    asking.send(textMessage(6, 'a.B'))
    await until(() => asking.messages().length === 6)
    const [list, adminFiles, healthFiles, lookupFiles, missing, extensions] = asking.messages().map(fields)
    const names = fields(list?.get(6)?.[0] ?? Buffer.alloc(0))
      .get(1)
      ?.map((service) => fields(service).get(1)?.[0]?.toString())
    expect(names).toEqual([data, admin, 'google.longrunning.Operations', 'grpc.health.v1.Health'])
    expect(list?.get(2)).toEqual([textMessage(7, '')])

    const registryOf = (answer: ReadonlyMap<number, readonly Buffer[]> | undefined) => {
      const files = (fields(answer?.get(4)?.[0] ?? Buffer.alloc(0)).get(1) ?? []).map((bytes) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      )
      // A registry wants what a file imports before the file.
      const ordered: FileDescriptorProto[] = []
      const add = (name: string): void => {
        const file = files.find((each) => each.name === name)
        if (file === undefined) throw new Error(`${name} was not handed out`)
        if (ordered.includes(file)) return
        file.dependency.forEach(add)
        ordered.push(file)
      }
      for (const { name } of files) add(name)
      return createFileRegistry(create(FileDescriptorSetSchema, { file: ordered }))
    }
    expect(
      registryOf(adminFiles)
        .getService(admin)
        ?.methods.map(({ name }) => name),
    ).toContain('CreateIndex')
    expect(registryOf(healthFiles).getService('grpc.health.v1.Health')?.methods).toHaveLength(2)
    expect(registryOf(lookupFiles).getMessage('google.datastore.v1.LookupRequest')).toBeDefined()
    const error = (answer: typeof missing) => fields(answer?.get(7)?.[0] ?? Buffer.alloc(0)).get(1)?.[0]?.[0]
    expect([error(missing), error(extensions)]).toEqual([5, 12])

    asking.open.end()
    await until(() => asking.isClosed())
    expect(asking.status()).toBe(0)
    await engine.close()
  })

  test('what is no request ends the stream with an error', async () => {
    const client = await grpcClient(await testGateway(engineDouble()))
    const asking = stream(client, path)
    asking.send(Buffer.of(10, 9, 1))
    await until(() => asking.status() !== undefined)
    expect(asking.status()).toBe(3)
  })

  test('half a message ends the stream with an error', async () => {
    const client = await grpcClient(await testGateway(engineDouble()))
    const asking = stream(client, path)
    asking.open.end(Buffer.of(0, 0, 0, 0, 5, 1))
    await until(() => asking.status() !== undefined)
    expect(asking.status()).toBe(13)
  })
})
