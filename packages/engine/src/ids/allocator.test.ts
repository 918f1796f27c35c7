import { describe, expect, test, vi } from 'vitest'
import { newIds } from '../../test/support/new-ids.ts'
import { systemScheduler } from '../clock.ts'
import { RecordingLedger, requestContext } from '../context.ts'
import { formatKey, type Key, type PathElement } from '../model/key.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { encodeCounter, scatteredRowKey } from '../tables/id-sequences.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import { atOnce } from '../testing/at-once.ts'
import { IdAllocator, idCollisionError } from './allocator.ts'
import type { HasEntityIn } from './key-range-state.ts'
import { scatteredIdMax, scatteredIdMin, scatterId, sequentialIdMax } from './scatter.ts'

const context = requestContext({ clock: systemScheduler })

function key(...path: PathElement[]): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path }
}

const toDo = key({ kind: 'ToDo' })

/** The sequential counter after `given` ids were given. */
function allocatorAt(next: bigint): IdAllocator {
  const allocator = new IdAllocator({ kv: new MemoryKv() })
  atOnce(allocator.allocateMax(context, toDo, next - 1n))
  return allocator
}

function hasOneOf(...ids: bigint[]): HasEntityIn {
  return (_keys, { start, end }) => ids.some((id) => id >= start && id <= end)
}

describe('an allocation', () => {
  test('gives scattered ids by default, one counter for all kinds and parents of a database', () => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    expect(atOnce(newIds(allocator, context, toDo))).toEqual([scatterId(1n)])
    expect(atOnce(newIds(allocator, context, key({ kind: 'User' }), 2))).toEqual([scatterId(2n), scatterId(3n)])
    const other = { partition: { projectId: 'p', databaseId: 'other', namespaceId: '' }, path: toDo.path }
    expect(atOnce(newIds(allocator, context, other))).toEqual([scatterId(1n)])
  })

  test('gives sequential ids by parent, kind and namespace', () => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    const ada = { kind: 'User', name: 'ada' }
    const elsewhere = { partition: { projectId: 'p', databaseId: '', namespaceId: 'n' }, path: toDo.path }
    const keys = [toDo, key(ada, { kind: 'ToDo' }), toDo, key({ kind: 'User' }), elsewhere, key(ada, { kind: 'ToDo' })]
    const completed = atOnce(allocator.completeKeys(context, keys, 'sequential'))
    expect(completed.map(formatKey)).toEqual([
      'ToDo:1',
      'User:"ada"/ToDo:1',
      'ToDo:2',
      'User:1',
      'ToDo:1',
      'User:"ada"/ToDo:2',
    ])
    expect(completed[4]?.partition.namespaceId).toBe('n')
  })

  test('of no keys, touches nothing', () => {
    const kv = new MemoryKv()
    expect(atOnce(new IdAllocator({ kv }).completeKeys(context, []))).toEqual([])
    expect(kv.size).toBe(0)
  })

  test('of 500 keys is one write', () => {
    const ledger = new RecordingLedger()
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    const keys = Array.from({ length: 500 }, (_, i) => key({ kind: `Kind${i}` }))
    const completed = atOnce(allocator.completeKeys(requestContext({ clock: systemScheduler, ledger }), keys))
    expect(completed.map((k) => k.path[0]?.id)).toEqual(keys.map((_, i) => scatterId(BigInt(i + 1))))
    expect(ledger.entries.map((e) => `${e.operation} ${e.table}`)).toEqual(['get IdSequences', 'put IdSequences'])
  })
})

describe('a reservation', () => {
  test('moves the counter of each id of the path past it, and no other', () => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    const list = { kind: 'List', id: 7n }
    atOnce(allocator.reserve(context, [key(list, { kind: 'ToDo', id: scatterId(1000n) }, { kind: 'Step', id: 3n })]))
    const next = (of: Key, policy: 'scattered' | 'sequential') => atOnce(allocator.nextCounter(context, of, policy))
    expect(next(key({ kind: 'List' }), 'sequential')).toBe(8n)
    expect(next(key(list, { kind: 'ToDo' }), 'sequential')).toBe(1n)
    expect(next(key(list, { kind: 'ToDo', id: scatterId(1000n) }, { kind: 'Step' }), 'sequential')).toBe(4n)
    expect(next(toDo, 'scattered')).toBe(1001n)
  })

  test('of names, negative ids and ids in no space changes nothing', () => {
    const kv = new MemoryKv()
    const allocator = new IdAllocator({ kv })
    const ids = [-5n, scatteredIdMin, scatteredIdMax, scatteredIdMax + 1n, 2n ** 62n]
    atOnce(
      allocator.reserve(context, [...ids.map((id) => key({ kind: 'ToDo', id })), key({ kind: 'ToDo', name: 'a' })]),
    )
    expect(kv.size).toBe(0)
    expect(atOnce(newIds(allocator, context, toDo))).toEqual([scatterId(1n)])
  })

  test.each([
    [scatterId(2n), 2n, 3n],
    [scatterId(51n), 51n, 52n],
    [scatterId(7000n), 7000n, 7001n],
    [2n ** 52n + 1n, 2n ** 50n, 2n ** 50n + 1n],
  ])('of scattered id %s jumps over counter %s, as the Firestore emulator does', (id, _counter, next) => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    atOnce(newIds(allocator, context, toDo))
    atOnce(allocator.reserve(context, [key({ kind: 'ToDo', id })]))
    expect(atOnce(newIds(allocator, context, toDo))).toEqual([scatterId(next)])
  })
})

describe('a range', () => {
  // Each case alone from counter next = 11 and the one entity 20.
  test.each([
    [1n, 5n, 'CONTENTION', 11n],
    [11n, 15n, 'EMPTY', 16n],
    [8n, 12n, 'CONTENTION', 13n],
    [18n, 22n, 'COLLISION', 23n],
    [30n, 40n, 'EMPTY', 41n],
    [8n, 20n, 'COLLISION', 21n],
  ])('%s to %s after 10 ids is %s, and the next id is %s', (start, end, state, next) => {
    const allocator = allocatorAt(11n)
    const answer = atOnce(allocator.allocateRange(context, toDo, { start, end }, hasOneOf(20n)))
    expect(answer).toMatchObject({ state, nextBefore: 11n, nextAfter: next })
    expect(atOnce(newIds(allocator, context, toDo, 1, 'sequential'))).toEqual([next])
  })

  test('below one that was taken further up is CONTENTION: the counter is a mark, not a set', () => {
    const allocator = allocatorAt(11n)
    atOnce(allocator.allocateRange(context, toDo, { start: 30n, end: 40n }, hasOneOf()))
    const answer = atOnce(allocator.allocateRange(context, toDo, { start: 12n, end: 14n }, hasOneOf()))
    expect(answer).toMatchObject({ state: 'CONTENTION', nextBefore: 41n, nextAfter: 41n })
    expect(answer.words).toBe(
      'CONTENTION: ToDo:12 to ToDo:14: no entity is there, but ids below 41 were given before: others may still write ' +
        'them. The high-water mark stays at 41: no id below it is given any more.',
    )
    expect(atOnce(allocator.allocateRange(context, toDo, { start: 50n, end: 52n }, hasOneOf())).words).toBe(
      'EMPTY: ToDo:50 to ToDo:52: no entity is there and none of its ids was given before: it is wholly yours. The ' +
        'high-water mark moved from 41 to 53: no id below it is given any more.',
    )
  })

  test('asks for entities between the keys of its ends, under the given parent', () => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    const seen: string[] = []
    const of = key({ kind: 'User', name: 'ada' }, { kind: 'ToDo', id: 999n })
    atOnce(
      allocator.allocateRange(context, of, { start: 3n, end: 5n }, ({ start, end }) => {
        seen.push(formatKey(start), formatKey(end))
        return false
      }),
    )
    expect(seen).toEqual(['User:"ada"/ToDo:3', 'User:"ada"/ToDo:5'])
  })

  test('by size goes on from the counter, by max up to it', () => {
    const allocator = allocatorAt(11n)
    expect(atOnce(allocator.allocateSize(context, toDo, 5n))).toEqual({ start: 11n, end: 15n })
    expect(atOnce(allocator.allocateMax(context, toDo, 20n))).toEqual({ start: 16n, end: 20n })
    expect(atOnce(allocator.allocateMax(context, toDo, 12n))).toEqual({ start: 21n, end: 20n })
    expect(atOnce(allocator.allocateSize(context, toDo, 1n))).toEqual({ start: 21n, end: 21n })
    expect(atOnce(allocator.allocateMax(context, toDo, 0n))).toEqual({ start: 22n, end: 21n })
    expect(atOnce(allocator.allocateSize(context, toDo, 10n ** 9n))).toEqual({ start: 22n, end: 10n ** 9n + 21n })
  })

  test('never meets sequential ids, nor does it move the scattered counter', () => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    expect(atOnce(newIds(allocator, context, toDo, 2, 'sequential'))).toEqual([1n, 2n])
    expect(atOnce(allocator.allocateSize(context, toDo, 3n))).toEqual({ start: 3n, end: 5n })
    expect(atOnce(newIds(allocator, context, toDo, 1, 'sequential'))).toEqual([6n])
    expect(atOnce(newIds(allocator, context, toDo, 1))).toEqual([scatterId(1n)])
  })

  test('with wrong arguments is refused', () => {
    const allocator = new IdAllocator({ kv: new MemoryKv() })
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
    for (const size of [0n, -1n, 10n ** 9n + 1n]) {
      expect(() => allocator.allocateSize(context, toDo, size)).toThrow(refused)
    }
    for (const max of [-1n, sequentialIdMax + 1n]) {
      expect(() => allocator.allocateMax(context, toDo, max)).toThrow(refused)
    }
    for (const [start, end] of [
      [0n, 5n],
      [-1n, 5n],
      [6n, 5n],
      [1n, sequentialIdMax + 1n],
    ] as const) {
      expect(() => allocator.allocateRange(context, toDo, { start, end }, hasOneOf())).toThrow(refused)
    }
    expect(atOnce(allocator.nextCounter(context, toDo, 'sequential'))).toBe(1n)
  })
})

describe('an allocator', () => {
  test('keeps few sequential counters open, and gives the blocks of the others back', () => {
    const kv = new MemoryKv()
    const allocator = new IdAllocator({ kv, openSequencesMax: 2 })
    const kinds = ['A', 'B', 'C', 'D', 'A', 'B', 'C', 'D'].map((kind) => key({ kind }))
    const ids = kinds.flatMap((of) => atOnce(newIds(allocator, context, of, 3, 'sequential')))
    expect(ids).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5, 6].map(BigInt))
  })

  test('takes blocks of store-wide ids, of however many parents', async () => {
    const kv = new AsyncKv(new MemoryKv())
    const written = vi.spyOn(kv, 'mutateIf')
    const allocator = new IdAllocator({ kv, openSequencesMax: 8 })
    const ids: (bigint | undefined)[] = []
    const parents = Array.from({ length: 400 }, (_, i) => key({ kind: 'User', id: BigInt(i + 1) }, { kind: 'ToDo' }))
    const caller = async (): Promise<void> => {
      for (let of = parents.pop(); of !== undefined; of = parents.pop()) {
        ids.push(...(await newIds(allocator, context, of, 1, 'storewide')))
      }
    }
    await Promise.all(Array.from({ length: 16 }, caller))
    expect(new Set(ids).size).toBe(400)
    expect(written.mock.calls.length).toBeLessThan(20)
  })

  test('gives all blocks back when closed, and refuses to go on', () => {
    const kv = new MemoryKv()
    const allocator = new IdAllocator({ kv })
    atOnce(newIds(allocator, context, toDo, 3))
    atOnce(newIds(allocator, context, toDo, 3, 'sequential'))
    atOnce(allocator.close(context))
    atOnce(allocator.close(context))
    expect(() => newIds(allocator, context, toDo)).toThrow(expect.objectContaining({ code: 'FAILED_PRECONDITION' }))
    const next = new IdAllocator({ kv })
    expect(atOnce(newIds(next, context, toDo))).toEqual([scatterId(4n)])
    expect(atOnce(newIds(next, context, toDo, 1, 'sequential'))).toEqual([4n])
  })

  test('starts again at 1 when its rows were cleared and it was told to forget', () => {
    const kv = new MemoryKv()
    const allocator = new IdAllocator({ kv })
    const elsewhere = { partition: { projectId: 'q', databaseId: '', namespaceId: '' }, path: toDo.path }
    for (const of of [toDo, elsewhere]) {
      atOnce(newIds(allocator, context, of, 3))
      atOnce(newIds(allocator, context, of, 3, 'sequential'))
    }
    kv.clear()
    allocator.forget({ projectId: 'p', databaseId: '' })
    expect(atOnce(newIds(allocator, context, toDo))).toEqual([scatterId(1n)])
    expect(atOnce(newIds(allocator, context, toDo, 1, 'sequential'))).toEqual([1n])
    expect(atOnce(newIds(allocator, context, elsewhere))).toEqual([scatterId(4n)])
    expect(atOnce(newIds(allocator, context, elsewhere, 1, 'sequential'))).toEqual([4n])
    allocator.forget()
    kv.clear()
    expect(atOnce(newIds(allocator, context, elsewhere))).toEqual([scatterId(1n)])
  })

  test('says when a space is used up', () => {
    const kv = new MemoryKv([{ key: scatteredRowKey('p', ''), value: encodeCounter(2n ** 51n - 2n) }])
    const allocator = new IdAllocator({ kv })
    expect(atOnce(newIds(allocator, context, toDo))).toEqual([5_629_499_534_213_119n])
    expect(() => newIds(allocator, context, toDo)).toThrow(
      expect.objectContaining({ code: 'RESOURCE_EXHAUSTED', retry: 'never' }),
    )
  })

  test('knows the words of a collision', () => {
    const error = idCollisionError(key({ kind: 'ToDo', id: 5n }))
    expect(error.code).toBe('INVALID_ARGUMENT')
    expect(error.message).toContain('the id allocated for a new entity was already in use, please try again (ToDo:5)')
  })
})
