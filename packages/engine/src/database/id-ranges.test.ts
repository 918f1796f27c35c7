/** Ranges and counters as verbs of a database. */
import { beforeEach, describe, expect, test } from 'vitest'
import { entity, integer, keyOf, property } from '../../test/property/entity-messages.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/engine-options.ts'
import { type Key, withId } from '../model/key.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Mutation } from './api.ts'
import type { Database } from './database.ts'

const toDo = keyOf([{ kind: 'ToDo' }])
const below = keyOf([{ kind: 'User', name: 'ada' }, { kind: 'ToDo' }])

let engine: Engine
let database: Database

async function open(options: EngineOptions = {}): Promise<void> {
  engine = await openEngine({ scheduler: new VirtualClock(), ...options })
  database = engine.database('p')
}

beforeEach(() => open())

async function commit(...mutations: readonly Mutation[]): Promise<readonly (Key | undefined)[]> {
  const request = { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations } as const
  const { mutationResults } = await database.commit(engine.context(), request)
  return mutationResults.map(({ key }) => key)
}

function put(key: Key, value = 1): Mutation {
  return { operation: 'upsert', entity: entity(key, property('v', integer(value))) }
}

async function range(start: bigint, end: bigint, key: Key = toDo): Promise<string> {
  const { state, nextAfter } = await database.allocateIdRange(engine.context(), key, { start, end })
  return `${state} ${nextAfter}`
}

describe('a range', () => {
  // Each alone, with the counter at 11 and an entity under 20.
  test.each([
    [1n, 5n, 'CONTENTION 11'],
    [11n, 15n, 'EMPTY 16'],
    [8n, 12n, 'CONTENTION 13'],
    [18n, 22n, 'COLLISION 23'],
    [20n, 20n, 'COLLISION 21'],
    [30n, 40n, 'EMPTY 41'],
  ])('of %d to %d is %s', async (start, end, answer) => {
    await database.allocateIdsByMax(engine.context(), toDo, 10n)
    await commit(put(withId(toDo, 20n)))
    expect(await range(start, end)).toBe(answer)
  })

  test('asked for twice is CONTENTION the second time', async () => {
    expect([await range(12n, 14n), await range(12n, 14n)]).toEqual(['EMPTY 15', 'CONTENTION 15'])
  })

  test('is a COLLISION with a lone descendant of any id but the last', async () => {
    const child = {
      ...toDo,
      path: [
        { kind: 'ToDo', id: 5n },
        { kind: 'Step', name: 'x' },
      ],
    }
    await commit(put(child))
    expect(await range(5n, 6n)).toBe('COLLISION 7')
    expect(await range(1n, 5n)).toBe('CONTENTION 7')
    expect(await range(6n, 9n)).toBe('CONTENTION 10')
  })

  test('is of its own kind, parent and namespace', async () => {
    const elsewhere = [below, keyOf([{ kind: 'Done' }]), keyOf([{ kind: 'ToDo' }], { namespaceId: 'n' })]
    await commit(put(withId(toDo, 5n)))
    for (const key of elsewhere) expect(await range(1n, 9n, key)).toBe('EMPTY 10')
    expect(await range(1n, 9n)).toBe('COLLISION 10')
  })

  test('sees a deleted entity no more', async () => {
    await commit(put(withId(toDo, 5n)))
    await commit({ operation: 'delete', key: withId(toDo, 5n) })
    expect(await range(1n, 9n)).toBe('EMPTY 10')
  })

  test('keeps automatic ids of legacy mode out, which count over all kinds and parents', async () => {
    await open({ mode: 'legacy', apply: { type: 'immediate' } })
    expect(await commit(put(below))).toEqual([withId(below, 1n)])
    expect(await range(2n, 100n)).toBe('EMPTY 101')
    expect(await commit(put(below), put(toDo), put(below))).toEqual([
      withId(below, 2n),
      withId(toDo, 101n),
      withId(below, 102n),
    ])
    expect(await range(100n, 110n, below)).toBe('COLLISION 111')
  })

  test('counts what is committed and not applied, and leaves other groups waiting', async () => {
    await open({ apply: { type: 'manual' } })
    await commit(put(withId(toDo, 5n)), put(withId(toDo, 50n)), put(withId(below, 5n)))
    expect(await range(1n, 9n)).toBe('COLLISION 10')
    expect(await range(1n, 9n, below)).toBe('COLLISION 10')
    const waiting = (await engine.inspector.pending()).pending.map(({ group }) => group)
    expect(waiting).toEqual(['ToDo:50'])
    await commit({ operation: 'delete', key: withId(toDo, 50n) })
    expect(await range(50n, 50n)).toBe('EMPTY 51')
  })

  test.each([
    [0n, 5n],
    [5n, 4n],
    [1n, 2n ** 52n],
  ])('from %d to %d is refused, and nothing moves', async (start, end) => {
    expect(() => database.allocateIdRange(engine.context(), toDo, { start, end })).toThrow('a range of ids starts at 1')
    expect(await range(1n, 1n)).toBe('EMPTY 2')
  })

  test.each<[string, Key]>([
    ['with an id at its end', withId(toDo, 5n)],
    ['of a reserved kind', keyOf([{ kind: '__Stat__' }])],
    ['of another project', { ...toDo, partition: { ...toDo.partition, projectId: 'q' } }],
  ])('under a key %s is refused', (_what, key) => {
    const context = engine.context()
    expect(() => database.allocateIdRange(context, key, { start: 1n, end: 2n })).toThrow()
    expect(() => database.allocateIdsBySize(context, key, 2n)).toThrow()
    expect(() => database.allocateIdsByMax(context, key, 2n)).toThrow()
    expect(() => database.nextIds(context, key)).toThrow()
  })
})

describe('ids in one piece', () => {
  test('follow each other, by size and up to a highest one', async () => {
    const context = engine.context()
    expect(await database.allocateIdsBySize(context, toDo, 3n)).toEqual({
      start: 1n,
      end: 3n,
      nextAfter: 4n,
      words: 'The ids 1 to 3 are yours. The high-water mark is 4 now: no id below it is given any more.',
    })
    expect(await database.allocateIdsByMax(context, toDo, 10n)).toMatchObject({ start: 4n, end: 10n, nextAfter: 11n })
    expect(await database.allocateIdsByMax(context, toDo, 7n)).toEqual({
      start: 11n,
      end: 10n,
      nextAfter: 11n,
      words:
        'No id is left: all of these were given before. The high-water mark is 11 now: no id below it is given any more.',
    })
  })
})

describe('the next ids', () => {
  test('are told for each counter, and stay the next until they are given', async () => {
    const context = engine.context()
    const first = {
      automatic: 'scattered',
      scattered: { counter: 1n, id: 5629499534213120n },
      sequential: { counter: 1n, id: 1n },
      storewide: { counter: 1n, id: 1n },
    }
    expect(await database.nextIds(context, toDo)).toEqual(first)
    expect(await database.nextIds(context, toDo)).toEqual(first)
    expect(await commit(put(toDo))).toEqual([withId(toDo, 5629499534213120n)])
    await database.allocateIdsBySize(context, toDo, 4n)
    expect(await database.nextIds(context, toDo)).toMatchObject({
      scattered: { counter: 2n },
      sequential: { id: 5n },
    })
    expect(await database.nextIds(context, below)).toMatchObject({
      scattered: { counter: 2n },
      sequential: { id: 1n },
    })
  })

  test('have no id where a space is used up', async () => {
    await database.allocateIdsByMax(engine.context(), toDo, 2n ** 52n - 1n)
    expect((await database.nextIds(engine.context(), toDo)).sequential).toEqual({ counter: 2n ** 52n })
  })
})

describe('an automatic id that an existing entity has', () => {
  const first = withId(toDo, 5629499534213120n)
  const second = withId(toDo, 5066549580791808n)

  test('is passed over for the next free one', async () => {
    await commit(put(first, 7), put(second, 7))
    expect(await commit(put(toDo))).toEqual([withId(toDo, 6192449487634432n)])
  })

  test('fails the whole commit where collisions fail, and a later try gets another id', async () => {
    await open({ idCollisions: 'fail' })
    await commit(put(first, 7))
    const other = put(withId(toDo, 99n))
    await expect(commit(other, put(toDo))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('the id allocated for a new entity was already in use, please try again'),
    })
    const { found } = await database.lookup(engine.context(), { keys: [first, withId(toDo, 99n)] })
    expect(found.map(({ key }) => key)).toEqual([first])
    expect(await commit(other, put(toDo))).toEqual([undefined, second])
  })

  test('can be made a failure, and a success again, while the database runs', async () => {
    await commit(put(first, 7), put(withId(toDo, 6192449487634432n), 7))
    database.configure({ idCollisions: 'fail' })
    await expect(commit(put(toDo))).rejects.toThrow('already in use')
    expect(await commit(put(toDo))).toEqual([second])
    database.configure({ idCollisions: 'next' })
    expect(await commit(put(toDo))).toEqual([withId(toDo, 4785074604081152n)])
  })

  test('is neither that of a key which the same commit names before nor behind', async () => {
    const given = await commit(put(toDo, 1), put(first, 2), { operation: 'delete', key: second }, put(toDo, 3))
    expect(given).toEqual([withId(toDo, 6192449487634432n), undefined, undefined, withId(toDo, 4785074604081152n)])
    const { found } = await database.lookup(engine.context(), {
      keys: [first, ...given.filter((k) => k !== undefined)],
    })
    expect(found).toHaveLength(3)
  })
})
