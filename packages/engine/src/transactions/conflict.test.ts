import { describe, expect, test } from 'vitest'
import { type Extras, keyOf, type Mode, mutation, said, World } from '../../test/support/mutation-world.ts'
import { toValue } from '../../test/support/plain-values.ts'
import type { Mutation } from '../database/api.ts'
import type { Conflict } from './conflict.ts'

const [ok, invalid, missing, exists] = ['ok', 'INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS'] as const

// Measured on both of Google's emulators; a conflict with `serverValue` on the older one only.
describe('an expected version', () => {
  const expecting = (baseVersion: bigint, resolution?: 'serverValue' | 'fail'): { conflict: Conflict } => ({
    conflict: { baseVersion, ...(resolution === undefined ? {} : { resolution }) },
  })
  const kept = { version: 10n, createTime: 1n, updateTime: 10n, conflictDetected: true }

  /** Stored at version 10. */
  function aged(mode: Mode = 'firestore'): World {
    const world = new World(mode)
    for (let v = 1n; v <= 10n; v++) world.commit(mutation('upsert', { v }))
    return world
  }

  test('that is the stored one lets the mutation through', () => {
    expect(aged().commit(mutation('upsert', { v: 0n }, expecting(10n)))).toEqual([
      { version: 11n, createTime: 1n, updateTime: 11n, conflictDetected: false },
    ])
    expect(aged().commit(mutation('delete', {}, expecting(10n)))).toEqual([{ version: 11n, conflictDetected: false }])
    expect(new World().commit(mutation('insert', { v: 0n }, expecting(0n)))).toMatchObject([
      { conflictDetected: false },
    ])
    expect(new World().commit(mutation('upsert', { v: 0n }, expecting(0n)))).toMatchObject([
      { conflictDetected: false },
    ])
  })

  test.each(['upsert', 'update', 'delete'] as const)('that is another keeps an %s from taking effect', (operation) => {
    const world = aged()
    expect(world.commit(mutation(operation, { v: 0n }, expecting(5n)))).toEqual([kept])
    expect(world.commit(mutation(operation, { v: 0n }, expecting(5n, 'serverValue')))).toEqual([kept])
    expect(world.entity()).toEqual(said({ v: 10n }))
  })

  test('of a missing entity is a conflict, told with version 0', () => {
    const none = { version: 0n, conflictDetected: true }
    expect(new World().commit(mutation('upsert', { v: 0n }, expecting(5n)))).toEqual([none])
    expect(new World().commit(mutation('delete', {}, expecting(5n)))).toEqual([none])
    expect(new World().codeOf(mutation('upsert', { v: 0n }, expecting(5n, 'fail')))).toBe('FAILED_PRECONDITION')
  })

  test('that is another refuses the commit when it asks to fail', () => {
    for (const base of [0n, 5n]) {
      const world = aged()
      expect(world.codeOf(mutation('upsert', { v: 0n }, expecting(base, 'fail')))).toBe('FAILED_PRECONDITION')
      expect(world.entity()).toEqual(said({ v: 10n }))
    }
    expect(aged().codeOf(mutation('upsert', { v: 0n }, expecting(10n, 'fail')))).toBe(ok)
  })

  test('that cannot be meant is refused', () => {
    expect(aged().codeOf(mutation('insert', { v: 0n }, expecting(5n)))).toBe(invalid)
    expect(aged().codeOf(mutation('update', { v: 0n }, expecting(0n)))).toBe(invalid)
    expect(aged().codeOf(mutation('upsert', { v: 0n }, expecting(11n)))).toBe(invalid)
    expect(aged().codeOf(mutation('upsert', { v: 0n }, expecting(11n, 'fail')))).toBe(invalid)
    expect(new World().codeOf(mutation('upsert', { v: 0n }, expecting(11n)))).toBe(ok)
  })

  test('matters after whether there is an entity, but first in Firestore when it asks to fail', () => {
    expect(new World().codeOf(mutation('update', { v: 0n }, expecting(5n)))).toBe(missing)
    expect(aged().codeOf(mutation('insert', { v: 0n }, expecting(0n)))).toBe(exists)
    expect(new World().codeOf(mutation('update', { v: 0n }, expecting(5n, 'fail')))).toBe('FAILED_PRECONDITION')
    expect(aged().codeOf(mutation('insert', { v: 0n }, expecting(0n, 'fail')))).toBe('FAILED_PRECONDITION')
    expect(new World('legacy').codeOf(mutation('update', { v: 0n }, expecting(5n, 'fail')))).toBe(missing)
    expect(aged('legacy').codeOf(mutation('insert', { v: 0n }, expecting(0n, 'fail')))).toBe(exists)
  })

  test('may be an update time instead', () => {
    const at = (updateTime: bigint): Extras => ({ conflict: { updateTime } })
    expect(aged().commit(mutation('upsert', { v: 0n }, at(10n)))).toMatchObject([{ conflictDetected: false }])
    expect(aged().commit(mutation('upsert', { v: 0n }, at(9n)))).toEqual([kept])
    expect(aged().codeOf(mutation('upsert', { v: 0n }, at(11n)))).toBe(invalid)
    expect(aged().codeOf(mutation('insert', { v: 0n }, at(9n)))).toBe(invalid)
  })

  test.each<[string, Mutation[]]>([
    ['upsert, upsert', [mutation('upsert', { v: 2n }, expecting(5n)), mutation('upsert', { v: 3n })]],
    ['upsert, delete', [mutation('upsert', { v: 2n }, expecting(5n)), mutation('delete')]],
    ['delete, insert', [mutation('delete', {}, expecting(5n)), mutation('insert', { v: 3n })]],
    [
      'upsert, upsert, both',
      [mutation('upsert', { v: 2n }, expecting(5n)), mutation('upsert', { v: 3n }, expecting(5n))],
    ],
  ])('of the first speaks for all mutations of the entity (conflict/CF1): %s', (_, list) => {
    const world = aged()
    expect(world.commit(...list)).toEqual([kept, kept])
    expect(world.entity()).toEqual(said({ v: 10n }))
  })

  test('is that of before the commit for all of them (conflict/CF1)', () => {
    const world = aged()
    world.commit(
      mutation('upsert', { v: 1n }, expecting(10n)),
      mutation('upsert', { v: 2n }),
      mutation('upsert', { v: 3n }, expecting(10n)),
    )
    expect(world.entity()).toEqual(said({ v: 3n }))
  })

  test.each<[string, Mutation[]]>([
    ['none, then one', [mutation('upsert', { v: 2n }), mutation('upsert', { v: 3n }, expecting(10n))]],
    ['two', [mutation('upsert', { v: 2n }, expecting(10n)), mutation('delete', {}, expecting(5n))]],
    [
      'two strategies',
      [mutation('upsert', {}, expecting(5n, 'serverValue')), mutation('upsert', {}, expecting(5n, 'fail'))],
    ],
    ['a strategy, then none', [mutation('upsert', { v: 2n }, expecting(10n, 'fail')), mutation('upsert', { v: 3n })]],
  ])('may not differ between mutations of one entity: %s', (_, list) => {
    for (const mode of ['firestore', 'legacy'] as const) {
      const world = aged(mode)
      expect(world.codeOf(...list)).toBe(invalid)
      expect(world.entity()).toEqual(said({ v: 10n }))
    }
  })

  test('in a conflict leaves other entities of the list alone', () => {
    const world = aged()
    const [other, conflicting] = world.commit(
      mutation('upsert', { v: 1n }, {}, keyOf('other')),
      mutation('upsert', { v: 2n }, expecting(5n)),
    )
    expect(other).toMatchObject({ version: 11n, conflictDetected: false })
    expect(conflicting).toEqual(kept)
  })

  test('in a conflict keeps transforms from taking effect', () => {
    const world = aged()
    const transforms = [{ property: 'v', type: 'increment', value: toValue(1n) }] as const
    expect(world.commit(mutation('upsert', {}, { ...expecting(5n), propertyMask: [], transforms }))).toEqual([kept])
    expect(world.entity()).toEqual(said({ v: 10n }))
  })
})
