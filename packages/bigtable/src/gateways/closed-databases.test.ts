/** Resets by two gateways, of which one stands still while the other finishes its reset and begins the next; and late writes. */
import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { bytesOf, isOf } from '@sixtables/engine/store'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowOperationCall, type RowSeam } from '../row-store/memory-rows.ts'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { valueCell } from '../row-store/rows-kv.ts'
import { severalGateways } from './several-gateways.ts'

const scope = { projectId: 'p', databaseId: '' }
const key: Key = { partition: { ...scope, namespaceId: '' }, path: [{ kind: 'G', name: 'a' }] }

const isWish = ({ kind, key }: RowOperationCall): boolean => kind === 'mutateIf' && key.includes('deleting')

/** A gateway that stands still from an operation on. */
class Gateway {
  engine!: Engine
  /** The first operation that waits, and those after it. */
  stopsAt: ((call: RowOperationCall) => boolean) | undefined
  #isStopped = false
  #waiting: (() => void)[] = []

  /** The first operation whose answer is lost, and whose effect is late. */
  losesAt: ((call: RowOperationCall) => boolean) | undefined
  land = (): void => {}

  readonly seam: RowSeam = async (call, effect) => {
    if (this.losesAt?.(call)) {
      this.losesAt = undefined
      this.land = () => void effect()
      throw new OutcomeUnknown('by the wish of this test')
    }
    this.#isStopped ||= this.stopsAt?.(call) === true
    if (this.#isStopped) await new Promise<void>((go) => this.#waiting.push(go))
    return effect()
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  goOn(): void {
    this.stopsAt = undefined
    this.#isStopped = false
    for (const go of this.#waiting.splice(0)) go()
  }

  /** It asks for a reset whose wish lands without an answer, and stands still from then on. */
  async resetUnanswered(world: World): Promise<{ readonly outcome: Promise<unknown> }> {
    this.losesAt = isWish
    this.stopsAt = () => this.losesAt === undefined
    const outcome = this.engine.reset(scope).catch((error: unknown) => error)
    await world.until(() => this.isStopped)
    this.land()
    return { outcome }
  }

  async put(value: number): Promise<void> {
    const mutations = [mutationOf(key, value)]
    await this.engine.database('p').commit(this.engine.context(), { mode: 'nonTransactional', mutations })
  }

  async value(): Promise<number | undefined> {
    const { found } = await this.engine.database('p').lookup(this.engine.context(), { keys: [key] })
    return found[0] && storedValue(found[0].image.properties)
  }
}

class World {
  readonly #clock = new VirtualClock()
  readonly rows = new MemoryRows()
  #gateways = 0

  async gateway(): Promise<Gateway> {
    const gateway = new Gateway()
    const store = severalGateways({ rows: this.rows.through(gateway.seam), gateway: ++this.#gateways })
    gateway.engine = await openEngine({ store, scheduler: this.#clock })
    return gateway
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) await this.#clock.advance(20)
  }

  /** Lets time pass until the work is done. */
  async done<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    work.then(over, over)
    for (let i = 0; !isOver && i < 2_000; i++) await this.#clock.advance(20)
    expect(isOver, 'it does not end').toBe(true)
    return await work
  }

  async until(isSo: () => boolean): Promise<void> {
    for (let i = 0; !isSo() && i < 2_000; i++) await this.#clock.advance(20)
    expect(isSo()).toBe(true)
  }
}

/** The first gateway stands still in a reset, which the second one finishes; then that puts the value 2. */
async function takenOver(stopsAt: (call: RowOperationCall) => boolean) {
  const world = new World()
  const one = await world.gateway()
  const two = await world.gateway()
  for (const gateway of [one, two]) await world.done(gateway.put(1))
  await world.pass(1_000)
  one.stopsAt = stopsAt
  const first = one.engine.reset(scope)
  await world.until(() => one.isStopped)
  await world.pass(20_000)
  await world.done(two.put(2))
  await world.pass(1_000)
  return { world, one, two, first }
}

test('a gateway that is late with one deletion waits for the next one', async () => {
  const { world, one, two, first } = await takenOver(({ key }) => isOf('EntitiesByKind', key))
  two.stopsAt = ({ kind, key }) => kind === 'scan' && isOf('Entities', key)
  const second = two.engine.reset(scope)
  await world.until(() => two.isStopped)
  one.goOn()
  await world.done(first)
  let isPut = false
  const putting = one.put(3).then(() => {
    isPut = true
  })
  await world.pass(2_000)
  expect(isPut).toBe(false)
  two.goOn()
  await world.done(second)
  await world.done(putting)
  expect(await world.done(two.value())).toBe(3)
  const { problems } = await world.done(two.engine.check())
  expect(problems).toEqual([])
})

test('a gateway that is late with one deletion gives the next one no moment', async () => {
  let raised = false
  const { world, one, two, first } = await takenOver(({ kind, key }) => {
    // The read after the epoch was raised: of the row that it has not stamped.
    const isDeleting = isOf('Metadata', key) && key.includes('deleting')
    const stops = raised && kind === 'read' && isDeleting
    raised ||= kind === 'mutateIf' && key.includes('clock')
    return stops
  })
  two.stopsAt = ({ kind, key }) => kind === 'mutateIf' && key.includes('clock')
  const second = two.engine.reset(scope)
  await world.until(() => two.isStopped)
  one.goOn()
  await world.done(first)
  two.goOn()
  await world.done(second)
  expect(await world.done(two.value())).toBeUndefined()
})

test('closed-databases/CD1: the wish for a reset deletes nothing when it lands after a reset was acknowledged', async () => {
  const world = new World()
  const one = await world.gateway()
  for (const value of [1, 2]) {
    await world.done(one.put(value))
    one.losesAt = isWish
    await world.done(one.engine.reset(scope))
    expect(one.losesAt).toBeUndefined()
    await world.done(one.put(3))
    one.land()
    await world.pass(20_000)
    expect(await world.done(one.value())).toBe(3)
  }
  const { problems } = await world.done(one.engine.check())
  expect(problems).toEqual([])
})

test('closed-databases/CD1: a wish that landed, though its answer was lost, is the reset that was asked for', async () => {
  const world = new World()
  const one = await world.gateway()
  await world.done(one.put(1))
  one.losesAt = isWish
  one.stopsAt = ({ key }) => one.losesAt === undefined && key.includes('deleting')
  const reset = one.engine.reset(scope)
  await world.until(() => one.isStopped)
  one.land()
  let wishes = 0
  one.stopsAt = undefined
  one.goOn()
  one.losesAt = (call) => {
    if (isWish(call)) wishes++
    return false
  }
  await world.done(reset)
  // The stamp of the reset, and that it is over.
  expect(wishes).toBe(2)
  expect(await world.done(one.value())).toBeUndefined()
})

/** The wish of one gateway lands, and another one finishes its reset and makes some more, before the first goes on. */
async function overtaken(resets: number) {
  const world = new World()
  const one = await world.gateway()
  const two = await world.gateway()
  for (const gateway of [one, two]) await world.done(gateway.put(1))
  const { outcome } = await one.resetUnanswered(world)
  await world.pass(30_000)
  expect(await world.done(two.value())).toBeUndefined()
  for (let reset = 0; reset < resets; reset++) {
    await world.done(two.put(5))
    await world.done(two.engine.reset(scope))
  }
  await world.done(two.put(7))
  one.goOn()
  const answer = await world.done(outcome)
  await world.pass(2_000)
  expect(await world.done(two.value())).toBe(7)
  return answer
}

test('closed-databases/CD2: a reset that another gateway has finished is not made again after later resets', async () => {
  for (const resets of [1, 16]) expect(await overtaken(resets)).toBeUndefined()
})

test('closed-databases/CD2: a gateway that cannot tell whether its reset was made says so', async () => {
  expect(await overtaken(17)).toMatchObject({ code: 'UNAVAILABLE', committed: 'unknown' })
})

test('closed-databases/CD2: a wish that did not land is stored after the resets of others', async () => {
  const world = new World()
  const one = await world.gateway()
  const two = await world.gateway()
  await world.done(one.put(1))
  one.losesAt = isWish
  one.stopsAt = () => one.losesAt === undefined
  const reset = one.engine.reset(scope)
  await world.until(() => one.isStopped)
  await world.done(two.engine.reset(scope))
  await world.done(two.put(7))
  one.goOn()
  await world.done(reset)
  one.land()
  expect(await world.done(two.value())).toBeUndefined()
})

test('the row of a reset that a version without names left is replaced', async () => {
  const world = new World()
  const one = await world.gateway()
  await world.done(one.put(1))
  await world.done(one.engine.reset(scope))
  const range = { start: 'M', end: 'N' }
  const found = await world.rows.scanRows({ range, limit: 99, wanted: [{ family: 'v' }] })
  const key = found.find((row) => row.key.includes('deleting'))?.key ?? ''
  const value = valueCell(bytesOf('1.0 over []'))
  await world.rows.mutateRows([{ key, changes: [{ type: 'set', family: 'v', at: 0n, value }] }])
  await world.done(one.put(2))
  await world.done(one.engine.reset(scope))
  expect(await world.done(one.value())).toBeUndefined()
})
