import {
  type Engine,
  type EngineOptions,
  type IndexDefinition,
  type Key,
  type MaybePromise,
  type Mutation,
  openEngine,
  type QueryBatch,
} from '@sixtables/engine'
import { keySpaces, query, VirtualClock, where } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { array, entity, integer, keyOf, property } from '../../../engine/test/property/entity-messages.ts'
import { indexOfValues, mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowOperationCall, type RowSeam } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const key = (id: number): Key => keyOf([{ kind: 'G', id: BigInt(id) }])

interface Gateway {
  readonly engine: Engine
  /** Its operations so far. */
  readonly calls: RowOperationCall[]
  /** From now on nothing that it asks for happens. */
  die(): void
  /** It dies at the first such operation. @returns what lets that operation land */
  dieAt(which: (call: RowOperationCall) => boolean): () => void
  /** It stands still after the first such operation, which lands. @returns what lets it go on */
  standStillAfter(which: (call: RowOperationCall) => boolean): { isStill(): boolean; goOn(): void }
}

class World {
  readonly scheduler = new VirtualClock()
  readonly #rows = new MemoryRows()
  #gateways = 0

  async gateway(options: EngineOptions = {}): Promise<Gateway> {
    const calls: RowOperationCall[] = []
    let isDead = false
    let last = (_: RowOperationCall): boolean => false
    let late = (): void => {}
    let pausesAfter = (_: RowOperationCall): boolean => false
    let pause: Promise<void> | undefined
    let goOn = (): void => {}
    const seam: RowSeam = async (call, effect) => {
      if (!isDead && last(call)) {
        isDead = true
        late = () => void effect()
      }
      if (isDead) return new Promise(() => {})
      await pause
      calls.push(call)
      const result = await effect()
      if (!pausesAfter(call)) return result
      pausesAfter = () => false
      pause = new Promise((resolve) => {
        goOn = resolve
      })
      await pause
      pause = undefined
      return result
    }
    const { scheduler } = this
    const store = severalGateways({ rows: this.#rows.through(seam), gateway: ++this.#gateways })
    const engine = await openEngine({ ...options, store, scheduler })
    return {
      engine,
      calls,
      die: () => {
        isDead = true
      },
      dieAt: (which) => {
        last = which
        return () => late()
      },
      standStillAfter: (which) => {
        pausesAfter = which
        return { isStill: () => pause !== undefined, goOn: () => goOn() }
      },
    }
  }

  /** Lets time pass until `work` is done, a millisecond at a time. */
  async until<T>(work: MaybePromise<T>): Promise<T> {
    let isDone = false
    const done = Promise.resolve(work).finally(() => {
      isDone = true
    })
    done.catch(() => {})
    while (!isDone) {
      await this.scheduler.advance(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return await done
  }

  /** Lets time pass, a second at a time. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.scheduler.advance(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

async function put({ engine }: Gateway, count: number): Promise<void> {
  const mutations = Array.from({ length: count }, (_, i) => mutationOf(key(i + 1), i))
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

const statesAt = ({ engine }: Gateway): readonly string[] =>
  engine.database('p').catalogue.all.map(({ state }) => state)

const compositeRowsBy = ({ calls }: Gateway): number =>
  calls.filter(({ kind, key }) => kind === 'mutate' && key.startsWith(keySpaces.EntitiesByCompositeProperty)).length

test('shared-index-work/XS1: two gateways that are asked for an index at once build it once, and both know it', async () => {
  const world = new World()
  const [a, b] = [await world.gateway(), await world.gateway()]
  await put(a, 200)
  const asked = Promise.all([a, b].map(({ engine }) => engine.indexes.ensure(engine.database('p'), indexOfValues)))
  let isBuilt = false
  void asked.then(() => {
    isBuilt = true
  })
  while (!isBuilt) await world.pass(1)
  expect([statesAt(a), statesAt(b)]).toEqual([['serving'], ['serving']])
  expect([compositeRowsBy(a), compositeRowsBy(b)].toSorted((x, y) => x - y)).toEqual([0, 200])
  expect((await b.engine.check()).problems).toEqual([])
  for (const { engine } of [a, b]) await engine.close()
})

test('shared-index-work/XS1: an index whose gateway has died is built, and deleted, by another one', async () => {
  const world = new World()
  const [a, b] = [await world.gateway(), await world.gateway()]
  await put(a, 250)
  a.engine.createIndex(a.engine.database('p'), indexOfValues).catch(() => {})
  while (compositeRowsBy(a) === 0) await world.scheduler.advance(1)
  a.die()
  for (let passed = 0; passed < 60 && statesAt(b)[0] !== 'serving'; passed++) await world.pass(1)
  expect(statesAt(b)).toEqual(['serving'])
  expect((await b.engine.check()).problems).toEqual([])
  const c = await world.gateway()
  const job = b.engine.indexes.drop(b.engine.database('p'), b.engine.database('p').catalogue.all[0]?.id ?? 0n)
  let isDefined = false
  void job.defined.then(() => {
    isDefined = true
  })
  while (!isDefined) await world.scheduler.advance(1)
  b.die()
  for (let passed = 0; passed < 60 && statesAt(c).length > 0; passed++) await world.pass(1)
  expect(statesAt(c)).toEqual([])
  expect((await c.engine.check()).problems).toEqual([])
  await c.engine.close()
})

test('rows of a deleted index that land late are not of an index that comes after it', async () => {
  const world = new World()
  const [a, b] = [await world.gateway(), await world.gateway()]
  await put(a, 4)
  const land = a.dieAt(({ kind, key }) => kind === 'mutate' && key.startsWith(keySpaces.EntitiesByCompositeProperty))
  a.engine.createIndex(a.engine.database('p'), indexOfValues).catch(() => {})
  // Before it is built again, which would write the same rows in time.
  for (let passed = 0; passed < 60 && statesAt(b).length === 0; passed++) await world.pass(1)
  const [first] = b.engine.database('p').catalogue.all
  await world.until(b.engine.indexes.drop(b.engine.database('p'), first?.id ?? 0n).done)
  b.die()
  const c = await world.gateway()
  const asked = { query: query({ kind: 'G', filter: where('parity', '=', 1n), order: ['v desc'] }) }
  const ask = async (): Promise<number> =>
    (await world.until(c.engine.database('p').runQuery(c.engine.context(), asked))).results.length
  expect(await ask()).toBe(2)
  land()
  expect([await ask(), statesAt(c)]).toEqual([2, ['serving']])
  expect((await c.engine.check()).problems).toEqual([])
  expect(c.engine.database('p').catalogue.all.map(({ id }) => id)).toEqual([2n])
  await c.engine.close()
})

test('a gateway that stands still after its definition fails no index that others have deleted', async () => {
  const world = new World()
  const a = await world.gateway()
  await put(a, 4)
  const { isStill, goOn } = a.standStillAfter(({ kind, key }) => kind === 'mutateIf' && key.includes('compositeIndex'))
  const creating = Promise.resolve(a.engine.createIndex(a.engine.database('p'), indexOfValues))
  while (!isStill()) await world.scheduler.advance(1)
  const b = await world.gateway()
  for (let passed = 0; passed < 60 && statesAt(b)[0] !== 'serving'; passed++) await world.pass(1)
  const [first] = b.engine.database('p').catalogue.all
  expect(first?.state).toBe('serving')
  await world.until(b.engine.indexes.drop(b.engine.database('p'), first?.id ?? 0n).done)
  goOn()
  expect(await world.until(creating)).toMatchObject({ id: 2n, state: 'serving' })
  await world.pass(6)
  expect(b.engine.database('p').catalogue.all).toMatchObject([{ id: 2n, state: 'serving' }])
  expect((await b.engine.check()).problems).toEqual([])
  for (const { engine } of [a, b]) await engine.close()
})

test('a query takes the index that another gateway has defined meanwhile, built or not, whether it may build one or not', async () => {
  const world = new World()
  const [a, b, c] = [await world.gateway(), await world.gateway(), await world.gateway({ indexes: 'require' })]
  const asked = { query: query({ kind: 'G', filter: where('parity', '=', 1n), order: ['v desc'] }) }
  const ask = ({ engine }: Gateway): Promise<QueryBatch> =>
    world.until(engine.database('p').runQuery(engine.context(), asked))
  await put(a, 100)
  const built = ask(a)
  built.catch(() => {})
  while (compositeRowsBy(a) === 0) await world.until(undefined)
  // The others have not read of it: their watch looks every five seconds.
  expect([statesAt(b), statesAt(c)]).toEqual([[], []])
  for (const answer of [await ask(b), await built, await ask(c)]) expect(answer.results).toHaveLength(50)
  expect([statesAt(a), compositeRowsBy(b), compositeRowsBy(c)]).toEqual([['serving'], 0, 0])
  for (const { engine } of [a, b, c]) await engine.close()
})

test('entities expire by the sweep of one gateway, and of another one when that has died', async () => {
  const world = new World()
  const ttl = [{ kind: 'G', property: 'expires' }]
  const gateways = [await world.gateway({ ttl }), await world.gateway({ ttl })]
  const sweepsBy = ({ calls }: Gateway): number =>
    calls.filter(({ kind, key }) => kind === 'scan' && key.startsWith(keySpaces.EntitiesByKind)).length
  const putExpired = async ({ engine }: Gateway, id: number): Promise<void> => {
    const expires = property('expires', { type: 'timestamp', micros: world.scheduler.nowMicros() - 1n })
    const mutations = [{ operation: 'upsert' as const, entity: entity(key(id), expires) }]
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  const entitiesAt = async ({ engine }: Gateway): Promise<number> => (await engine.check()).entities
  await putExpired(gateways[0] as Gateway, 1)
  for (const { calls } of gateways) calls.length = 0
  await world.pass(62)
  const swept = gateways.map(sweepsBy)
  expect(swept.filter((sweeps) => sweeps > 0)).toHaveLength(1)
  const [first, second] = (swept[0] ? gateways : gateways.toReversed()) as [Gateway, Gateway]
  expect(await entitiesAt(second)).toBe(0)
  first.die()
  await putExpired(second, 2)
  await world.pass(62)
  expect(await entitiesAt(second)).toBe(0)
  await second.engine.close()
})

const withNames = (bytes: number, properties: number): IndexDefinition => ({
  kind: 'G',
  ancestor: false,
  properties: Array.from({ length: properties }, (_, i) => ({
    name: `v${i}`.padEnd(bytes, 'x'),
    direction: 'ascending',
  })),
})

test('a definition that is too long is refused, and nothing is stored', async () => {
  const world = new World()
  const a = await world.gateway()
  const asked = a.engine.createIndex(a.engine.database('p'), withNames(1400, 7))
  await expect(world.until(asked)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/^the index on G with 7 properties .* 10\d{3} bytes; at most 9000 .*: shorten/),
  })
  const b = await world.gateway()
  expect([statesAt(a), statesAt(b)]).toEqual([[], []])
  for (const { engine } of [a, b]) await engine.close()
})

test('the longest definition fails with a long reason, and can be deleted', async () => {
  const world = new World()
  const a = await world.gateway()
  const { engine } = a
  const database = engine.database('p')
  const long = withNames(1400, 6)
  // Two of the arrays alone have 2.25 million pairs, more than composite indexes may have rows.
  const values = array(...Array.from({ length: 1500 }, (_, i) => integer(i)))
  const properties = long.properties.map(({ name }, i) => property(name, i < 2 ? values : integer(i)))
  const mutation: Mutation = { operation: 'upsert', entity: entity(key(1), ...properties) }
  await world.until(database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutation] }))
  await expect(world.until(engine.createIndex(database, long))).rejects.toThrow(/rows in composite indexes/)
  const failed = database.catalogue.all[0]
  expect(failed).toMatchObject({ state: 'failed', failure: expect.stringMatching(/rows in composite indexes/) })
  await world.until(engine.indexes.drop(database, failed?.id ?? 0n).done)
  expect(statesAt(a)).toEqual([])
  await engine.close()
})
