/**
 * findings/P1, findings/P2: what is found follows from the shape of the traffic, not from its pace; well-behaved traffic gives no
 * finding; and a figure of sampled traffic is that of all of it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Mutation } from '../../src/database/api.ts'
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { Key, PathElement } from '../../src/model/key.ts'
import type { Value } from '../../src/model/value.ts'
import type { FindingKind } from '../../src/observe/findings/finding-kinds.ts'
import { type Random, seededRandom } from '../../src/random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

const keyOf = (...path: PathElement[]): Key => ({ partition, path })

const owners = 40

/** @param more - names of further indexed properties */
function task(key: Key, random: Random, more: readonly string[] = []): Mutation {
  const properties = new Map<string, Value>([
    ['owner', { type: 'string', value: `owner ${random.integer(owners)}` }],
    ['note', { type: 'string', value: `note ${random.integer(1_000_000)}`, excludeFromIndexes: true }],
    ...more.map((name): [string, Value] => [name, { type: 'integer', value: BigInt(random.integer(1000)) }]),
  ])
  const keyBytes = encodeKey(key)
  const head = Buffer.from([0x0a, keyBytes.length])
  return { operation: 'upsert', entity: Buffer.concat([head, keyBytes, encodeProperties(properties)]) }
}

/** One engine whose clock moves on by `paceMs` with each call. */
class Traffic {
  readonly engine: Engine
  readonly #clock: VirtualClock
  readonly #paceMs: number
  readonly random: Random

  private constructor(engine: Engine, clock: VirtualClock, paceMs: number, seed: number) {
    this.engine = engine
    this.#clock = clock
    this.#paceMs = paceMs
    this.random = seededRandom(seed)
  }

  static async open(paceMs: number, seed: number): Promise<Traffic> {
    const clock = new VirtualClock()
    return new Traffic(await openEngine({ scheduler: clock, seed }), clock, paceMs, seed)
  }

  /** @returns the keys, completed */
  async commit(mutations: readonly Mutation[]): Promise<readonly (Key | undefined)[]> {
    await this.#clock.advance(this.#paceMs)
    const context = this.engine.context()
    const { mutationResults } = await this.engine
      .database('p')
      .commit(context, { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
    return mutationResults.map(({ key }) => key)
  }

  async lookup(keys: readonly Key[]): Promise<void> {
    await this.#clock.advance(this.#paceMs)
    await this.engine.database('p').lookup(this.engine.context(), { keys })
  }

  async query(owner: string): Promise<void> {
    await this.#clock.advance(this.#paceMs)
    await this.engine.database('p').runQuery(this.engine.context(), {
      query: {
        partition,
        kind: 'Task',
        projection: [],
        filter: { type: 'property', property: 'owner', operator: 'equal', value: { type: 'string', value: owner } },
        order: [],
        distinctOn: [],
        offset: 0,
        limit: 20,
      },
    })
  }

  evidence(of: FindingKind): readonly string[] {
    return this.engine.findings().flatMap(({ kind, evidence }) => (kind === of ? evidence : []))
  }

  kinds(): readonly string[] {
    return [...new Set(this.engine.findings().map(({ kind }) => kind))].sort()
  }
}

const paces = fc.constantFrom(20, 250, 2_000)

/** Automatic ids, commits and lookups of many, no needless index, no entity that everybody wants. */
async function behaveWell(traffic: Traffic, calls: number): Promise<void> {
  const { random } = traffic
  const keys: Key[] = []
  const some = (count: number): readonly Key[] => [
    ...new Set(Array.from({ length: count }, () => keys[random.integer(keys.length)] as Key)),
  ]
  for (let i = 0; i < calls; i++) {
    const draw = random.integer(10)
    if (keys.length < 200 || draw < 2) {
      const fresh = Array.from({ length: 10 }, () => task(keyOf({ kind: 'Task' }), random))
      for (const key of await traffic.commit(fresh)) if (key !== undefined) keys.push(key)
    } else if (draw < 4) await traffic.commit(some(8).map((key) => task(key, random)))
    else if (draw < 7) await traffic.lookup(some(12))
    else await traffic.query(`owner ${random.integer(owners)}`)
  }
}

test('well-behaved traffic gives no findings, at any pace (findings/P1, findings/P2)', async () => {
  await fc.assert(
    fc.asyncProperty(paces, fc.integer({ min: 1, max: 1_000_000 }), async (paceMs, seed) => {
      const traffic = await Traffic.open(paceMs, seed)
      await behaveWell(traffic, 400)
      expect(traffic.engine.findings()).toEqual([])
      await traffic.engine.close()
    }),
    { numRuns: runs(3) },
  )
})

test('rising ids are found at any pace, also among well-behaved traffic (findings/P1)', async () => {
  await fc.assert(
    fc.asyncProperty(paces, fc.integer({ min: 1, max: 1_000_000 }), async (paceMs, seed) => {
      const traffic = await Traffic.open(paceMs, seed)
      for (let part = 0; part < 40; part++) {
        const rising = Array.from({ length: 10 }, (_, i) => keyOf({ kind: 'Order', id: BigInt(part * 10 + i + 1) }))
        await traffic.commit(rising.map((key) => task(key, traffic.random)))
        await behaveWell(traffic, 2)
      }
      expect(traffic.kinds()).toContain('sequential-keys')
      await traffic.engine.close()
    }),
    { numRuns: runs(2) },
  )
})

const numbers = (words: string | undefined): readonly number[] =>
  (words?.match(/\d[\d,.]*/g) ?? []).map((one) => Number(one.replaceAll(',', '')))

test.each([1, 25, 100, 500])(
  'the figures of sampled commits of %i count each entity once, and say that they are estimates',
  async (size) => {
    // 1,000 entities a second.
    const traffic = await Traffic.open(size, 1)
    const entities = 10_500
    for (let i = 0; i < 32; i++) await traffic.query('owner 1')
    for (let written = 0; written < entities; written += size) {
      const fresh = Array.from({ length: size }, () => task(keyOf({ kind: 'Task' }), traffic.random, ['a']))
      await traffic.commit(fresh)
    }
    const [start] = traffic.evidence('sudden-start')
    expect(start).toMatch(/^about (9[5-9]0|1,000|1,100) entities\/s were written/)
    const [rows] = traffic.evidence('needless-index')
    expect(rows).toMatch(/^about [\d,]+ of about [\d,]+ property rows/)
    const [unread = 0, all = 0] = numbers(rows)
    expect([unread / entities, all / (entities * 2)].map((share) => Math.abs(share - 1) < 0.05)).toEqual([true, true])
    await traffic.engine.close()
  },
)

test('an entity weighs the same in a commit of one as in a commit of 500', async () => {
  const traffic = await Traffic.open(1, 1)
  for (let i = 0; i < 32; i++) await traffic.query('owner 1')
  const writtenOf = { Task: 0, Page: 0 }
  const write = async (kind: keyof typeof writtenOf, size: number): Promise<void> => {
    await traffic.commit(Array.from({ length: size }, () => task(keyOf({ kind }), traffic.random, ['a'])))
    writtenOf[kind] += size
  }
  for (let round = 0; round < 10; round++) {
    await write('Page', 500)
    for (let i = 0; i < 500; i++) await write('Task', 1)
  }
  const [rows] = traffic.evidence('needless-index')
  const [, all = 0] = numbers(rows)
  expect(Math.abs(all / (writtenOf.Task * 2) - 1)).toBeLessThan(0.2)
  await traffic.engine.close()
})

test('the figures of little traffic are exact', async () => {
  const traffic = await Traffic.open(1000, 1)
  for (let i = 0; i < 32; i++) await traffic.query('owner 1')
  for (let i = 0; i < 40; i++) {
    await traffic.commit(Array.from({ length: 20 }, () => task(keyOf({ kind: 'Task' }), traffic.random, ['a'])))
  }
  expect(traffic.evidence('needless-index')).toEqual(['800 of 1,600 property rows (50 %): a'])
  await traffic.engine.close()
})

test('writes of a narrow range weigh no more than reads of all keys, which are sampled less often', async () => {
  const traffic = await Traffic.open(10, 1)
  const { random } = traffic
  const players = Array.from({ length: 200 }, (_, i) => keyOf({ kind: 'Player', name: `p${i + 100}` }))
  const anyTen = (): readonly Key[] => {
    const from = random.integer(20)
    return players.filter((_, i) => i % 20 === from)
  }
  for (let i = 0; i < 500; i++) await traffic.lookup(anyTen())
  // 50 entities of ten keys side by side are written in a second, and 500 of all keys read.
  for (let i = 0; i < 3000; i++) {
    await traffic.commit([task(players[50 + random.integer(10)] as Key, random)])
    await traffic.lookup(anyTen())
  }
  expect(traffic.evidence('hot-range')).toEqual([])
  await traffic.engine.close()
})
