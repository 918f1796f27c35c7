/** Two gateways over one store of rows; the clock of the second is set forth and back, while the steady one goes on. */
import { DatastoreError, type Engine, openEngine, type ReadOptions, type Scheduler } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = { partition, path: [{ kind: 'G', name: 'a' }] }
const other = { partition, path: [{ kind: 'G', name: 'b' }] }
const secondMicros = 1_000_000n

let clock: VirtualClock
let aheadMicros: bigint
let right: Engine
let wrong: Engine
/** Comparisons of the second gateway; whether the store refuses them; and its own clock. */
let looks: number
let isSilent: boolean
let storeAheadMicros: bigint
/** Comparisons wait for it. */
let held: Promise<void> | undefined
/** Failures of the second gateway and their ends, as it told them. */
let told: (string | undefined)[]

beforeEach(async () => {
  clock = new VirtualClock()
  aheadMicros = 0n
  looks = 0
  isSilent = false
  storeAheadMicros = 0n
  held = undefined
  told = []
  const rows = new MemoryRows(undefined, undefined, () => clock.nowMicros() + storeAheadMicros)
  const set: Scheduler = {
    nowMicros: () => clock.nowMicros() + aheadMicros,
    steadyMs: () => clock.steadyMs(),
    defer: (task) => clock.defer(task),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  }
  const counted: RowSeam = async (call, effect) => {
    if (call.key === 'M') {
      looks++
      if (isSilent) throw new DatastoreError('UNAVAILABLE', 'silent')
      await held
    }
    return await effect()
  }
  right = await openEngine({
    store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway: 1 }),
    scheduler: clock,
  })
  wrong = await openEngine({ store: severalGateways({ rows: rows.through(counted), gateway: 2 }), scheduler: set })
  wrong.store.onFailure?.((failure, recovery) => told.push(failure?.message ?? recovery))
  await clock.advance(1_000)
})

afterEach(async () => {
  const closed = Promise.all([right, wrong].map((engine) => engine.close()))
  await clock.advance(10_000)
  await closed
})

/** The outcome of a call within a second. */
async function soon<T>(answer: T | Promise<T>): Promise<T> {
  const answered = Promise.resolve(answer)
  answered.catch(() => {})
  await clock.advance(1_000)
  return await answered
}

let value = 0
/** @returns how far the version of a commit is ahead of the time, in seconds */
async function put(engine: Engine): Promise<number> {
  const mutations = [mutationOf(key, ++value)]
  const committed = await soon(engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations }))
  return Number((committed.mutationResults[0]?.version ?? 0n) - clock.nowMicros()) / 1_000_000
}

const lookup = async (engine: Engine, read: ReadOptions) =>
  await engine.database('p').lookup(engine.context(), { keys: [key, other], read })

const read = (engine: Engine) => soon(lookup(engine, {}))

test('compared-clock/CK1: a clock that is set forward gives no stamps, and those of it go on as soon as it is right', async () => {
  for (const engine of [right, wrong]) expect(await put(engine)).toBeLessThan(0.01)
  aheadMicros = 100n * secondMicros
  await put(right)
  const refused = {
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      /^the clock of this gateway is 100 s ahead of the clock of the rows in memory, .*set the clock right/,
    ),
  }
  await expect(put(wrong)).rejects.toMatchObject(refused)
  await expect(read(wrong)).rejects.toMatchObject(refused)
  await expect(
    soon(wrong.database('p').beginTransaction(wrong.context(), { mode: 'readWrite' })),
  ).rejects.toMatchObject(refused)
  expect(wrong.store.failure).toMatchObject(refused)
  aheadMicros = 0n
  expect(await put(wrong)).toBeLessThan(0.01)
  await read(wrong)
  expect(wrong.store.failure).toBeUndefined()
  expect(await put(right)).toBeLessThan(0.01)
})

test('compared-clock/CK1: a clock that goes forth and back while there are no commits moves no register', async () => {
  await put(right)
  for (const aheadSeconds of [3_600n, 0n, 120n]) {
    aheadMicros = aheadSeconds * secondMicros
    await clock.advance(8_000)
    if (aheadSeconds === 0n) expect(await put(wrong)).toBeLessThan(0.01)
    else await expect(put(wrong)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  }
  expect(await put(right)).toBeLessThan(0.01)
})

test('compared-clock/CK1: a clock that goes wrong unseen is found out before a big move of a register', async () => {
  await put(wrong)
  await clock.advance(50_000)
  await put(wrong)
  expect(looks).toBe(1)
  await clock.advance(10_000)
  // All clocks of the machine are set at once, so that there is no step between them.
  storeAheadMicros = -100n * secondMicros
  await expect(put(wrong)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(looks).toBe(2)
})

test.each([
  [3_600n, 0n],
  [100n, 50n],
])(
  'compared-clock/CK1: moments of a clock that was set back meanwhile, from %d s to %d s ahead, move no register',
  async (before, after) => {
    await put(right)
    aheadMicros = before * secondMicros
    let goOn = (): void => {}
    held = new Promise((resolve) => {
      goOn = resolve
    })
    const reading = lookup(wrong, { readTime: clock.nowMicros() + (before - 10n) * secondMicros })
    reading.catch(() => {})
    await clock.advance(100)
    aheadMicros = after * secondMicros
    goOn()
    await expect(reading).rejects.toThrow('was set back during the call; try again')
    aheadMicros = 0n
    expect(await put(wrong)).toBeLessThan(0.01)
    expect(await put(right)).toBeLessThan(0.01)
  },
)

test('compared-clock/CK1: a clock that is behind gives no stamps, and makes nothing younger', async () => {
  await put(right)
  const transaction = await soon(right.database('p').beginTransaction(right.context(), { mode: 'readWrite' }))
  await clock.advance(271_000)
  await put(right)
  await read(wrong)
  aheadMicros = -50n * secondMicros
  await expect(soon(lookup(wrong, { transaction }))).rejects.toMatchObject({
    message: expect.stringContaining('expired'),
  })
  aheadMicros = -3_600n * secondMicros
  await expect(put(wrong)).rejects.toThrow(/is 3600 s behind the clock of/)
  aheadMicros = 0n
  await put(wrong)
})

test('a clock that was set forward ends no transaction', async () => {
  await put(right)
  const database = wrong.database('p')
  const begin = () => soon(database.beginTransaction(wrong.context(), { mode: 'readWrite' }))
  const transaction = await begin()
  const calls: readonly (() => unknown)[] = [
    () => lookup(wrong, { transaction }),
    () => database.rollback(wrong.context(), transaction),
    () => database.commit(wrong.context(), { mode: 'transactional', transaction, mutations: [] }),
    () => database.beginTransaction(wrong.context(), { mode: 'readWrite', previousTransaction: transaction }),
  ]
  for (const call of calls) {
    aheadMicros = 3_600n * secondMicros
    await expect(soon(call())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    aheadMicros = 0n
    await read(wrong).catch(() => {})
    expect(wrong.store.failure).toBeUndefined()
  }
  await soon(lookup(wrong, { transaction }))
  await soon(database.commit(wrong.context(), { mode: 'transactional', transaction, mutations: [mutationOf(key, 1)] }))
  const old = await begin()
  await clock.advance(271_000)
  await expect(soon(lookup(wrong, { transaction: old }))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('expired'),
  })
})

test('compared-clock/CK1: a clock is not right before a comparison that was answered soon', async () => {
  await put(right)
  aheadMicros = 3_600n * secondMicros
  const answers: (() => void)[] = []
  const hold = () => {
    held = new Promise((resolve) => answers.push(resolve))
  }
  const refused = async (projectId: string): Promise<void> => {
    const mutations = [mutationOf({ ...key, partition: { ...partition, projectId } }, ++value)]
    const committed = wrong.database(projectId).commit(wrong.context(), { mode: 'nonTransactional', mutations })
    await expect(committed).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  }
  hold()
  const first = refused('p')
  await clock.advance(8_000)
  // The first answer comes too late to tell, and the second is not there yet.
  hold()
  answers[0]?.()
  await clock.advance(100)
  const second = refused('q')
  await clock.advance(100)
  answers[1]?.()
  await clock.advance(1_000)
  await Promise.all([first, second])
  expect(await put(right)).toBeLessThan(0.01)
})

test('a gateway without calls tells once that its clock is wrong, with figures, and once that it is right', async () => {
  aheadMicros = 100n * secondMicros
  await clock.advance(5_000)
  expect(wrong.store.failure?.code).toBe('UNAVAILABLE')
  aheadMicros = 200n * secondMicros
  await clock.advance(5_000)
  expect(wrong.store.failure?.message).toContain('200 s ahead')
  aheadMicros = secondMicros / 2n
  await clock.advance(1_000)
  expect(wrong.store.failure).toBeUndefined()
  expect(told).toEqual([
    expect.stringContaining('is 100 s ahead of the clock'),
    expect.stringMatching(/^the clock of this gateway is right again: 0 s ahead of the clock of/),
  ])
})

test('a clock that goes on is compared every ten minutes, and no call waits for it', async () => {
  await clock.advance(3_600_000)
  expect(looks).toBe(7)
})

test('a store that does not tell its time refuses what needs it, and nothing after that', async () => {
  await put(wrong)
  aheadMicros = 2n * secondMicros
  isSilent = true
  await expect(put(wrong)).rejects.toThrow('silent')
  expect(wrong.store.failure).toBeUndefined()
  isSilent = false
  await put(wrong)
})
