/**
 * The engine's hand-written entity codec against protobufjs reading the published protos: each reads what the other
 * writes, and what both write is the same bytes.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  decodeKey,
  decodeProperties,
  decodeValue,
  encodeKey,
  encodeProperties,
  encodeValue,
  type Key,
  type Value,
} from '@sixtables/engine'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'

const require = createRequire(import.meta.url)
// The protos name each other by their path from the root of google-proto-files.
const protoRoot = dirname(require.resolve('google-proto-files/package.json'))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => join(protoRoot, target)
root.loadSync('google/datastore/v1/entity.proto')
const messages = {
  Key: root.lookupType('google.datastore.v1.Key'),
  Value: root.lookupType('google.datastore.v1.Value'),
  Entity: root.lookupType('google.datastore.v1.Entity'),
}

const noDefaults = { projectId: '', databaseId: '' }

/** A message as protobufjs has it: 64-bit numbers as decimal text. */
type Plain = Record<string, unknown>

function plainKey({ partition, path }: Key): Plain {
  const { projectId, databaseId, namespaceId } = partition
  const plainPartition = {
    ...(projectId === '' ? {} : { projectId }),
    ...(databaseId === '' ? {} : { databaseId }),
    ...(namespaceId === '' ? {} : { namespaceId }),
  }
  return {
    ...(Object.keys(plainPartition).length === 0 ? {} : { partitionId: plainPartition }),
    path: path.map(({ kind, id, name }) => ({
      kind,
      ...(id === undefined ? {} : { id: String(id) }),
      ...(name === undefined ? {} : { name }),
    })),
  }
}

function plainMember(value: Value): Plain {
  switch (value.type) {
    case 'null':
      return { nullValue: 0 }
    case 'boolean':
      return { booleanValue: value.value }
    case 'integer':
      return { integerValue: String(value.value) }
    case 'double':
      return { doubleValue: value.value }
    case 'timestamp': {
      const nanos = Number(((value.micros % 1_000_000n) + 1_000_000n) % 1_000_000n) * 1000
      const seconds = (value.micros - BigInt(nanos / 1000)) / 1_000_000n
      return {
        timestampValue: { ...(seconds === 0n ? {} : { seconds: String(seconds) }), ...(nanos === 0 ? {} : { nanos }) },
      }
    }
    case 'string':
      return { stringValue: value.value }
    case 'blob':
      return { blobValue: value.value }
    case 'geoPoint': {
      const { latitude, longitude } = value
      return {
        geoPointValue: {
          ...(Object.is(latitude, 0) ? {} : { latitude }),
          ...(Object.is(longitude, 0) ? {} : { longitude }),
        },
      }
    }
    case 'key':
      return { keyValue: plainKey(value.key) }
    case 'entity':
      return {
        entityValue: {
          ...(value.key === undefined ? {} : { key: plainKey(value.key) }),
          properties: plainProperties(value.properties),
        },
      }
    case 'array':
      return { arrayValue: { values: value.values.map(plainValue) } }
  }
}

function plainValue(value: Value): Plain {
  return {
    ...plainMember(value),
    ...(value.meaning === undefined ? {} : { meaning: value.meaning }),
    ...(value.excludeFromIndexes ? { excludeFromIndexes: true } : {}),
  }
}

function plainProperties(properties: ReadonlyMap<string, Value>): Plain {
  return Object.fromEntries([...properties].map(([name, value]) => [name, plainValue(value)]))
}

const texts = fc.string({
  unit: fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), fc.constantFrom('é', '\u{1f600}', '\0')),
})
const int64s = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -300n, max: 300n }),
  fc.constantFrom(2n ** 53n + 1n, 2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 63n - 1n, -(2n ** 63n)),
)
const named = texts.filter((text) => text !== '')

const keys: fc.Arbitrary<Key> = fc.record({
  partition: fc.record({ projectId: texts, databaseId: texts, namespaceId: texts }),
  path: fc.array(
    fc.oneof(
      fc.record({ kind: named }),
      fc.record({ kind: named, id: int64s }),
      fc.record({ kind: named, name: texts }),
    ),
    { minLength: 1, maxLength: 4 },
  ),
})

// JavaScript objects put names that are whole numbers first, which would reorder a map: no such names here.
const names = texts.filter((text) => text !== '' && text !== '__proto__' && !/^\d+$/.test(text))

const { value: values } = fc.letrec<{ value: Value; member: Value }>((tie) => ({
  value: fc
    .tuple(tie('member'), fc.option(fc.integer(), { nil: undefined }), fc.boolean())
    .map(([member, meaning, excluded]) => ({
      ...member,
      ...(meaning === undefined || meaning === 0 ? {} : { meaning }),
      ...(excluded ? { excludeFromIndexes: true } : {}),
    })),
  member: fc.oneof(
    { maxDepth: 3 },
    fc.constant<Value>({ type: 'null' }),
    fc.boolean().map((value): Value => ({ type: 'boolean', value })),
    int64s.map((value): Value => ({ type: 'integer', value })),
    fc.oneof(fc.double(), fc.constantFrom(-0, Number.NaN)).map((value): Value => ({ type: 'double', value })),
    fc
      .bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
      .map((micros): Value => ({ type: 'timestamp', micros })),
    texts.map((value): Value => ({ type: 'string', value })),
    fc.uint8Array({ maxLength: 300 }).map((value): Value => ({ type: 'blob', value: new Uint8Array(value) })),
    fc
      .tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true }))
      .map(([latitude, longitude]): Value => ({ type: 'geoPoint', latitude, longitude })),
    keys.map((key): Value => ({ type: 'key', key })),
    fc
      .tuple(fc.option(keys, { nil: undefined }), fc.array(fc.tuple(names, tie('value')), { maxLength: 3 }))
      .map(([key, fields]): Value => {
        const properties = new Map(fields)
        return key === undefined ? { type: 'entity', properties } : { type: 'entity', key, properties }
      }),
    fc.array(tie('value'), { maxLength: 3 }).map((elements): Value => ({ type: 'array', values: elements })),
  ),
}))

function oracleBytes(type: protobuf.Type, plain: Plain): Buffer {
  return Buffer.from(type.encode(type.fromObject(plain)).finish())
}

function oraclePlain(type: protobuf.Type, bytes: Uint8Array): Plain {
  return type.toObject(type.decode(bytes), { longs: String })
}

describe('the entity codec and protobufjs', () => {
  it('agree on keys', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const theirs = oracleBytes(messages.Key, plainKey(key))
        expect(Buffer.from(encodeKey(key))).toEqual(theirs)
        expect(decodeKey(theirs, noDefaults)).toEqual(key)
      }),
      { numRuns: runs(300) },
    )
  })

  it('agree on values', () => {
    fc.assert(
      fc.property(values, (value) => {
        const theirs = oracleBytes(messages.Value, plainValue(value))
        expect(Buffer.from(encodeValue(value)).toString('hex')).toBe(theirs.toString('hex'))
        expect(decodeValue(theirs, noDefaults)).toEqual(value)
      }),
      { numRuns: runs(500) },
    )
  })

  it('agree on what an entity spliced from a key and property bytes says', () => {
    fc.assert(
      fc.property(keys, fc.array(fc.tuple(names, values), { maxLength: 4 }), (key, fields) => {
        const properties = new Map(fields)
        const keyBytes = encodeKey(key)
        const writer = protobuf.Writer.create().uint32(0x0a).bytes(keyBytes)
        const spliced = Buffer.concat([writer.finish(), encodeProperties(properties)])
        const plain = { key: plainKey(key), properties: plainProperties(properties) }
        expect(oraclePlain(messages.Entity, spliced)).toEqual(
          oraclePlain(messages.Entity, oracleBytes(messages.Entity, plain)),
        )
        expect(decodeProperties(oracleBytes(messages.Entity, plain))).toEqual(properties)
      }),
      { numRuns: runs(200) },
    )
  })
})
