import { decodeProperties, encodeProperties, type Key, type Value } from '@sixtables/engine'
import { describe, expect, test } from 'vitest'
import { Passes } from './passes.ts'
import type { RecordedCall, RecordedMutation } from './read-recording.ts'

const recorded: Omit<RecordedCall, 'method'> = {
  ...{ ms: 0, code: 'OK' },
  ...{ keys: [], mutations: [], query: undefined },
}
const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const twenty = Array.from({ length: 20 }, (_, i) => i)

const order = (id: number): Key => ({ partition, path: [{ kind: 'Order', id: BigInt(id) }] })
const named = (name: string): Key => ({ partition, path: [{ kind: 'Order', name }] })
const lineOf = (user: string, id: number): Key => ({
  partition,
  path: [
    { kind: 'User', name: user },
    { kind: 'Line', id: BigInt(id) },
  ],
})

function put(...keys: readonly Key[]): RecordedCall {
  const mutations = keys.map(
    (key): RecordedMutation => ({ operation: 'upsert', key, bytes: 9, indexed: {}, entity: undefined }),
  )
  return { ...recorded, method: 'commit', mutations }
}

const read = (key: Key): RecordedCall => ({ ...recorded, method: 'lookup', keys: [key] })

const keysOf = (call: RecordedCall): readonly Key[] => [...call.keys, ...call.mutations.map(({ key }) => key)]

describe('passes', () => {
  const calls = [read(order(7)), ...twenty.flatMap((i) => [put(order(i + 101)), read(order(i + 101))])]
  const passes = new Passes(calls)

  test('the first pass is the recording', () => {
    expect(calls.map((call) => passes.at(call, 0))).toEqual(calls)
  })

  test('ids go on, and a read finds what its pass has written', () => {
    expect(keysOf(passes.at(put(order(101)), 1))).toEqual([order(121)])
    expect(keysOf(passes.at(read(order(120)), 3))).toEqual([order(180)])
    expect(passes.words(9)).toEqual(['20 new keys of Order rise, from 101 to 120: each pass goes on from there'])
  })

  test('a key that was there before the recording stays', () => {
    expect(keysOf(passes.at(read(order(7)), 3))).toEqual([order(7)])
    expect([7, 101].map((id) => passes.isWritten(order(id)))).toEqual([false, true])
  })

  test('names behind shards, and ids below parents, rise in rows of their own', () => {
    const all = Array.from({ length: 60 }, (_, i) => i)
    const sharded = new Passes(all.map((i) => put(named(`${(i * 7) % 4}-${1000 + i}`))))
    expect(sharded.words(9)[0]).toContain('60 new keys of Order rise in 4 rows')
    const [next] = keysOf(sharded.at(put(named('3-1001')), 1))
    expect(next?.path[0]?.name).toMatch(/^3-106\d$/)
    const below = new Passes(all.map((i) => put(lineOf(i % 2 === 0 ? 'ada' : 'bob', 1 + Math.floor(i / 2)))))
    expect(keysOf(below.at(put(lineOf('bob', 2)), 1))).toEqual([lineOf('bob', 32)])
  })

  test('times rise where values were recorded, in entities and in filters; where they were not, it is said', () => {
    const at = (seconds: number): Value => ({ type: 'timestamp', micros: BigInt(seconds) * 1_000_000n })
    const timed = twenty.map((i): RecordedCall => {
      const entity = encodeProperties(new Map([['created', at(i)]]))
      const key = named((i * 7919 + 5).toString(16))
      return { ...recorded, method: 'commit', mutations: [{ operation: 'insert', key, bytes: 9, indexed: {}, entity }] }
    })
    const all = new Passes(timed)
    const later = all.at(timed[3] as RecordedCall, 2).mutations[0]?.entity ?? new Uint8Array()
    expect(decodeProperties(later).get('created')).toMatchObject(at(43))
    const filter = { type: 'property', property: 'created', operator: 'greaterThan', value: at(10) }
    const query = { partition, kind: 'Order', filter } as unknown as NonNullable<RecordedCall['query']>
    const asked = all.at({ ...recorded, method: 'runQuery', query }, 1).query?.filter
    expect(asked).toMatchObject({ value: at(30) })
    expect(all.words(9).join()).toContain(
      '20 new values of Order.created rise, from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:19.000Z',
    )
    const mutation: RecordedMutation = {
      operation: 'insert',
      key: order(1),
      bytes: 9,
      indexed: { created: 8 },
      entity: undefined,
    }
    expect(new Passes([{ ...recorded, method: 'commit', mutations: [mutation] }]).words(9)).toEqual([
      '1 key of Order is too few to tell whether they rise: each pass writes the same',
      expect.stringContaining('the values of Order.created were not recorded'),
    ])
  })
})
