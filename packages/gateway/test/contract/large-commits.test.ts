/**
 * Commits of thousands of mutations: they are decoded, checked, evaluated and answered in slices (commit-version/V1, pieces/B1 of
 * convert/pieces.ts).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, openEngine } from '@sixtables/engine'
import { turnScheduler } from '@sixtables/engine/testing'
import { afterEach, expect, test } from 'vitest'
import { Call, messageOf } from '../../src/call.ts'
import { handlersOf } from '../../src/handlers/handlers.ts'
import { decodeAnswer, encodeRequest, type Plain } from '../support/published-protos.ts'

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of open.splice(0)) await end()
})

/** Slices end after a known number of rows, so that other calls have as many turns on any machine. */
const scheduler = turnScheduler(() => {})

async function engineOn(store: 'memory' | 'disk'): Promise<Engine> {
  if (store === 'memory') {
    const engine = await openEngine({ scheduler })
    open.push(() => engine.close())
    return engine
  }
  const dir = await mkdtemp(join(tmpdir(), 'sixtables-large-'))
  const engine = await openEngine({ dir, scheduler })
  open.push(async () => {
    await engine.close()
    await rm(dir, { recursive: true })
  })
  return engine
}

function callOf(engine: Engine): Call {
  return new Call({ clock: engine.context().clock })
}

const keyOf = (name: string): Plain => ({ path: [{ kind: 'K', name }] })
const count = 5000
const keys = Array.from({ length: count }, (_, i) => keyOf(`entity ${i}`))

/** Enough for more than 64 KiB in each request. */
const filler = 'x'.repeat(100)

test.each(['memory', 'disk'] as const)(
  'other calls are answered beside a large commit (store: %s), and none of them sees half of it, or its time',
  async (store) => {
    const engine = await engineOn(store)
    const handlers = handlersOf(engine)
    const mutations = keys.map((key) => ({ upsert: { key, properties: { text: { stringValue: filler } } } }))
    const asked = encodeRequest('Commit', { projectId: 'p', mode: 'NON_TRANSACTIONAL', mutations })
    const two = encodeRequest('Lookup', { projectId: 'p', keys: [keys[0], keys[count - 1]] })
    let isDone = false
    const committed = Promise.resolve(handlers.Commit(asked, callOf(engine))).finally(() => {
      isDone = true
    })
    const seen: { readonly found: number; readonly readTime: bigint }[] = []
    while (!isDone) {
      const answer = decodeAnswer('Lookup', messageOf(await handlers.Lookup(two, callOf(engine))))
      const { seconds, nanos = 0 } = answer['readTime'] as { readonly seconds: string; readonly nanos?: number }
      const readTime = BigInt(seconds) * 1_000_000n + BigInt(nanos) / 1000n
      seen.push({ found: ((answer['found'] as unknown[] | undefined) ?? []).length, readTime })
      await new Promise((resolve) => setImmediate(resolve))
    }
    const results = decodeAnswer('Commit', messageOf(await committed))['mutationResults'] as { version: string }[]
    expect(results).toHaveLength(count)
    const version = BigInt(results[0]?.version ?? 0)
    expect(seen.length).toBeGreaterThan(40)
    for (const { found, readTime } of seen) {
      expect([0, 2]).toContain(found)
      if (found === 0 && store === 'memory') expect(readTime).toBeLessThan(version)
      if (found === 2) expect(readTime).toBeGreaterThanOrEqual(version)
    }
  },
)

/** Mutations of many forms, of which some are no plain writes. */
function mixed(i: number): Plain {
  const key = keyOf(`mixed ${i}`)
  const properties = { number: { integerValue: String(i) }, text: { stringValue: filler } }
  switch (i % 5) {
    case 0:
      return { insert: { key, properties } }
    case 1:
      return { delete: key }
    case 2:
      return { upsert: { key, properties }, propertyMask: { paths: ['number'] } }
    case 3:
      return {
        upsert: { key, properties },
        propertyTransforms: [{ property: 'number', increment: { integerValue: '7' } }],
      }
    default:
      return { upsert: { key, properties: { list: { arrayValue: { values: [{ stringValue: filler }] } } } } }
  }
}

test('mutations of all forms do in a large commit what they do in small ones', async () => {
  const engine = await engineOn('memory')
  const handlers = handlersOf(engine)
  const all = Array.from({ length: 2000 }, (_, i) => mixed(i))
  const commit = async (projectId: string, mutations: readonly Plain[]): Promise<number> => {
    const request = encodeRequest('Commit', { projectId, mode: 'NON_TRANSACTIONAL', mutations })
    const answer = decodeAnswer('Commit', messageOf(await handlers.Commit(request, callOf(engine))))
    return (answer['mutationResults'] as unknown[]).length
  }
  expect(await commit('large', all)).toBe(all.length)
  for (let from = 0; from < all.length; from += 100)
    expect(await commit('small', all.slice(from, from + 100))).toBe(100)
  const stored = async (projectId: string): Promise<unknown[]> => {
    const found: unknown[] = []
    for (let from = 0; from < all.length; from += 100) {
      const names = Array.from({ length: 100 }, (_, i) => keyOf(`mixed ${from + i}`))
      const request = encodeRequest('Lookup', { projectId, keys: names })
      const answer = decodeAnswer('Lookup', messageOf(await handlers.Lookup(request, callOf(engine))))
      for (const { entity } of (answer['found'] as { entity: { properties: unknown } }[] | undefined) ?? []) {
        found.push(entity.properties)
      }
    }
    return found
  }
  const large = await stored('large')
  expect(large.length).toBe(1600)
  expect(large).toEqual(await stored('small'))
})

test('a large commit that its client gives up leaves nothing', async () => {
  const engine = await engineOn('memory')
  const handlers = handlersOf(engine)
  const mutations = keys.map((key) => ({ upsert: { key, properties: { text: { stringValue: filler } } } }))
  const call = callOf(engine)
  const asked = encodeRequest('Commit', { projectId: 'p', mode: 'NON_TRANSACTIONAL', mutations })
  const committed = Promise.resolve(handlers.Commit(asked, call))
  await new Promise((resolve) => setImmediate(resolve))
  call.cancel()
  await expect(committed).rejects.toMatchObject({ code: 'CANCELLED' })
  const lookup = encodeRequest('Lookup', { projectId: 'p', keys: keys.slice(0, 1000) })
  const answer = decodeAnswer('Lookup', messageOf(await handlers.Lookup(lookup, callOf(engine))))
  expect(answer['missing']).toHaveLength(1000)
})
