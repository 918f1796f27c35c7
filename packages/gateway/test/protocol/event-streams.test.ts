import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { invalidArgument } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { eventData } from '../../src/cli/target/ask.ts'
import { EventStreams } from '../../src/protocols/event-streams.ts'
import { type Events, eventOf } from '../../src/protocols/router.ts'
import { engineDouble } from '../support/engines.ts'
import { sleep, type TestGateway, testGateway, until } from '../support/gateway.ts'

function gatewayWith(events: Events): Promise<TestGateway> {
  return testGateway(engineDouble(), { routes: (router) => router.add('GET', '/ticks', () => ({ events })) })
}

/** Counts, as fast as it is read, until told to stop. */
function counting(): { readonly events: Events; made: number; stopped: boolean } {
  const state = {
    made: 0,
    stopped: false,
    events: async function* (signal: AbortSignal) {
      try {
        while (!signal.aborted) {
          yield eventOf({ count: ++state.made, filler: 'x'.repeat(10_000) })
          await sleep(0)
        }
      } finally {
        state.stopped = true
      }
    },
  }
  return state
}

test('events come as server-sent events, one JSON text each, and end with their reader', async () => {
  const ticks = counting()
  const gateway = await gatewayWith(ticks.events)
  const response = await fetch(`${gateway.url}/ticks`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const counts: number[] = []
  for await (const data of eventData(response.body as unknown as AsyncIterable<Uint8Array>)) {
    counts.push(JSON.parse(data).count)
    if (counts.length === 3) break
  }
  expect(counts).toEqual([1, 2, 3])
  await until(() => ticks.stopped)
})

test('for a reader that does not read, no more is made than the connection holds', async () => {
  const ticks = counting()
  const gateway = await gatewayWith(ticks.events)
  const stop = new AbortController()
  await fetch(`${gateway.url}/ticks`, { signal: stop.signal })
  let before = -1
  // It stands still once all buffers between the two are full; 2,000 events would be 20 MB.
  while (ticks.made !== before) {
    before = ticks.made
    await sleep(200)
  }
  expect(ticks.made).toBeLessThan(2000)
  stop.abort()
  await until(() => ticks.stopped)
})

test('a stream ends when the server closes, and does not keep it from closing', async () => {
  const ticks = counting()
  const gateway = await gatewayWith(ticks.events)
  const response = await fetch(`${gateway.url}/ticks`)
  const reading = response.text()
  await gateway.close()
  expect(await reading).toMatch(/^data: /)
  expect(ticks.stopped).toBe(true)
})

test('what goes wrong before the first event is answered like other errors', async () => {
  const gateway = await gatewayWith(async function* () {
    yield* []
    throw invalidArgument('no such thing')
  })
  const response = await fetch(`${gateway.url}/ticks`)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { message: 'no such thing' } })
})

test('a document comes as a file, an error before its first piece as an error, and its broken beginning not as the whole', async () => {
  const failsAfter = (count: number) =>
    async function* () {
      for (let i = 0; i < count; i++) yield 'piece\n'
      if (count < 3) throw invalidArgument('no more pieces')
    }
  const gateway = await testGateway(engineDouble(), {
    routes: (router) =>
      router.add('GET', '/file', ({ query }) => {
        const pieces = failsAfter(Number(query.get('count')))
        return { document: { contentType: 'text/csv', fileName: 'a "b"\r\n.csv', pieces } }
      }),
  })
  const whole = await fetch(`${gateway.url}/file?count=3`)
  expect(await whole.text()).toBe('piece\npiece\npiece\n')
  expect(whole.headers.get('content-type')).toBe('text/csv')
  expect(whole.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''a%20%22b%22%0D%0A.csv")
  const none = await fetch(`${gateway.url}/file?count=0`)
  expect([none.status, await none.json()]).toMatchObject([400, { error: { message: 'no more pieces' } }])
  await expect(fetch(`${gateway.url}/file?count=1`).then((answer) => answer.text())).rejects.toThrow()
})

/** The response of a reader that takes nothing, or everything but late. */
class StalledResponse extends EventEmitter {
  readonly written: string[] = []
  readonly drainsAfter: number
  headersSent = false
  ended = false

  constructor(drainsAfter: number) {
    super()
    this.drainsAfter = drainsAfter
  }

  writeHead(): void {
    this.headersSent = true
  }

  write(piece: Buffer): boolean {
    this.written.push(piece.toString())
    if (this.written.length <= this.drainsAfter) queueMicrotask(() => this.emit('drain'))
    return false
  }

  end(): void {
    this.ended = true
  }

  destroy(): void {
    this.emit('close')
  }
}

test('a reader that takes nothing is told so, its stream ends, and then its connection', async () => {
  const ticks = counting()
  const response = new StalledResponse(2)
  const cut = new Promise((resolve) => response.once('close', resolve))
  const stream = { contentType: 'text/event-stream', pieces: ticks.events, isPatient: false }
  await new EventStreams({ patienceMs: 1 }).send(response as unknown as ServerResponse, stream)
  expect([ticks.made, ticks.stopped, response.ended]).toEqual([3, true, true])
  expect(JSON.parse(response.written.at(-1)?.replace('data: ', '') ?? '')).toEqual({
    dropped: 'the reader did not take its events for 0.001 s; open the stream anew to go on',
  })
  await cut
})

test('a document waits for its reader', async () => {
  const response = new StalledResponse(0)
  const pieces = async function* () {
    yield 'a'
    yield 'b'
  }
  const sent = new EventStreams({ patienceMs: 1 }).send(response as unknown as ServerResponse, {
    contentType: 'text/plain',
    pieces,
    isPatient: true,
  })
  await sleep(20)
  expect([response.written, response.ended]).toEqual([['a'], false])
  response.emit('drain')
  await sleep(0)
  response.emit('drain')
  await sent
  expect([response.written, response.ended]).toEqual([['a', 'b'], true])
})
