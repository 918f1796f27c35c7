/**
 * A gateway dies before or after each row operation of each kind of commit. Another one then reads: the commit is there wholly or not at
 * all, for good, also when the operation that was on its way lands later.
 */
import { type Database, type Engine, type Key, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { describe, expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { MemoryRows, type RowSeam } from '../../src/row-store/memory-rows.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const [a, b, child] = [['a'], ['b'], ['a', 'c']].map(
  (names): Key => ({ partition, path: names.map((name) => ({ kind: 'G', name })) }),
) as [Key, Key, Key]
const keys = [a, b, child]

type Commit = (engine: Engine, database: Database) => Promise<unknown>

const put =
  (...written: readonly Key[]): Commit =>
  async (engine, database) =>
    await database.commit(engine.context(), {
      mode: 'transactional',
      singleUse: { mode: 'readWrite' },
      mutations: written.map((key) => mutationOf(key, 2)),
    })

const commits: Readonly<Record<string, Commit>> = {
  'an entity': put(a),
  'a child': put(child),
  'two groups': put(a, b),
  'a delete': async (engine, database) =>
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(a, undefined)] }),
  'a transaction that read another group': async (engine, database) => {
    const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
    await database.lookup(engine.context(), { keys: [b], read: { transaction } })
    const mutations = [mutationOf(a, 2), mutationOf(child, 2)]
    await database.commit(engine.context(), { mode: 'transactional', transaction, mutations })
  },
  'a reset': async (engine) => await engine.reset({ projectId: 'p', databaseId: '' }),
}

/** The world after a gateway has died at its n-th operation. */
async function death(commit: Commit, dyingAt: number, takesEffect: boolean) {
  const rows = new MemoryRows()
  const clock = new VirtualClock()
  const open = (seam: RowSeam, gateway: number): Promise<Engine> =>
    openEngine({ store: severalGateways({ rows: rows.through(seam), gateway }), scheduler: clock })
  /** Time goes on until the work is done. */
  const done = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    work
      .finally(() => {
        isOver = true
      })
      .catch(() => {})
    for (let i = 0; !isOver && i < 2_000; i++) await clock.advance(20)
    return await Promise.race([work, Promise.reject(new Error('it does not end'))])
  }
  let operations = Number.NEGATIVE_INFINITY
  let late = (): void => {}
  const dying: RowSeam = async (_, effect) => {
    operations++
    if (operations === dyingAt) {
      if (takesEffect) effect()
      else late = () => void effect()
    }
    return operations >= dyingAt ? await new Promise<never>(() => {}) : effect()
  }
  const one = await open(dying, 1)
  const database = one.database('p')
  const mutations = keys.map((key) => mutationOf(key, 1))
  await done(Promise.resolve(database.commit(one.context(), { mode: 'nonTransactional', mutations })))
  await clock.advance(100)
  operations = 0
  let isAcknowledged = false
  commit(one, database).then(
    () => {
      isAcknowledged = true
    },
    () => {},
  )
  await clock.advance(1_500)
  const other = await open(async (_, effect) => effect(), 2)
  const values = async (): Promise<string> => {
    const { found } = await done(
      Promise.resolve(other.database('p').lookup(other.context(), { keys, read: { consistency: 'strong' } })),
    )
    const byKey = new Map(found.map(({ key, image }) => [JSON.stringify(key.path), storedValue(image.properties)]))
    return keys.map(({ path }) => byKey.get(JSON.stringify(path)) ?? '-').join(' ')
  }
  return {
    isOver: operations < dyingAt,
    isAcknowledged: () => isAcknowledged,
    values,
    late,
    pause: (ms: number) => clock.advance(ms),
    now: () => clock.nowMicros(),
    problems: async () => (await done(other.check())).problems,
  }
}

describe('a gateway that dies at any row operation leaves all of a commit, or nothing, of', () => {
  test.each(Object.entries(commits))('%s', async (name, commit) => {
    const outcomes = new Set<string>()
    for (let dyingAt = 1; ; dyingAt++) {
      let isOver = false
      for (const takesEffect of [false, true]) {
        const world = await death(commit, dyingAt, takesEffect)
        const acknowledged = world.isAcknowledged()
        // A reset is taken over after ten seconds; reads wait for it so long.
        if (name === 'a reset') await world.pause(12_000)
        const begun = world.now()
        const values = await world.values()
        const tookMicros = name === 'a reset' ? 0n : world.now() - begun
        expect(tookMicros, `${name} at ${dyingAt}: the time of a read after it`).toBeLessThan(1_000_000n)
        expect(await world.problems(), `${name} at ${dyingAt}`).toEqual([])
        world.late()
        // The wish for a reset may be what comes late.
        if (name !== 'a reset') expect(await world.values(), `${name} at ${dyingAt}, after the late write`).toBe(values)
        expect(await world.problems(), `${name} at ${dyingAt}, after the late write`).toEqual([])
        if (acknowledged) expect(values, `${name} at ${dyingAt} was acknowledged`).not.toBe('1 1 1')
        outcomes.add(values)
        isOver = world.isOver
      }
      if (isOver) break
    }
    expect(outcomes.size).toBe(2)
    expect(outcomes).toContain('1 1 1')
  })
})
