/** Typed JSON of the console against the server's own codec: bytes, JSON, the form, JSON and bytes again. */
import {
  decodeProperties,
  encodeProperties,
  type Properties,
  requestContext,
  systemScheduler,
  type Value,
} from '@sixtables/engine'
import fc from 'fast-check'
import protobuf from 'protobufjs/minimal.js'
import { expect, test } from 'vitest'
import { values } from '../../gateway/test/support/entity-arbitraries.ts'
import { answerToJson, lookupAnswer, messageOf, requestFromJson } from '../../gateway/test/support/server-parts.ts'
import { jsonSource, parseJsonSource } from '../src/model/json-source.ts'
import { type JsonObject, propertiesForm, propertiesOf } from '../src/model/typed-json.ts'
import { problemsOf } from '../src/model/value-problems.ts'

const key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'K', id: 1n }] }

/** Properties as the server sends them. */
function answered(properties: Uint8Array): JsonObject {
  const image = { version: 1n, createTime: 1n, updateTime: 1n, properties }
  const result = { found: [{ key, image }], missing: [], deferred: [], readTime: 1n }
  const answer = lookupAnswer(requestContext({ clock: systemScheduler }), result, false) as Buffer
  return JSON.parse(answerToJson('Lookup', messageOf(answer))).found[0].entity.properties ?? {}
}

/** The property bytes of the entity in the one mutation of a commit. */
function sent(properties: JsonObject): Uint8Array {
  const body = { mutations: [{ upsert: { properties } }] }
  const commit = protobuf.Reader.create(requestFromJson('Commit', Buffer.from(JSON.stringify(body))))
  const fieldIn = (reader: protobuf.Reader): Uint8Array => {
    reader.uint32()
    return reader.bytes()
  }
  return fieldIn(protobuf.Reader.create(fieldIn(commit)))
}

/** The bytes with the properties in the order of their names: readers of JSON put names that look like numbers first, and a map has none. */
function inOrder(properties: Properties): string {
  const sorted = (map: Properties): Properties =>
    new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, within(value)]))
  const within = (value: Value): Value => {
    if (value.type === 'entity') return { ...value, properties: sorted(value.properties) }
    return value.type === 'array' ? { ...value, values: value.values.map(within) } : value
  }
  return Buffer.from(encodeProperties(sorted(properties))).toString('hex')
}

test('typed-json/T1: an entity that goes through the form and through its text is the same, byte for byte', () => {
  const names = fc.array(fc.stringMatching(/^[a-z0-9"\\_]{1,5}$/), { minLength: 1, maxLength: 4 })
  const entities = fc.tuple(names, fc.array(values, { minLength: 4, maxLength: 4 }))
  fc.assert(
    fc.property(entities, ([someNames, someValues]) => {
      const properties = new Map<string, Value>(someNames.map((name, i) => [name, someValues[i] as Value]))
      const form = propertiesForm(answered(encodeProperties(properties)))
      expect(problemsOf(form)).toEqual([])
      const text = jsonSource(propertiesOf(form))
      const again = sent(propertiesOf(propertiesForm(parseJsonSource(text))))
      expect(inOrder(decodeProperties(again)), text).toBe(inOrder(properties))
    }),
  )
})
