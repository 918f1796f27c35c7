/**
 * A gateway on a machine that is suspended for hours: its monotonic clock stands, and its wall clock goes on. Meanwhile another gateway
 * deletes and sweeps.
 */
import { DatastoreError, type Engine, type Key, openEngine, type Scheduler } from '@sixtables/engine'
import { keySpaces, VirtualClock, wallClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { indexOfValues, mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = (name: string): Key => ({ partition, path: [{ kind: 'G', name }] })
const stepMs = 300_000

type Ms = () => number

/** Two gateways; the first has the machine's clock, and its machine can be suspended. */
class World {
  readonly #wall = new VirtualClock()
  readonly #steady = new VirtualClock(0n)
  readonly #rows = new MemoryRows(undefined, undefined, () => this.#wall.nowMicros())
  readonly #engines: Engine[] = []

  async open(gateway: 1 | 2, seam: RowSeam = async (_, effect) => await effect()): Promise<Engine> {
    const [wallMs, steadyMs] = [this.#wall, this.#steady].map((clock) => () => clock.steadyMs()) as [Ms, Ms]
    const machine: Scheduler = {
      nowMicros: wallClock(wallMs, steadyMs, wallMs()),
      steadyMs,
      defer: (task) => this.#steady.defer(task),
      sleep: (ms, signal) => this.#steady.sleep(ms, signal),
    }
    const scheduler = gateway === 1 ? machine : this.#wall
    const engine = await openEngine({ store: severalGateways({ rows: this.#rows.through(seam), gateway }), scheduler })
    this.#engines.push(engine)
    return engine
  }

  /** Both machines run. */
  async run(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 20) {
      await this.#wall.advance(20)
      await this.#steady.advance(20)
    }
  }

  /** The second machine runs, the first one is suspended. */
  async suspended(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) await this.#wall.advance(stepMs)
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.#engines.map((engine) => engine.close()))
    await this.run(1000)
    await closed
  }
}

async function put(engine: Engine, name: string, value: number | undefined): Promise<void> {
  const mutations = [mutationOf(key(name), value)]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

test('shared-apply/SA1: after a suspension the rows of a record that others finished are not written', async () => {
  const world = new World()
  let isRefused = false
  const one = await world.open(1, async ({ kind, key: row }, effect) => {
    if (isRefused && kind === 'mutate' && !row.startsWith('M')) throw new DatastoreError('UNAVAILABLE', 'busy')
    return await effect()
  })
  const two = await world.open(2)
  await put(two, 'b', 1)
  await world.run(1000)
  isRefused = true
  await put(one, 'a', 1)
  await world.run(100)
  isRefused = false
  await world.suspended(3_600_000)
  await put(two, 'a', undefined)
  await world.suspended(4 * 3_600_000)
  await world.run(20_000)
  expect((await two.check()).problems).toEqual([])
  await world.close()
})

test('after a suspension the rows of an index are made of images that are read anew', async () => {
  const world = new World()
  let hold: Promise<void> | undefined
  const one = await world.open(1, async ({ kind, key: row }, effect) => {
    const answer = await effect()
    if (kind === 'read' && row.startsWith(keySpaces.Entities)) await hold
    return answer
  })
  const two = await world.open(2)
  await put(two, 'a', 1)
  await put(two, 'b', 1)
  await world.run(1000)
  let goOn = (): void => {}
  hold = new Promise((resolve) => {
    goOn = resolve
  })
  const built = one.createIndex(one.database('p'), indexOfValues)
  await world.run(1000)
  await put(two, 'a', undefined)
  await world.suspended(4 * 3_600_000)
  await put(two, 'c', 1)
  hold = undefined
  goOn()
  await world.run(20_000)
  await built
  expect((await two.check()).problems).toEqual([])
  await world.close()
})

test('after a suspension the clock of a gateway is not taken for one that is ahead of what the others stamp', async () => {
  const world = new World()
  const [one, two] = [await world.open(1), await world.open(2)]
  for (const engine of [two, one]) await put(engine, 'a', 1)
  await world.run(100)
  await world.suspended(3_600_000)
  await put(two, 'a', 2)
  await expect(put(one, 'b', 1)).resolves.toBeUndefined()
  await world.close()
})
