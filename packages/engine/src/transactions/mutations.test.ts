import { describe, expect, test } from 'vitest'
import {
  type Extras,
  keyOf,
  type Mode,
  mutation,
  type Properties,
  said,
  World,
  worldWith,
} from '../../test/support/mutation-world.ts'
import { comparableValue, toValue } from '../../test/support/plain-values.ts'
import type { Mutation } from '../database/api.ts'
import type { Operation } from './mutations.ts'

const incrementBy = (by: bigint): Extras => ({
  propertyMask: [],
  transforms: [{ property: 'n', type: 'increment', value: toValue(by) }],
})

const [ok, invalid, missing, exists] = ['ok', 'INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS'] as const

// Measured on both of Google's emulators.
describe('two mutations of one entity in an atomic list', () => {
  const table: readonly [Operation, Operation, string, string, string, string][] = [
    // first, second; of a missing and of a present entity in Firestore, then in legacy Datastore
    ['insert', 'insert', invalid, invalid, exists, exists],
    ['insert', 'update', ok, exists, ok, exists],
    ['insert', 'upsert', ok, exists, ok, exists],
    ['insert', 'delete', ok, exists, ok, exists],
    ['update', 'insert', invalid, invalid, missing, exists],
    ['update', 'update', missing, ok, missing, ok],
    ['update', 'upsert', missing, ok, missing, ok],
    ['update', 'delete', missing, ok, missing, ok],
    ['upsert', 'insert', invalid, invalid, exists, exists],
    ['upsert', 'update', ok, ok, ok, ok],
    ['upsert', 'upsert', ok, ok, ok, ok],
    ['upsert', 'delete', ok, ok, ok, ok],
    ['delete', 'insert', ok, ok, ok, ok],
    ['delete', 'update', invalid, invalid, missing, missing],
    ['delete', 'upsert', ok, ok, ok, ok],
    ['delete', 'delete', ok, ok, ok, ok],
  ]
  const cases = table.flatMap(([first, second, ...answers]) =>
    (['firestore', 'legacy'] as const).flatMap((mode, i) =>
      [undefined, { v: 1n }].map((stored, j) => ({ mode, first, second, stored, answer: answers[2 * i + j] })),
    ),
  )

  test.each(cases)('$mode: $first, $second of $stored: $answer', ({ mode, first, second, stored, answer }) => {
    const world = worldWith(stored, mode)
    expect(world.codeOf(mutation(first, { v: 2n, w: 1n }), mutation(second, { v: 3n }))).toBe(answer)
    if (answer !== ok) expect(world.entity()).toEqual(said(stored))
    else expect(world.entity()).toEqual(said(second === 'delete' ? undefined : { v: 3n }))
  })

  test.each<[Mode, Operation[], string, string]>([
    // of a missing and of a present entity
    ['firestore', ['insert', 'delete', 'insert'], ok, exists],
    ['firestore', ['update', 'delete', 'insert'], missing, ok],
    ['firestore', ['upsert', 'delete', 'update'], invalid, invalid],
    ['firestore', ['insert', 'update', 'insert'], invalid, invalid],
    ['firestore', ['delete', 'upsert', 'update'], ok, ok],
    ['legacy', ['insert', 'delete', 'insert'], ok, exists],
    ['legacy', ['update', 'delete', 'insert'], missing, ok],
    ['legacy', ['upsert', 'delete', 'update'], missing, missing],
    ['legacy', ['insert', 'update', 'insert'], exists, exists],
    ['legacy', ['delete', 'upsert', 'update'], ok, ok],
  ])('%s: %j', (mode, operations, ofMissing, ofPresent) => {
    const list = operations.map((operation, i) => mutation(operation, { v: BigInt(i) }))
    expect(worldWith(undefined, mode).codeOf(...list)).toBe(ofMissing)
    expect(worldWith({ v: 1n }, mode).codeOf(...list)).toBe(ofPresent)
  })

  test('all say what the list leaves of the entity', () => {
    const both = { version: 2n, createTime: 1n, updateTime: 2n, conflictDetected: false }
    expect(worldWith({ v: 1n }).commit(mutation('upsert', { v: 2n }), mutation('update', { v: 3n }))).toEqual([
      both,
      both,
    ])
    const gone = { version: 1n, conflictDetected: false }
    expect(new World().commit(mutation('insert', { v: 2n }), mutation('delete'))).toEqual([gone, gone])
  })

  test('read it once', () => {
    const world = worldWith({ v: 1n })
    world.reads = 0
    world.commit(mutation('upsert', { v: 2n }), mutation('delete'), mutation('insert', { v: 3n }))
    expect(world.reads).toBe(1)
  })
})

describe('an entity that a list leaves as it was', () => {
  const unchanged = { version: 1n, createTime: 1n, updateTime: 1n, conflictDetected: false }

  test.each<[string, Mutation[]]>([
    ['by writing the same', [mutation('upsert', { v: 1n, w: 2n })]],
    ['by writing the same in another order', [mutation('update', { w: 2n, v: 1n })]],
    ['by way of something else', [mutation('upsert', { v: 5n }), mutation('upsert', { v: 1n, w: 2n })]],
    ['by a mask around what differs', [mutation('upsert', { v: 1n, w: 77n }, { propertyMask: ['v'] })]],
    [
      'by a transform without effect',
      [
        mutation(
          'upsert',
          {},
          {
            propertyMask: [],
            transforms: [
              { property: 'v', type: 'increment', value: toValue(0n) },
              { property: 'w', type: 'minimum', value: toValue(3n) },
            ],
          },
        ),
      ],
    ],
  ])('%s keeps version and times (mutations/M2)', (_, list) => {
    const world = worldWith({ v: 1n, w: 2n })
    const { states, outcomes } = world.evaluate(list)
    expect(states).toEqual([])
    expect(outcomes.map(({ transformResults: _, ...outcome }) => outcome)).toEqual(list.map(() => unchanged))
  })

  test('after a delete is a new one to Firestore and the same to legacy Datastore', () => {
    const list = [mutation('delete'), mutation('upsert', { v: 1n })]
    expect(worldWith({ v: 1n }).commit(...list)[1]).toMatchObject({ version: 2n, createTime: 2n, updateTime: 2n })
    expect(worldWith({ v: 1n }, 'legacy').commit(...list)[1]).toMatchObject(unchanged)
    const changing = [mutation('delete'), mutation('upsert', { v: 2n })]
    expect(worldWith({ v: 1n }).commit(...changing)[1]).toMatchObject({ version: 2n, createTime: 2n })
    expect(worldWith({ v: 1n }, 'legacy').commit(...changing)[1]).toMatchObject({ version: 2n, createTime: 1n })
  })
})

describe('a mask', () => {
  const stored = { a: 1n, b: 2n }

  test.each<[string, Properties | undefined, Mutation[], Properties]>([
    [
      'of an update keeps the rest',
      stored,
      [mutation('update', { a: 9n, b: 9n }, { propertyMask: ['a'] })],
      { a: 9n, b: 2n },
    ],
    [
      'of a new entity leaves out the rest',
      undefined,
      [mutation('upsert', stored, { propertyMask: ['a'] })],
      { a: 1n },
    ],
    ['of an insert leaves out the rest', undefined, [mutation('insert', stored, { propertyMask: ['a'] })], { a: 1n }],
    ['that is empty makes an empty entity', undefined, [mutation('insert', stored, { propertyMask: [] })], {}],
    [
      'after a mask keeps what that wrote',
      stored,
      [
        mutation('upsert', { a: 5n, b: 6n }, { propertyMask: ['a'] }),
        mutation('upsert', { a: 7n, b: 8n }, { propertyMask: ['b'] }),
      ],
      { a: 5n, b: 8n },
    ],
    [
      'after a whole write keeps that',
      stored,
      [mutation('upsert', { a: 5n }), mutation('upsert', { a: 7n, b: 8n }, { propertyMask: ['b'] })],
      { a: 5n, b: 8n },
    ],
    [
      'before a whole write is lost',
      stored,
      [mutation('upsert', { b: 8n }, { propertyMask: ['b'] }), mutation('upsert', { z: 1n })],
      { z: 1n },
    ],
    [
      'after a delete keeps nothing',
      stored,
      [mutation('delete'), mutation('upsert', { a: 7n, b: 8n }, { propertyMask: ['b'] })],
      { b: 8n },
    ],
  ])('%s', (_, before, list, after) => {
    const world = worldWith(before)
    world.commit(...list)
    expect(world.entity()).toEqual(said(after))
  })

  test('does not make an update of a missing entity good', () => {
    expect(new World().codeOf(mutation('update', { a: 1n }, { propertyMask: ['a'] }))).toBe(missing)
  })

  test('does not hide what may not be written', () => {
    const long = { a: 1n, b: 'x'.repeat(1501) }
    expect(worldWith(stored).codeOf(mutation('upsert', long, { propertyMask: ['a'] }))).toBe(invalid)
  })
})

describe('transforms', () => {
  test('take effect after the write, outside of its mask too', () => {
    const world = worldWith({ n: 1n, m: 5n })
    const transforms = [{ property: 'n', type: 'increment', value: toValue(1n) }] as const
    const [outcome] = world.commit(mutation('upsert', { m: 7n, n: 100n }, { propertyMask: ['m'], transforms }))
    expect(outcome?.transformResults?.map(comparableValue)).toEqual([toValue(2n)])
    expect(world.entity()).toEqual(said({ n: 2n, m: 7n }))
    world.commit(mutation('update', { n: 10n }, { transforms }))
    expect(world.entity()).toEqual(said({ n: 11n }))
  })

  test('begin from nothing on a missing entity, and do not make an update of one good', () => {
    const world = new World()
    expect(world.codeOf(mutation('update', {}, incrementBy(1n)))).toBe(missing)
    world.commit(mutation('upsert', {}, incrementBy(1n)))
    expect(world.entity()).toEqual(said({ n: 1n }))
  })

  test('of several mutations of an entity add up', () => {
    const world = worldWith({ n: 1n })
    const outcomes = world.commit(mutation('upsert', {}, incrementBy(1n)), mutation('upsert', {}, incrementBy(2n)))
    expect(outcomes.map(({ transformResults }) => transformResults)).toEqual([[toValue(2n)], [toValue(4n)]])
    expect(world.entity()).toEqual(said({ n: 4n }))
  })

  test('of an entity number 500 at most in a commit, over all its mutations', () => {
    const some = (count: number): Extras => ({
      transforms: Array.from(
        { length: count },
        () => ({ property: 'n', type: 'increment', value: toValue(1n) }) as const,
      ),
    })
    expect(new World().codeOf(mutation('upsert', {}, some(250)), mutation('upsert', {}, some(250)))).toBe(ok)
    expect(new World().codeOf(mutation('upsert', {}, some(250)), mutation('upsert', {}, some(251)))).toBe(invalid)
  })

  test('may not make an entity that could not be written', () => {
    const world = worldWith({ list: Array.from({ length: 700 }, (_, i) => `${i}${'x'.repeat(1000)}`) })
    const values = Array.from({ length: 400 }, (_, i) => toValue(`${i}${'y'.repeat(1000)}`))
    const before = world.entity()
    const grow: Extras = { propertyMask: [], transforms: [{ property: 'list', type: 'appendMissing', values }] }
    expect(world.codeOf(mutation('upsert', {}, grow))).toBe(invalid)
    const deep: Extras = {
      propertyMask: [],
      transforms: [{ property: 'e.list', type: 'appendMissing', values: [toValue('x'.repeat(1501))] }],
    }
    expect(world.codeOf(mutation('upsert', {}, deep))).toBe(invalid)
    expect(world.entity()).toEqual(before)
  })
})

describe('a list that is not atomic', () => {
  test('stops at its first failure and keeps what came before it (mutations/M1)', () => {
    const world = worldWith(undefined)
    const { outcomes, failure, states } = world.evaluate(
      [
        mutation('upsert', { v: 1n }, {}, keyOf('a')),
        mutation('update', { v: 1n }, {}, keyOf('b')),
        mutation('upsert', { v: 1n }, {}, keyOf('d')),
      ],
      false,
    )
    expect(outcomes).toHaveLength(1)
    expect(states).toHaveLength(1)
    expect(failure).toMatchObject({ code: missing })
  })
})
