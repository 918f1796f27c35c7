/**
 * Masked writes and transforms through a whole engine, against a plain map: what is stored, what is answered, how many index
 * rows come and go, and that the index rows are what the stored entities say.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Mutation, PropertyTransform } from '../../src/database/api.ts'
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { indexEntries } from '../../src/encoding/index-entries.ts'
import { formatPropertyPath } from '../../src/encoding/property-path.ts'
import { WireWriter } from '../../src/encoding/wire.ts'
import { openEngine } from '../../src/engine/engine.ts'
import type { Key } from '../../src/model/key.ts'
import type { EntityValue, Properties, Value } from '../../src/model/value.ts'
import { applyTransforms, prepareTransforms } from '../../src/transactions/property-transform.ts'
import { comparable, comparableValue, readBack } from '../support/plain-values.ts'
import { maskPaths, modelCut, modelMerge } from './mask-model.ts'

const request = { projectId: 'p', databaseId: '' }
const partition = { ...request, namespaceId: '' }

const small: fc.Arbitrary<Value> = fc.oneof(
  fc.bigInt({ min: -2n, max: 2n }).map((value): Value => ({ type: 'integer', value })),
  fc.constantFrom(-1, 0, 0.5, 1, 2).map((value): Value => ({ type: 'double', value })),
  fc.constantFrom('a', 'b').map((value): Value => ({ type: 'string', value })),
  fc.constant<Value>({ type: 'null' }),
)
const smallList: fc.Arbitrary<Value> = fc
  .array(small, { maxLength: 4 })
  .map((values): Value => ({ type: 'array', values }))
const smallEntity: fc.Arbitrary<Value> = fc
  .dictionary(fc.constantFrom('a', 'b'), fc.oneof(small, smallList), { maxKeys: 2 })
  .map((fields): Value => ({ type: 'entity', properties: new Map(Object.entries(fields)) }))
const smallValue = fc.oneof(small, smallList, smallEntity)
const smallProperties: fc.Arbitrary<Properties> = fc
  .dictionary(fc.constantFrom('a', 'b', 'ab'), smallValue, { maxKeys: 3 })
  .map((fields) => new Map(Object.entries(fields)))

const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 2 })
const number = small.filter(({ type }) => type === 'integer' || type === 'double')

const transform: fc.Arbitrary<PropertyTransform> = fc.oneof(
  fc
    .tuple(path, fc.constantFrom('increment' as const, 'maximum' as const, 'minimum' as const), number)
    .map(([names, type, value]) => ({ property: formatPropertyPath(names), type, value })),
  fc
    .tuple(path, fc.constantFrom('appendMissing' as const, 'removeAll' as const), fc.array(small, { maxLength: 3 }))
    .map(([names, type, values]) => ({ property: formatPropertyPath(names), type, values })),
)

/** Transforms of one mutation: none within another. */
const transforms = fc
  .array(transform, { maxLength: 4 })
  .filter((all) => !all.some((a) => all.some((b) => b.property.startsWith(`${a.property}.`))))

const isNumeric = (value: Value | undefined): value is Value & { value: bigint | number } =>
  value?.type === 'integer' || value?.type === 'double'

/** Equality as the API's comments have it. */
function equivalent(a: Value, b: Value): boolean {
  if (isNumeric(a) && isNumeric(b)) return Number(a.value) === Number(b.value)
  return a.type === b.type && (a.type === 'null' || ('value' in a && 'value' in b && a.value === b.value))
}

function modelTransform(current: Value | undefined, { type, ...operand }: PropertyTransform): Value {
  if ('values' in operand) {
    let list = current?.type === 'array' ? [...current.values] : []
    for (const value of operand.values) {
      if (type === 'removeAll') list = list.filter((element) => !equivalent(element, value))
      else if (!list.some((element) => equivalent(element, value))) list.push(value)
    }
    return { type: 'array', values: list }
  }
  if (!('value' in operand) || !isNumeric(operand.value)) throw new Error('not drawn here')
  const { value } = operand
  if (!isNumeric(current)) return value
  if (type !== 'increment') {
    const difference = Number(value.value) - Number(current.value)
    return (type === 'maximum' ? difference > 0 : difference < 0) ? value : current
  }
  const sum = Number(current.value) + Number(value.value)
  if (current.type === 'integer' && value.type === 'integer') return { type: 'integer', value: BigInt(sum) }
  return { type: 'double', value: sum }
}

function modelTransformAt(
  properties: Properties,
  [name = '', ...inner]: readonly string[],
  one: PropertyTransform,
): Properties {
  const there = properties.get(name)
  if (inner.length === 0) return new Map(properties).set(name, modelTransform(there, one))
  const outer: EntityValue = there?.type === 'entity' ? there : { type: 'entity', properties: new Map() }
  return new Map(properties).set(name, { ...outer, properties: modelTransformAt(outer.properties, inner, one) })
}

const modelApply = (properties: Properties, all: readonly PropertyTransform[]): Properties =>
  all.reduce((before, one) => modelTransformAt(before, one.property.split('.'), one), properties)

test('transforms do to property bytes what they do to values', () => {
  fc.assert(
    fc.property(smallProperties, transforms, (stored, all) => {
      const { properties, results } = applyTransforms(encodeProperties(stored), prepareTransforms(all, request), 0n)
      expect(readBack(properties)).toEqual(comparable(modelApply(stored, all)))
      expect(results).toHaveLength(all.length)
    }),
    { numRuns: runs(200) },
  )
})

interface Step {
  readonly name: string
  readonly written: Properties | undefined
  readonly paths: string[][] | undefined
  readonly transforms: readonly PropertyTransform[]
}

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom('x', 'y'),
  written: fc.option(smallProperties, { nil: undefined, freq: 6 }),
  paths: fc.option(maskPaths, { nil: undefined, freq: 2 }),
  transforms: fc.oneof(fc.constant([]), transforms),
})

const keyOf = (name: string): Key => ({ partition, path: [{ kind: 'K', name }] })

function mutationOf({ name, written, paths, transforms: all }: Step): Mutation {
  const key = keyOf(name)
  if (written === undefined) return { operation: 'delete', key }
  const writer = new WireWriter()
  writer.bytes(1, encodeKey(key))
  writer.raw(encodeProperties(written))
  return {
    operation: 'upsert',
    entity: writer.finish(),
    transforms: all,
    ...(paths === undefined ? {} : { propertyMask: paths.map(formatPropertyPath) }),
  }
}

function modelStep(stored: Properties | undefined, { written, paths, transforms: all }: Step): Properties | undefined {
  if (written === undefined) return undefined
  if (paths === undefined) return modelApply(written, all)
  return modelApply(stored === undefined ? modelCut(written, paths) : modelMerge(stored, written, paths), all)
}

/** Index rows of an entity: one of its kind, two for each distinct indexed pair of property and value. */
function pairsOf(properties: Properties | undefined): Set<string> {
  if (properties === undefined) return new Set()
  const pairs = indexEntries(encodeProperties(properties)).map(
    (entry) => `${entry.property} ${entry.type} ${entry.valueCode}`,
  )
  return new Set(['kind', ...pairs.flatMap((pair) => [`asc ${pair}`, `desc ${pair}`])])
}

test('masked and transformed writes agree with a plain map, in store, answers and indexes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
      maskPaths,
      async (commits, mask) => {
        const engine = await openEngine()
        const database = engine.database('p')
        const model = new Map<string, Properties>()
        for (const steps of commits) {
          const before = new Map(model)
          for (const one of steps) {
            const after = modelStep(model.get(one.name), one)
            if (after === undefined) model.delete(one.name)
            else model.set(one.name, after)
          }
          const answer = await database.commit(engine.context(), {
            mode: 'transactional',
            singleUse: { mode: 'readWrite' },
            mutations: steps.map(mutationOf),
          })
          let updates = 0
          for (const name of new Set(steps.map((one) => one.name))) {
            const [old, fresh] = [pairsOf(before.get(name)), pairsOf(model.get(name))]
            for (const pair of old) if (!fresh.has(pair)) updates++
            for (const pair of fresh) if (!old.has(pair)) updates++
          }
          expect(answer.indexUpdates).toBe(updates)
          for (const [i, one] of steps.entries()) {
            const results = answer.mutationResults[i]?.transformResults ?? []
            expect(results).toHaveLength(one.written === undefined ? 0 : one.transforms.length)
            if (steps.length > 1 || one.written === undefined) continue
            // The last word on a property is what is stored.
            const last = one.transforms.at(-1)
            const stored = last && readPath(model.get(one.name), last.property.split('.'))
            if (last && 'value' in last)
              expect(comparableValue(results.at(-1) as Value)).toEqual(comparableValue(stored as Value))
            else if (last) expect(results.at(-1)).toEqual({ type: 'null' })
          }
        }
        const names = ['x', 'y']
        const paths = mask.map(formatPropertyPath)
        const keys = names.map(keyOf)
        const whole = await database.lookup(engine.context(), { keys })
        const masked = await database.lookup(engine.context(), { keys, propertyMask: paths })
        const present = names.filter((name) => model.has(name))
        expect(whole.found.map(({ image }) => readBack(image.properties))).toEqual(
          present.map((name) => comparable(model.get(name) as Properties)),
        )
        expect(masked.found.map(({ image }) => readBack(image.properties))).toEqual(
          present.map((name) => comparable(modelCut(model.get(name) as Properties, mask))),
        )
        expect((await engine.check()).problems).toEqual([])
        await engine.close()
      },
    ),
    { numRuns: runs(60) },
  )
})

function readPath(properties: Properties | undefined, [name = '', ...inner]: readonly string[]): Value | undefined {
  const value = properties?.get(name)
  if (inner.length === 0) return value
  return value?.type === 'entity' ? readPath(value.properties, inner) : undefined
}
