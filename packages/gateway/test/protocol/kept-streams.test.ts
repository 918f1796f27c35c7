import {
  type ClientHttp2Session,
  connect,
  createServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { LookupRequest, LookupResult } from '@sixtables/engine'
import { afterEach, describe, expect, test } from 'vitest'
import { KeptStreams, type Room, roomToKeep } from '../../src/protocols/kept-streams.ts'
import { engineDouble } from '../support/engines.ts'
import { grpcClient, testGateway, until } from '../support/gateway.ts'
import { framed } from '../support/grpc-client.ts'
import { lookupOf, request } from '../support/messages.ts'

/** Calls of a session before it keeps streams, and streams that it keeps. */
const callsBefore = 1000
const keptMax = 128

const oneKey = framed(request('Lookup', lookupOf('a')))
const open: (() => void)[] = []

afterEach(() => {
  for (const end of open.splice(0)) end()
})

/** A call whose request and its end come in one frame; resolves with the status. */
function call(session: ClientHttp2Session): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { ':method': 'POST', ':path': '/google.datastore.v1.Datastore/Lookup' }
    const stream = session.request({ ...headers, 'content-type': 'application/grpc', te: 'trailers' })
    let status: string | undefined
    stream.on('trailers', (trailers) => {
      status = String(trailers['grpc-status'])
    })
    stream.on('error', () => {})
    stream.on('close', () => resolve(status))
    stream.resume()
    stream.end(oneKey)
  })
}

async function calls(session: ClientHttp2Session, count: number): Promise<Map<string | undefined, number>> {
  const counts = new Map<string | undefined, number>()
  let left = count
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left--
      const status = await call(session)
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 16 }, lane))
  return counts
}

interface Bare {
  readonly client: ClientHttp2Session
  readonly session: ServerHttp2Session
  readonly kept: KeptStreams
  readonly room: Room
  readonly told: boolean[]
}

/** A server that keeps what it may, and answers each request when it knows. */
async function bareServer(): Promise<Bare> {
  const room = roomToKeep()
  const told: boolean[] = []
  const server = createServer()
  const session = new Promise<{ session: ServerHttp2Session; kept: KeptStreams }>((resolve) => {
    server.on('session', (session) => {
      const kept = new KeptStreams(session, room)
      resolve({ session, kept })
      server.on('stream', (stream) => serve(stream, kept, told))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  open.push(
    () => client.destroy(),
    () => server.close(),
  )
  return { client, ...(await session), room, told }
}

function serve(stream: ServerHttp2Stream, kept: KeptStreams, told: boolean[]): void {
  const answer = (): void => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end('yes')
  }
  let isWanted = kept.wantsNext()
  stream.on('error', () => {})
  stream.on('end', answer)
  stream.on('data', () => {
    if (!isWanted) return
    isWanted = false
    kept.keep(stream, (isKept) => {
      told.push(isKept)
      if (!isKept) return
      stream.off('end', answer)
      answer()
    })
  })
}

describe('a session', () => {
  test('keeps streams after its first thousand calls, so many and no more, and clients see nothing of it', async () => {
    const { client, kept, room } = await bareServer()
    const before = room.left
    expect(await calls(client, callsBefore)).toEqual(new Map([['0', callsBefore]]))
    expect(kept.count).toBe(0)
    expect(await calls(client, keptMax + 100)).toEqual(new Map([['0', keptMax + 100]]))
    expect(kept.count).toBe(keptMax)
    expect(room.left).toBe(before - keptMax)
  })

  test('lets go of all that it keeps, and closes', async () => {
    const { client, session, kept, room } = await bareServer()
    const before = room.left
    await calls(client, callsBefore + 10)
    await until(() => kept.count > 0)
    session.close()
    expect(session.destroyed).toBe(false)
    kept.release()
    expect(room.left).toBe(before)
    await until(() => session.destroyed)
  })

  test('keeps nothing when there is no room', async () => {
    const { client, kept, room } = await bareServer()
    room.left = 0
    expect(await calls(client, callsBefore + 50)).toEqual(new Map([['0', callsBefore + 50]]))
    expect(kept.count).toBe(0)
  })

  test('does not keep a stream whose request has not come to its end', async () => {
    const { client, kept, told } = await bareServer()
    await calls(client, callsBefore)
    const stream = client.request({ ':method': 'POST', ':path': '/' })
    const trailers = new Promise((resolve) => stream.on('trailers', resolve))
    stream.resume()
    stream.write(oneKey)
    await until(() => told.length > 0)
    expect(told).toEqual([false])
    stream.end(oneKey)
    expect(await trailers).toMatchObject({ 'grpc-status': '0' })
    expect(kept.count).toBe(0)
  })
})

describe('a gateway', () => {
  const allMissing = ({ keys }: LookupRequest): LookupResult => ({
    found: [],
    missing: keys,
    deferred: [],
    readTime: 1_000_001n,
  })

  test('answers calls whose streams it keeps, at once or later, and ends without delay', async () => {
    const later = (asked: LookupRequest): Promise<LookupResult> =>
      new Promise((resolve) => setImmediate(resolve, allMissing(asked)))
    for (const lookup of [allMissing, later]) {
      const gateway = await testGateway(engineDouble({ lookup: (_context, asked) => lookup(asked) }))
      const { session } = await grpcClient(gateway)
      const count = callsBefore + keptMax + 100
      expect(await calls(session, count)).toEqual(new Map([['0', count]]))
      const ended = new Promise((resolve) => session.once('close', resolve))
      await gateway.close()
      await ended
    }
  })
})
