/** Reads compared with a store that keeps every row. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { prefixEnd } from '../../src/encoding/bytes.ts'
import { encodeProperties } from '../../src/encoding/entity-codec.ts'
import { keyCodes } from '../../src/encoding/key-codec.ts'
import { keySpaces } from '../../src/encoding/keyspace.ts'
import { encodeText, skipText } from '../../src/encoding/ordered.ts'
import type { Key } from '../../src/model/key.ts'
import type { Value } from '../../src/model/value.ts'
import { OnDemandRows } from '../../src/on-demand/on-demand-rows.ts'
import type { KeyRange, KvReader, KvSnapshot, KvWrite } from '../../src/storage/kv.ts'
import { MemoryKv, type MemorySnapshot } from '../../src/storage/memory-kv.ts'
import { encodeImage, entityRowKey } from '../../src/tables/entities.ts'
import { type GroupCode, groupOf, logRowKey } from '../../src/tables/log-rows.ts'
import type { StoredIndexOptions } from '../../src/tables/scatter.ts'
import { atOnce } from '../../src/testing/at-once.ts'
import { changesOf } from '../../src/testing/row-list.ts'

// Names of which one is a prefix of the other, and some that are escaped where they stand in a row.
const namespaces = ['', 'n', 'n\u0000'] as const
const kinds = ['A', 'AB', 'A\u0000', '\u00ff'] as const
const properties = ['p', 'pq', '\u0000', '__scatter__'] as const

const keys: fc.Arbitrary<Key> = fc
  .record({
    namespaceId: fc.constantFrom(...namespaces),
    parents: fc.array(fc.constantFrom(...kinds), { maxLength: 1 }),
    kind: fc.constantFrom(...kinds),
    id: fc.bigInt({ min: 1n, max: 3n }),
  })
  .map(({ namespaceId, parents, kind, id }) => ({
    partition: { projectId: 'project', databaseId: '', namespaceId },
    path: [...parents.map((parent) => ({ kind: parent, name: 'root' })), { kind, id }],
  }))

const values: fc.Arbitrary<Value> = fc.oneof(
  fc.bigInt({ min: -1n, max: 2n }).map((value): Value => ({ type: 'integer', value })),
  fc.constantFrom('', 'a', 'a\u0000').map((value): Value => ({ type: 'string', value })),
)

const entities: fc.Arbitrary<ReadonlyMap<string, Value>> = fc
  .dictionary(fc.constantFrom('p', 'pq', '\u0000'), values)
  .map((own) => new Map(Object.entries(own)))

/** Where a range begins or ends: before or after all rows that begin with some of the texts of an index, and a bit more. */
interface Place {
  readonly space: keyof typeof keySpaces
  readonly texts: number
  readonly namespace: string
  readonly kind: string
  readonly property: string
  readonly more: string
  readonly isAfter: boolean
}

const places: fc.Arbitrary<Place> = fc.record({
  space: fc.constantFrom(
    'EntitiesByPropertyAsc',
    'EntitiesByPropertyDesc',
    'EntitiesByKind',
    'Entities',
    'Log',
    'Pending',
  ),
  texts: fc.nat({ max: 5 }),
  namespace: fc.constantFrom(...namespaces),
  kind: fc.constantFrom(...kinds),
  property: fc.constantFrom(...properties),
  more: fc.constantFrom('', '', '\x18', '\x28', '\xd7', 'A', '\x00'),
  isAfter: fc.boolean(),
})

function bytesOf({ space, texts, namespace, kind, property, more, isAfter }: Place): string {
  const head = ['project', '', namespace, kind, property].slice(0, texts)
  const prefix = keySpaces[space] + head.map(encodeText).join('') + more
  return isAfter ? prefixEnd(prefix) : prefix
}

/** A range of one index, or any other. */
const ranges: fc.Arbitrary<KeyRange> = fc.oneof(
  places.map((place) => ({ start: bytesOf({ ...place, isAfter: false }), end: bytesOf({ ...place, isAfter: true }) })),
  fc.tuple(places, places).map((two) => {
    const [start = '', end = ''] = two.map(bytesOf).sort()
    return { start, end }
  }),
)

type Command =
  | {
      readonly do: 'write'
      readonly entities: readonly (readonly [Key, ReadonlyMap<string, Value> | null])[]
      /** Its versions are not those of a commit that comes now. */
      readonly isLate?: boolean
    }
  | { readonly do: 'read'; readonly range: KeyRange; readonly reverse: boolean; readonly from: number }
  | { readonly do: 'trim'; readonly count: number; readonly place: number }
  | { readonly do: 'snapshot' | 'wait' | 'clear' }
  | { readonly do: 'close' | 'restore' | 'get' | 'getLog'; readonly from: number }

const from = fc.nat({ max: 3 })
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('write' as const),
        entities: fc.array(fc.tuple(keys, fc.option(entities, { freq: 4 })), { minLength: 1, maxLength: 6 }),
        isLate: fc.constantFrom(false, false, false, true),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({ do: fc.constant('read' as const), range: ranges, reverse: fc.boolean(), from }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('trim' as const),
        count: fc.constantFrom(1, 2, 4, 99),
        place: fc.constantFrom(0, 0, 0, 1),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('getLog' as const), from }) },
    { weight: 3, arbitrary: fc.constant<Command>({ do: 'snapshot' }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('close' as const, 'restore' as const), from }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('get' as const), from }) },
    { weight: 1, arbitrary: fc.constant<Command>({ do: 'wait' }) },
    { weight: 1, arbitrary: fc.constant<Command>({ do: 'clear' }) },
  ),
  { maxLength: 40, size: 'max' },
)

const options: StoredIndexOptions = { scatter: 'legacy' }
const image = { version: 1n, createTime: 1n, updateTime: 1n }
const everything: KeyRange = { start: '', end: '\xff' }

/** All rows of a range, two at a time, in text that can be compared. */
function rowsIn(reader: KvReader, range: KeyRange, reverse: boolean): (readonly [key: string, value: string])[] {
  const found: (readonly [string, string])[] = []
  const scan = reader.scan(range, { reverse })
  for (;;) {
    const rows = atOnce(scan.next(2))
    if (rows.length === 0) break
    for (const { key, value } of rows) found.push([key, value.join(' ')])
  }
  scan.close()
  return found
}

const logRange: KeyRange = { start: keySpaces.Log, end: prefixEnd(keySpaces.Log) }

/** Both stores, what they hold, and the snapshots that are open of both. */
class World {
  readonly whole = new MemoryKv([], { nodeCapacity: 4 })
  readonly inner = new MemoryKv([], { nodeCapacity: 4 })
  readonly subject = new OnDemandRows(this.inner, () => options)
  readonly snapshots: { readonly whole: MemorySnapshot; readonly subject: KvSnapshot & { readonly size: number } }[] =
    []
  #version = 0n
  readonly #groups = new Set<GroupCode>()

  run(command: Command): void {
    switch (command.do) {
      case 'write': {
        this.#groups.clear()
        for (const [key, entity] of command.entities) this.#write(key, entity, command.isLate === true)
        break
      }
      case 'read': {
        this.#compare(command.from, (reader) => rowsIn(reader, command.range, command.reverse))
        break
      }
      case 'get': {
        const rows = rowsIn(this.whole, { start: 'A', end: 'E' }, false)
        const [key] = rows[command.from % Math.max(1, rows.length)] ?? ['A none']
        const value = this.whole.get(key)
        if (command.from === 3) expect(this.subject.mutateIf({ key, value }, value)).toBe(true)
        this.#compare(command.from, (reader) => reader.get(key))
        break
      }
      case 'getLog': {
        const rows = rowsIn(this.whole, logRange, false)
        const [key] = rows[command.from % Math.max(1, rows.length)] ?? ['L none']
        this.#compare(command.from, (reader) => reader.get(key))
        break
      }
      case 'trim': {
        // The oldest go first; a reset takes others, too.
        const versionOf = (row: readonly [string, string]): string => row[0].slice(-8)
        const rows = rowsIn(this.whole, logRange, false).sort((a, b) => (versionOf(a) < versionOf(b) ? -1 : 1))
        const gone = rows.slice(command.place, command.place + command.count)
        this.#batch(gone.map(([key]) => ({ key, value: undefined })))
        break
      }
      case 'snapshot':
        this.snapshots.push({ whole: this.whole.snapshot(), subject: this.subject.snapshot() })
        break
      case 'close': {
        const [gone] = this.snapshots.splice(command.from, 1)
        gone?.whole.close()
        gone?.subject.close()
        break
      }
      case 'restore': {
        const kept = this.snapshots[command.from]
        if (kept === undefined) return
        this.whole.restore(kept.whole)
        this.subject.restore(kept.subject)
        break
      }
      case 'wait': {
        // The marker of a record that waits to be applied.
        const marker = { key: `${keySpaces.Pending}x`, value: new Uint8Array(0) }
        this.whole.mutate(marker)
        expect(this.subject.mutate(marker), 'so few rows are made at once').toBeUndefined()
        expect(rowsIn(this.inner, everything, false)).toEqual(rowsIn(this.whole, everything, false))
        expect(this.subject.keepsAll).toBe(true)
        break
      }
      default:
        this.whole.clear()
        atOnce(this.subject.clear())
    }
  }

  #write(key: Key, entity: ReadonlyMap<string, Value> | null, isLate: boolean): void {
    const codes = keyCodes(key)
    const cell = entity === null ? undefined : encodeImage({ ...image, properties: encodeProperties(entity) })
    const stored = this.whole.get(entityRowKey(codes.partition, codes.path))
    const changes = changesOf({ codes, before: stored, after: cell }, { indexes: [], indexOptions: options })
    const group = groupOf(codes.partition, codes.path)
    // Records of several groups may have one version.
    if (this.#groups.size === 0 || this.#groups.has(group)) {
      this.#version++
      this.#groups.clear()
    }
    this.#groups.add(group)
    const version = isLate ? 1000n - this.#version : 1000n + this.#version
    const record = { key: logRowKey(group, version), value: cell ?? new Uint8Array(0) }
    this.#batch([record, ...changes])
  }

  #batch(writes: readonly KvWrite[]): void {
    this.whole.batch(writes)
    expect(this.subject.batch(writes)).toBeUndefined()
  }

  #compare(from: number, read: (reader: KvReader) => unknown): void {
    const snapshot = this.snapshots[from]
    expect(read(snapshot?.subject ?? this.subject), 'OD1').toEqual(read(snapshot?.whole ?? this.whole))
  }
}

/** What a row of a property table begins with: the table, and five texts. */
function headOf(row: string): string {
  let end = 1
  for (let texts = 0; texts < 5; texts++) end = skipText(row, end)
  return row.slice(0, end)
}

/** Of each index the inner store has all rows or none. */
function checkIndexes({ whole, inner }: World): void {
  const byIndex = (kv: MemoryKv): Map<string, unknown[]> => {
    const indexes = new Map<string, unknown[]>()
    for (const space of ['A', 'D']) {
      for (const row of rowsIn(kv, { start: space, end: prefixEnd(space) }, false)) {
        const head = headOf(row[0])
        indexes.set(head, [...(indexes.get(head) ?? []), row])
      }
    }
    return indexes
  }
  const all = byIndex(whole)
  for (const [head, rows] of byIndex(inner)) expect(rows, 'OD2').toEqual(all.get(head))
}

test('what is read is what a store shows that keeps every row, and of an index all rows are kept or none', () => {
  fc.assert(
    fc.property(commands, (sequence) => {
      const world = new World()
      for (const command of sequence) {
        world.run(command)
        checkIndexes(world)
      }
      expect(rowsIn(world.subject, everything, false)).toEqual(rowsIn(world.whole, everything, false))
    }),
    { numRuns: runs(39) },
  )
})

const partition = { projectId: 'project', databaseId: '', namespaceId: '' }

/** The index of property p of kind A in a table. */
function rangeOf(table: 'EntitiesByPropertyAsc' | 'EntitiesByPropertyDesc'): KeyRange {
  const start = keySpaces[table] + ['project', '', '', 'A', 'p'].map(encodeText).join('')
  return { start, end: prefixEnd(start) }
}

test('rows of an index that was never read are not kept', () => {
  const world = new World()
  const key: Key = { partition, path: [{ kind: 'A', id: 1n }] }
  const entity = new Map<string, Value>([['p', { type: 'integer', value: 1n }]])
  world.run({ do: 'write', entities: [[key, entity]] })
  expect([world.inner.size, world.whole.size]).toEqual([2, 5])
  world.run({ do: 'read', range: rangeOf('EntitiesByPropertyDesc'), reverse: false, from: 0 })
  expect(world.inner.size).toBe(3)
})

test('rows of the log come into the tree when they are first read, and those trimmed before never do', () => {
  const world = new World()
  const entity = new Map<string, Value>()
  for (const id of [3n, 1n, 2n]) {
    world.run({ do: 'write', entities: [[{ partition, path: [{ kind: 'A', id }] }, entity]] })
  }
  world.run({ do: 'trim', count: 1, place: 0 })
  expect([world.inner.size, world.whole.size]).toEqual([6, 8])
  const snapshot = world.subject.snapshot()
  expect(snapshot.size).toBe(8)
  world.run({ do: 'read', range: logRange, reverse: false, from: 0 })
  expect(world.inner.size).toBe(8)
  world.run({ do: 'trim', count: 2, place: 0 })
  expect([world.inner.size, snapshot.size]).toEqual([6, 8])
  expect(rowsIn(snapshot, logRange, false)).toHaveLength(2)
  expect(snapshot.size).toBe(8)
})

test('single records of the log are found in the list, and stay there', () => {
  const world = new World()
  const entity = new Map<string, Value>()
  for (const id of [3n, 1n, 2n]) {
    world.run({ do: 'write', entities: [[{ partition, path: [{ kind: 'A', id }] }, entity]] })
  }
  world.run({ do: 'snapshot' })
  for (const at of [0, 1, 2]) world.run({ do: 'getLog', from: at })
  world.snapshots.splice(0)
  for (const at of [0, 1, 2]) world.run({ do: 'getLog', from: at })
  expect(world.inner.size).toBe(6)
})

test('an index that a snapshot of before is asked for is made for the store too, so that the next snapshot has it', () => {
  const world = new World()
  const keyOf = (id: bigint): Key => ({ partition, path: [{ kind: 'A', id }] })
  const entity = new Map<string, Value>([['p', { type: 'integer', value: 1n }]])
  world.run({ do: 'write', entities: [[keyOf(1n), entity]] })
  world.run({ do: 'snapshot' })
  world.run({ do: 'write', entities: [[keyOf(2n), entity]] })
  const range = rangeOf('EntitiesByPropertyAsc')
  world.run({ do: 'read', range, reverse: false, from: 0 })
  expect(rowsIn(world.inner, range, false)).toHaveLength(2)
})

test('a snapshot that has log rows which are gone from the list meanwhile is not changed by later writes', () => {
  const world = new World()
  const entity = new Map<string, Value>()
  const write = (...ids: readonly bigint[]): void => {
    const keys = ids.map((id): Key => ({ partition, path: [{ kind: 'A', id }] }))
    world.run({ do: 'write', entities: keys.map((key) => [key, entity]) })
  }
  write(1n, 2n, 3n, 4n, 5n, 6n, 7n)
  world.run({ do: 'snapshot' })
  world.run({ do: 'trim', count: 7, place: 0 })
  world.run({ do: 'read', range: logRange, reverse: false, from: 0 })
  write(0n)
  world.run({ do: 'read', range: everything, reverse: false, from: 0 })
})

test('a snapshot shows the log of its moment when as many rows have come as have gone, and nothing else has changed', () => {
  const world = new World()
  const keyOf = (id: bigint): Key => ({ partition, path: [{ kind: 'A', id }] })
  world.run({ do: 'write', entities: [[keyOf(1n), new Map()]] })
  world.run({ do: 'snapshot' })
  world.run({ do: 'trim', count: 1, place: 0 })
  world.run({ do: 'write', entities: [[keyOf(2n), null]] })
  world.run({ do: 'read', range: logRange, reverse: false, from: 0 })
})

test('a store that was closed takes no rows, and neither it nor its closed snapshots answer', async () => {
  const world = new World()
  world.run({ do: 'write', entities: [[{ partition, path: [{ kind: 'A', id: 1n }] }, new Map()]] })
  const { subject } = world
  const row = rowsIn(subject.snapshot(), logRange, false)[0]?.[0] ?? ''
  world.run({ do: 'write', entities: [[{ partition, path: [{ kind: 'A', id: 2n }] }, new Map()]] })
  const snapshot = subject.snapshot()
  snapshot.close()
  const unavailable = expect.objectContaining({ name: 'DatastoreError', code: 'UNAVAILABLE' })
  expect(() => snapshot.get(row)).toThrow(unavailable)
  expect(() => snapshot.scan(logRange)).toThrow(unavailable)
  await subject.close()
  expect(() => subject.get(row)).toThrow(unavailable)
  expect(() => subject.mutate({ key: `${row}\x01`, value: new Uint8Array(0) })).toThrow(unavailable)
  expect(() => subject.batch([{ key: row, value: undefined }])).toThrow(unavailable)
})
