/** Laws of tables/entity-rows.ts, entity-rows/R2 among them, and what a sink gets, against a plain model of an entity's rows. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { invert } from '../../src/encoding/bytes.ts'
import { encodeProperties } from '../../src/encoding/entity-codec.ts'
import { ancestorPrefixes, databaseCode, keyCodes, pathEnd } from '../../src/encoding/key-codec.ts'
import { keySpaceOf, keySpaces } from '../../src/encoding/keyspace.ts'
import { encodeInt64, encodeText } from '../../src/encoding/ordered.ts'
import { valueCode } from '../../src/encoding/value-codec.ts'
import { typeBytes } from '../../src/encoding/value-types.ts'
import { RecordWrites, rowsOf } from '../../src/log/record-writes.ts'
import type { CompositeIndex } from '../../src/model/index-definition.ts'
import { type Key, kindOf } from '../../src/model/key.ts'
import type { IndexableValue, Value } from '../../src/model/value.ts'
import { encodeImage } from '../../src/tables/entities.ts'
import { EntityRows, type IndexRules, RowProducer, tableOfRow } from '../../src/tables/entity-rows.ts'
import { scatterOf } from '../../src/tables/scatter.ts'
import { changesOf } from '../../src/testing/row-list.ts'
import { fewValues, keys } from '../support/arbitraries.ts'

/** Values by property; more than one are an array. */
type Entity = ReadonlyMap<string, readonly IndexableValue[]>

const many = Array.from({ length: 30 }, (_, i): IndexableValue => ({ type: 'integer', value: BigInt(i) }))
const valueLists = fc.uniqueArray(fewValues, { maxLength: 3, selector: valueCode })
const entities: fc.Arbitrary<Entity> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'b', 'ab', 'c\u0000'),
      fc.oneof({ weight: 6, arbitrary: valueLists }, { weight: 1, arbitrary: fc.constantFrom(many, many.slice(1)) }),
    ),
    { selector: ([name]) => name },
  )
  .map((own) => new Map(own))
const states = fc.option(entities, { freq: 5, nil: undefined })

const column = (name: string, direction: 'ascending' | 'descending' = 'ascending') => ({ name, direction })
const indexesOf = (kind: string): readonly CompositeIndex[] => [
  { id: 1n, kind, ancestor: true, properties: [column('a'), column('b', 'descending')] },
  { id: 2n, kind, ancestor: false, properties: [column('ab', 'descending'), column('__key__', 'descending')] },
  { id: 3n, kind: `${kind}x`, ancestor: false, properties: [column('a')] },
]

const rulesOf = (key: Key): IndexRules => ({ indexes: indexesOf(kindOf(key)), indexOptions: { scatter: 'legacy' } })

function cellOf(entity: Entity | undefined): Uint8Array | undefined {
  if (entity === undefined) return undefined
  const properties = new Map<string, Value>()
  for (const [name, values] of entity) {
    const [first] = values
    properties.set(name, values.length === 1 && first !== undefined ? first : { type: 'array', values })
  }
  return encodeImage({ version: 1n, createTime: 2n, updateTime: 3n, properties: encodeProperties(properties) })
}

type Rows = ReadonlyMap<string, string>

/** The rows of an entity, written down as the heads of the tables' files have them. */
function modelOf(key: Key, entity: Entity | undefined): Map<string, string> {
  const rows = new Map<string, string>()
  const cell = cellOf(entity)
  if (entity === undefined || cell === undefined) return rows
  const { partition, kind, path } = keyCodes(key)
  rows.set(keySpaces.Entities + partition + path, cell.join(' '))
  rows.set(keySpaces.EntitiesByKind + partition + kind + path, '')
  const byte = (value: IndexableValue, isOneOfSeveral: boolean): number =>
    typeBytes[value.type] + (isOneOfSeveral ? 0x80 : 0)
  const putBoth = (name: string, code: string, type: number): void => {
    const head = partition + kind + encodeText(name)
    rows.set(keySpaces.EntitiesByPropertyAsc + head + code + path, String(type))
    rows.set(keySpaces.EntitiesByPropertyDesc + head + invert(code) + path, String(type))
  }
  for (const [name, values] of entity) {
    for (const value of values) putBoth(name, valueCode(value), byte(value, values.length > 1))
  }
  const scatter = scatterOf(path, 'legacy')
  if (scatter !== undefined) putBoth('__scatter__', valueCode({ type: 'blob', value: scatter }), typeBytes.blob)
  const { projectId, databaseId, namespaceId } = key.partition
  for (const { id, kind: indexed, ancestor, properties } of indexesOf(kindOf(key))) {
    if (indexed !== kindOf(key)) continue
    let choices = [{ code: '', types: [] as number[] }]
    let end = path
    for (const { name, direction } of properties) {
      const turn = (code: string): string => (direction === 'descending' ? invert(code) : code)
      if (name === '__key__') {
        end = turn(path)
        continue
      }
      const values = entity.get(name) ?? []
      choices = values.flatMap((value) =>
        choices.map(({ code, types }) => ({
          code: code + turn(valueCode(value)),
          types: [...types, byte(value, values.length > 1)],
        })),
      )
    }
    const head = databaseCode(projectId, databaseId) + encodeInt64(id) + encodeText(namespaceId) + kind
    for (const above of ancestor ? ancestorPrefixes(path).map((prefix) => prefix + pathEnd) : ['']) {
      for (const { code, types } of choices) {
        rows.set(keySpaces.EntitiesByCompositeProperty + head + above + code + end, types.join(' '))
      }
    }
  }
  return rows
}

/** What a change makes of rows; it must touch none that stays. */
function changed(rows: Rows, key: Key, before: Entity | undefined, after: Entity | undefined): Rows {
  const store = new Map(rows)
  const seen = new Set<string>()
  const delta = { codes: keyCodes(key), before: cellOf(before), after: cellOf(after) }
  for (const { table, key: row, value, wasThere } of changesOf(delta, rulesOf(key))) {
    // Some hundred thousand rows are checked: `expect` of each would take longer than all else.
    if (seen.has(row)) expect.fail(`${table} is changed twice in one row`)
    seen.add(row)
    if (keySpaceOf(row) !== table || tableOfRow(row) !== table)
      expect.fail(`a row of ${table} has the code of another table`)
    if (store.has(row) !== wasThere) expect.fail(`a row of ${table} was ${wasThere ? 'not ' : ''}there`)
    if (value === undefined) {
      if (!store.delete(row)) expect.fail(`a row of ${table} is deleted that is not there`)
    } else {
      const cell = value.join(' ')
      if (table !== 'Entities' && store.get(row) === cell) expect.fail(`a row of ${table} that stays is written`)
      store.set(row, cell)
    }
  }
  return store
}

test('the rows of an entity are those of the model, and equal changes have equal rows', () => {
  fc.assert(
    fc.property(keys, entities, (key, entity) => {
      const rows = changed(new Map(), key, undefined, entity)
      expect(new Map([...rows].sort())).toEqual(new Map([...modelOf(key, entity)].sort()))
      expect(changed(new Map(), key, undefined, entity)).toEqual(rows)
    }),
    { numRuns: runs(150) },
  )
})

test('entity-rows/R2: a change turns the rows before into those after, touches no row that stays, and can be taken back', () => {
  fc.assert(
    fc.property(keys, states, states, (key, before, after) => {
      const [from, to] = [modelOf(key, before), modelOf(key, after)]
      expect(changed(from, key, before, after)).toEqual(to)
      expect(changed(to, key, after, before)).toEqual(from)
    }),
    { numRuns: runs(250) },
  )
})

test('a sink is handed what it wants of all rows, and their number is known before', () => {
  const tables = fc.subarray(Object.values(keySpaces))
  const property = fc.option(fc.constantFrom('a', 'ab'), { nil: undefined })
  fc.assert(
    fc.property(
      keys,
      fc.array(fc.tuple(states, states), { maxLength: 3 }),
      tables,
      property,
      (key, list, some, only) => {
        const codes = keyCodes(key)
        const changes = list.map(([before, after]) => {
          return new EntityRows({ codes, before: cellOf(before), after: cellOf(after) }, rulesOf(key))
        })
        const handed = (wants?: (prefix: string) => boolean): string[] => {
          const found: string[] = []
          const write = (row: string): number => found.push(row)
          const producer = new RowProducer(wants === undefined ? { write } : { write, wants })
          for (const change of changes) producer.indexRows(change)
          return found
        }
        const all = handed()
        expect(all).toHaveLength(changes.reduce((sum, { count }) => sum + count, 0))
        const head = codes.partition + codes.kind + (only === undefined ? '' : encodeText(only))
        const isWanted = (text: string): boolean => {
          if (!some.some((space) => text.startsWith(space))) return false
          const rest = text.slice(1)
          return !['A', 'D'].includes(text.charAt(0)) || rest.startsWith(head) || head.startsWith(rest)
        }
        expect(handed(isWanted)).toEqual(all.filter(isWanted))
      },
    ),
    { numRuns: runs(150) },
  )
})

test('records write the rows of all their changes at each stage, whenever the lists of entities are made', () => {
  const long: Entity = new Map([['a', Array.from({ length: 1500 }, (_, i) => ({ type: 'integer', value: BigInt(i) }))]])
  const pair = fc.oneof(
    { weight: 20, arbitrary: fc.tuple(states, states) },
    { weight: 1, arbitrary: fc.constant<[undefined, Entity]>([undefined, long]) },
  )
  fc.assert(
    fc.property(
      fc.tuple(keys, keys),
      fc.array(fc.tuple(fc.nat(1), pair), { maxLength: 8 }),
      fc.nat(30),
      fc.constantFrom('A', 'B', 'AB'),
      (two, list, madeAt, stage) => {
        const changes = list.map(([which, [before, after]]) => {
          const key = two[which] as Key
          const delta = { codes: keyCodes(key), before: cellOf(before), after: cellOf(after) }
          return new EntityRows(delta, rulesOf(key))
        })
        const lined = (key: string, value: Uint8Array | undefined): string => `${key} ${value?.join(' ')}`
        const found: string[] = []
        const sink = { write: (key: string, value: Uint8Array | undefined) => void found.push(lined(key, value)) }
        const writes = new RecordWrites([], [{ changes: changes.slice(0, 3) }, { changes: changes.slice(3) }], stage)
        let [step, written] = [0, 0]
        for (const work of writes.writeTo(sink)) {
          const rows = found.length - written
          if (rows > 2048 || rows > work) expect.fail(`a step of ${rows} rows, which gives ${work} as its work`)
          written = found.length
          if (++step === madeAt) for (const change of changes) expect(change.indexRows).toBeDefined()
        }
        const due = changes.flatMap((one) => rowsOf(one, stage).map(({ key, value }) => lined(key, value)))
        expect(found.sort()).toEqual(due.sort())
      },
    ),
    { numRuns: runs(150) },
  )
})
