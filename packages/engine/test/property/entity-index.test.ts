/** Index entries found in bytes are those of the decoded entity; writing and reading agree. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { encodeProperties, encodeValue } from '../../src/encoding/entity-codec.ts'
import { type IndexEntry, indexEntries } from '../../src/encoding/index-entries.ts'
import { prepareEntity } from '../../src/encoding/validate-entity.ts'
import { valueCode } from '../../src/encoding/value-codec.ts'
import { typeBytes } from '../../src/encoding/value-types.ts'
import { DatastoreError } from '../../src/errors.ts'
import { type IndexableValue, userMeaning, type Value } from '../../src/model/value.ts'
import { indexableValues, names, propertyMaps } from '../support/arbitraries.ts'
import { array, entity, field, joined, keyOf, property, request, timestamp } from './entity-messages.ts'

const key = keyOf([{ kind: 'A', id: 1n }])

/** What a client may write: the flag of an array moves to its elements. Values too long for an index are excluded. */
function writable(value: Value): Value {
  switch (value.type) {
    case 'array': {
      const elements = value.values.map(writable)
      return array(...(value.excludeFromIndexes ? elements.map((e) => ({ ...e, excludeFromIndexes: true })) : elements))
    }
    case 'entity':
      return { ...value, properties: new Map([...value.properties].map(([name, v]) => [name, writable(v)])) }
    default:
      return value
  }
}

const maps = propertyMaps.map((map) => new Map([...map].map(([name, value]) => [name, writable(value)])))

/** The rules once more, on decoded values and with sets: name → codes with their types. */
function expectedEntries(properties: ReadonlyMap<string, Value>, emptyArrayAsNull = false): Set<string> {
  const codes = new Map<string, Map<string, number>>()
  const add = (name: string, value: IndexableValue): void => {
    const known = codes.get(name) ?? new Map<string, number>()
    codes.set(name, known)
    const code = valueCode(value)
    if (!known.has(code)) known.set(code, typeBytes[value.type])
  }
  const walk = (name: string, value: Value): void => {
    if (value.excludeFromIndexes) return
    if (value.type === 'array') {
      if (value.values.length === 0 && emptyArrayAsNull) add(name, { type: 'null' })
      for (const element of value.values) walk(name, element)
    } else if (value.type === 'entity' && value.meaning !== userMeaning) {
      for (const [inner, v] of value.properties) walk(`${name}.${inner}`, v)
    } else add(name, value)
  }
  for (const [name, value] of properties) walk(name, value)
  const entries = new Set<string>()
  for (const [name, values] of codes) {
    for (const [code, type] of values)
      entries.add(inWords({ property: name, valueCode: code, type, multi: values.size > 1 }))
  }
  return entries
}

const inWords = (entry: IndexEntry): string =>
  JSON.stringify([entry.property, entry.valueCode, entry.type, entry.multi])

/** Whether `error` is about a size: such draws prove nothing here. */
function isSize(error: unknown): boolean {
  return error instanceof DatastoreError && / at most \d+ /.test(error.message)
}

function prepared(bytes: Uint8Array, options = {}): ReturnType<typeof prepareEntity> {
  try {
    return prepareEntity(bytes, request, options)
  } catch (error) {
    fc.pre(!isSize(error))
    throw error
  }
}

describe('index entries', () => {
  it('have the code and type of the value', () => {
    fc.assert(
      fc.property(indexableValues, names, (value, name) => {
        fc.pre(value.type !== 'geoPoint' || (Math.abs(value.latitude) <= 90 && Math.abs(value.longitude) <= 180))
        const expected = [{ property: name, valueCode: valueCode(value), type: typeBytes[value.type], multi: false }]
        expect(prepared(entity(key, property(name, value))).entries).toEqual(expected)
        expect(indexEntries(property(name, value))).toEqual(expected)
      }),
      { numRuns: runs(500) },
    )
  })

  it('are those of the decoded entity, each once, multi where a property has several', () => {
    fc.assert(
      fc.property(maps, fc.boolean(), (map, emptyArrayAsNull) => {
        const { entries } = prepared(joined(entity(key), encodeProperties(map)), { emptyArrayAsNull })
        const found = entries.map(inWords)
        expect(new Set(found)).toEqual(expectedEntries(map, emptyArrayAsNull))
        expect(found.length).toBe(new Set(found).size)
      }),
      { numRuns: runs(500) },
    )
  })

  it('of large arrays are the same', () => {
    const large = fc.array(
      indexableValues.filter((value) => value.type !== 'geoPoint'),
      { minLength: 20, maxLength: 60 },
    )
    fc.assert(
      fc.property(large, large, (a, b) => {
        const map = new Map<string, Value>([
          ['a', array(...a)],
          ['b', array(...b)],
        ])
        expect(new Set(indexEntries(encodeProperties(map)).map(inWords))).toEqual(expectedEntries(map))
      }),
      { numRuns: runs(50) },
    )
  })

  it('finds of one property alone what it finds of it among all', () => {
    fc.assert(
      fc.property(maps, fc.nat(), fc.boolean(), (map, which, emptyArrayAsNull) => {
        const bytes = encodeProperties(map)
        const all = indexEntries(bytes, { emptyArrayAsNull })
        const wanted = all[which % Math.max(1, all.length)]?.property ?? 'none'
        const found = indexEntries(bytes, { emptyArrayAsNull }, wanted)
        const ofIt = (entries: readonly IndexEntry[]) => entries.filter(({ property: name }) => name === wanted)
        expect(ofIt(found)).toEqual(ofIt(all))
      }),
    )
  })

  it('found on a write are those found in what is stored, and storing that again changes nothing', () => {
    // Properties that make the write encode something anew, mixed among plain ones.
    const troublesome = fc.oneof(
      fc.nat(999_999_999).map((nanos) => timestamp(1n, nanos)),
      fc.nat(999_999_999).map((nanos) => field(9, joined(field(1, timestamp(-5n, nanos)), field(1, timestamp(1n, 7))))),
      fc.constant(field(5, field(2, joined(field(1, 'A'), field(3, 'n'))))),
      fc
        .nat(9)
        .map((n) =>
          field(6, joined(property('x', { type: 'integer', value: BigInt(n) }), property('x', timestamp(1n, n)))),
        ),
      indexableValues.filter((value) => value.type !== 'geoPoint').map(encodeValue),
    )
    const fields = fc.array(
      fc.oneof(
        fc.tuple(names, troublesome).map(([name, value]) => property(name, value)),
        maps.map(encodeProperties),
      ),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(fields, (parts) => {
        const first = prepared(entity(key, ...parts))
        expect(first.entries).toEqual(indexEntries(first.properties))
        const second = prepared(entity(key, first.properties))
        expect(Buffer.from(second.properties)).toEqual(Buffer.from(first.properties))
        expect(second.entries).toEqual(first.entries)
      }),
      { numRuns: runs(300) },
    )
  })
})
