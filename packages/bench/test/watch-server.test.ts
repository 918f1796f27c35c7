import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { likeButton } from '../src/challenges/like-button.ts'
import { watchServer } from '../src/challenges/watch-server.ts'
import { UsageError } from '../src/cli/errors.ts'

let server: Server | undefined
afterEach(() => void server?.close())

/** Watches a server whose finding of a hot group was last seen at these times, before and after the watch. */
async function watched(seenBefore: number | undefined, seenAfter: number): Promise<readonly string[]> {
  let asked = 0
  const hot = { kind: 'hot-entity-group', subject: 'Likes:"cats"', words: 'hot', firstSeenMs: 1 }
  server = createServer(({ url }, response) => {
    if (url === '/emulator/tablets') {
      response.end(JSON.stringify({ simulated: true, requests: { perSecond: 100, rejectedPerSecond: 0 } }))
      return
    }
    const lastSeenMs = asked++ === 0 ? seenBefore : seenAfter
    response.end(JSON.stringify({ findings: lastSeenMs === undefined ? [] : [{ ...hot, lastSeenMs }] }))
  })
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
  const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const verdicts = await watchServer(likeButton, { endpoint, seconds: 6, sleep: async () => {} })
  return verdicts.map(({ verdict }) => verdict)
}

it('fails a program whose finding was there before the watch, and was seen again', async () => {
  expect(await watched(2, 3)).toEqual(['fails', 'holds'])
})

it('fails a program with a new finding, and forgives one of a program that has ended', async () => {
  expect(await watched(undefined, 3)).toEqual(['fails', 'holds'])
  server?.close()
  expect(await watched(2, 2)).toEqual(['holds', 'holds'])
})

it('refuses a server of something else in one sentence', async () => {
  server = createServer((_, response) => response.end('<html>'))
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
  const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(watchServer(likeButton, { endpoint, seconds: 6, sleep: async () => {} })).rejects.toThrow(
    new UsageError(`${endpoint} answers /emulator/findings with 200; is it a sixtables server?`),
  )
})
