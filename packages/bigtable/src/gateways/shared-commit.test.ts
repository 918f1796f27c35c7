import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { isOf, topicRowKey } from '@sixtables/engine/store'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { type CellChange, OutcomeUnknown, type RowCondition, type RowKey } from '../row-store/row-store.ts'
import { clockTopic } from './clock-rows.ts'
import { severalGateways } from './several-gateways.ts'

const key: Key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'G', name: 'a' }] }

const put = (engine: Engine, value: number | undefined) =>
  engine.database('p').commit(engine.context(), {
    mode: 'transactional',
    singleUse: { mode: 'readWrite' },
    mutations: [mutationOf(key, value)],
  })

test.each([
  ['the deletion of a missing entity', undefined],
  ['the upsert of the stored value', 1],
])('%s is true at the stamp of its answer', async (_, value) => {
  const rows = new MemoryRows()
  const other = await openEngine({ store: severalGateways({ rows, gateway: 2 }) })
  if (value !== undefined) await put(other, value)
  const clock = topicRowKey(other.database('p').code, clockTopic)
  let isCommitted = false
  let isHeld = false
  // Between the read of the group and the stamp another gateway commits.
  const held: RowSeam = async (call, effect) => {
    if (isHeld && call.kind === 'mutateIf' && call.key === clock) {
      isHeld = false
      await put(other, 5)
      isCommitted = true
    }
    return effect()
  }
  const one = await openEngine({ store: severalGateways({ rows: rows.through(held), gateway: 1 }) })
  await one.database('p').lookup(one.context(), { keys: [key] })
  isHeld = true
  const { commitTime = 0n } = await put(one, value)
  expect(isCommitted).toBe(true)
  const read = { readTime: commitTime }
  const { found } = await one.database('p').lookup(one.context(), { keys: [key], read })
  expect(found.map(({ image }) => storedValue(image.properties))).toEqual(value === undefined ? [] : [value])
  await Promise.all([one.close(), other.close()])
})

/** A clock on which pauses pass at once. */
class NotedPauses extends VirtualClock {
  count = 0

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > 1_000) return super.sleep(ms, signal)
    this.count++
    return Promise.resolve()
  }
}

test('a commit pauses if and only if another one came first', async () => {
  const rows = new MemoryRows()
  const other = await openEngine({ store: severalGateways({ rows, gateway: 2 }), scheduler: new VirtualClock() })
  const clock = topicRowKey(other.database('p').code, clockTopic)
  let stamped = (): void => {}
  const hasStamp = new Promise<void>((resolve) => {
    stamped = resolve
  })
  let interrupt: (() => Promise<unknown>) | undefined = () => hasStamp.then(() => put(other, 5))
  // Between its stamp and the read of its group another gateway commits.
  const seam: RowSeam = async (call, effect) => {
    if (call.kind === 'read' && isOf('Entities', call.key)) {
      const first = interrupt
      interrupt = undefined
      await first?.()
    }
    const result = effect()
    if (call.kind === 'mutateIf' && call.key === clock) stamped()
    return result
  }
  const scheduler = new NotedPauses()
  const one = await openEngine({ store: severalGateways({ rows: rows.through(seam), gateway: 1 }), scheduler })
  await put(one, 6)
  expect(interrupt).toBeUndefined()
  const ofLoser = scheduler.count
  const { found } = await other.database('p').lookup(other.context(), { keys: [key] })
  expect(found.map(({ image }) => storedValue(image.properties))).toEqual([6])
  for (let value = 0; value < 20; value++) {
    const mutations = ['b', 'c'].map((name) => mutationOf({ ...key, path: [{ kind: 'G', name }] }, value))
    const request = { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations } as const
    await one.database('p').commit(one.context(), request)
  }
  expect({ ofLoser, ofTwoGroups: scheduler.count - ofLoser }).toEqual({ ofLoser: 1, ofTwoGroups: 0 })
  await Promise.all([one.close(), other.close()])
})

/** Rows that lose conditional changes which set a cell of a family. */
class LosingRows extends MemoryRows {
  lost = 0
  readonly #family: 'l' | 'p'
  readonly #isDecision: boolean

  constructor(write: 'APPEND' | 'PREPARE' | 'DECIDE') {
    super()
    this.#family = write === 'PREPARE' ? 'p' : 'l'
    this.#isDecision = write === 'DECIDE'
  }

  override mutateRowIf(key: RowKey, condition: RowCondition, changes: readonly CellChange[]): Promise<boolean> {
    const sets = changes.some((change) => change.type === 'set' && change.family === this.#family)
    const ends = changes.some((change) => change.type === 'delete' && change.family === 'p')
    if (!sets || ends !== this.#isDecision || !isOf('Entities', key) || this.lost >= 24) {
      return super.mutateRowIf(key, condition, changes)
    }
    this.lost++
    return Promise.reject(new OutcomeUnknown('by the wish of this test'))
  }
}

test.each([
  ['APPEND', ['a']],
  ['PREPARE', ['a', 'b']],
  ['DECIDE', ['a', 'b']],
] as const)('an answer to %s that is lost 24 times says nothing about contention', async (write, names) => {
  const rows = new LosingRows(write)
  const one = await openEngine({ store: severalGateways({ rows, gateway: 1 }), scheduler: new NotedPauses() })
  const keys = names.map((name) => ({ ...key, path: [{ kind: 'G', name }] }))
  const mutations = keys.map((own) => mutationOf(own, 7))
  await one.database('p').commit(one.context(), { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
  const { found } = await one.database('p').lookup(one.context(), { keys })
  expect(found.map(({ image }) => storedValue(image.properties))).toEqual(names.map(() => 7))
  expect(rows.lost).toBe(24)
  await one.close()
})

test('shared-commit/SC1: a commit whose gateway stood still until its record was swept is not made again', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const waiting: (() => void)[] = []
  let state: 'answers' | 'loses' | 'stands' = 'answers'
  const seam: RowSeam = async (call, effect) => {
    if (state === 'stands') await new Promise<void>((go) => waiting.push(go))
    const result = effect()
    if (state !== 'loses' || call.kind !== 'mutateIf' || !isOf('Entities', call.key)) return result
    state = 'stands'
    throw new OutcomeUnknown('by the wish of this test')
  }
  const one = await openEngine({ store: severalGateways({ rows: rows.through(seam), gateway: 1 }), scheduler })
  const two = await openEngine({ store: severalGateways({ rows, gateway: 2 }), scheduler })
  state = 'loses'
  const outcome = Promise.resolve(put(one, 1)).catch((error: unknown) => error)
  await scheduler.advance(60_000)
  expect(state).toBe('stands')
  await put(two, 2)
  for (let minutes = 0; minutes < 240; minutes += 5) await scheduler.advance(300_000)
  const log = { range: { start: 'E', end: 'F' }, limit: 99, wanted: [{ family: 'l' }] } as const
  expect(await rows.scanRows(log), 'the records are swept').toEqual([])
  // A register that is old would stop it too.
  await put(two, 3)
  state = 'answers'
  for (const go of waiting.splice(0)) go()
  await scheduler.advance(60_000)
  expect(await outcome).toMatchObject({ code: 'UNAVAILABLE', committed: 'unknown' })
  const { found } = await two.database('p').lookup(two.context(), { keys: [key] })
  expect(found.map(({ image }) => storedValue(image.properties))).toEqual([3])
  await Promise.all([one.close(), two.close()])
})

test('mutations of no transaction have a version for each group, and on an error all of other groups stand; in one process those before it', async () => {
  const [shared, local] = [
    await openEngine({ store: severalGateways({ rows: new MemoryRows(), gateway: 1 }) }),
    await openEngine(),
  ]
  const named = (name: string): Key => ({ ...key, path: [{ kind: 'G', name }] })
  const commit = async (engine: Engine, ...mutations: ReturnType<typeof mutationOf>[]) =>
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  const versions = async (engine: Engine): Promise<number> => {
    const { mutationResults } = await commit(engine, mutationOf(named('a'), 1), mutationOf(named('b'), 1))
    return new Set(mutationResults.map(({ version }) => version)).size
  }
  /** Those that stand of two that come before and after one that fails. */
  const standing = async (engine: Engine): Promise<readonly string[]> => {
    const refused = mutationOf(named('a'), 2, 'insert')
    const failing = commit(engine, mutationOf(named('c'), 1), refused, mutationOf(named('d'), 1))
    await expect(failing).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    const { found } = await engine.database('p').lookup(engine.context(), { keys: [named('c'), named('d')] })
    return found.map(({ key: { path } }) => String(path[0]?.name))
  }
  expect({ versions: await versions(shared), standing: await standing(shared) }).toEqual({
    versions: 2,
    standing: ['c', 'd'],
  })
  expect({ versions: await versions(local), standing: await standing(local) }).toEqual({
    versions: 1,
    standing: ['c'],
  })
  await Promise.all([shared.close(), local.close()])
})
