/**
 * Property transforms: the server computes the new value of a property from the stored one. {points: 3}, incremented by 2, is
 * {points: 5}.
 *
 *   requestTime            the commit time in whole milliseconds, the same in the whole commit
 *   increment              the sum: two integers give an integer that stops at the ends of int64, otherwise a double (IEEE 754)
 *   maximum, minimum       the greater or smaller number, with its type; equal numbers keep the stored one; NaN wins
 *   appendMissing          appends the elements that the array does not have     } 3 = 3.0, 0.0 = -0.0, NaN = NaN;
 *   removeAll              the array without these elements                      } indexed or not makes no difference
 *
 * For the first three, a value that is no number counts as absent; for the last two, a value that is no array counts as an
 * empty array. If a path leads into a missing embedded entity, that entity is created. Transforms run in order, after the
 * write, whatever its mask. A property that keeps its value keeps its bytes.
 *
 * Known: comments of google.datastore.v1. Measured on the newer of Google's emulators: the milliseconds; a sum has the exclude
 * flag of the operand and no meaning; elements with different meanings differ; one mutation cannot transform a property and
 * another one within it. Documented: 500 per entity in a commit.
 */
import { decodeValue, encodeKey, encodeProperties, noDefaults, writeProperty } from '../encoding/entity-codec.ts'
import { entityFields } from '../encoding/property-mask.ts'
import { formatPropertyPath, type PropertyPath, parsePropertyPath } from '../encoding/property-path.ts'
import { prepareProperties } from '../encoding/validate-entity.ts'
import { valueCode } from '../encoding/value-codec.ts'
import { WireWriter } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { invariant } from '../invariant.ts'
import { limits } from '../limits.ts'
import type { DatabaseName } from '../model/key.ts'
import type { DoubleValue, EntityValue, IntegerValue, Properties, Value } from '../model/value.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'

/** `property` is a path (encoding/property-path.ts). */
export type PropertyTransform = { readonly property: string } & TransformOperation

export type TransformOperation = PlainOperation | ArrayOperation

type PlainOperation =
  | { readonly type: 'requestTime' }
  /** `value`: an integer or a double. */
  | { readonly type: 'increment' | 'maximum' | 'minimum'; readonly value: Value }

interface ArrayOperation {
  readonly type: 'appendMissing' | 'removeAll'
  readonly values: readonly Value[]
}

export interface PreparedTransform {
  readonly path: PropertyPath
  readonly operation: TransformOperation
}

type NumberValue = IntegerValue | DoubleValue

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const microsPerMillisecond = 1000n
const nullValue: Value = { type: 'null' }

/** @param request - its database, to which keys in values must belong. @throws DatastoreError INVALID_ARGUMENT */
export function prepareTransforms(
  transforms: readonly PropertyTransform[],
  request: DatabaseName,
): readonly PreparedTransform[] {
  checkPartCount(partLimits.propertyTransforms, transformCount(transforms))
  const prepared = transforms.map((operation): PreparedTransform => {
    const path = parsePropertyPath(operation.property, 'a property transform', limits.embeddedEntityDepthMax + 1)
    checkOperand(path, operation, request)
    return { path, operation }
  })
  refuseNested(prepared)
  return prepared
}

/** The number for the limit: an array transform counts once per element (documented). */
export function transformCount(operations: readonly TransformOperation[]): number {
  return operations.reduce((count, operation) => count + ('values' in operation ? operation.values.length : 1), 0)
}

/** Validates the operand, as a property of an entity at the transform's path. */
function checkOperand(path: PropertyPath, operation: TransformOperation, request: DatabaseName): void {
  if (operation.type === 'requestTime') return
  if ('value' in operation && !isNumber(operation.value)) {
    throw invalidArgument(
      `the ${operation.type} of ${formatPropertyPath(path)} has a ${operation.value.type} as operand; ` +
        'it must be an integer or a double',
      'Input must be int64 or double.',
    )
  }
  const name = path.at(-1) ?? ''
  const operand: Value = 'value' in operation ? operation.value : { type: 'array', values: operation.values }
  prepareProperties(encodeProperties(new Map([[name, operand]])), request)
}

function refuseNested(transforms: readonly PreparedTransform[]): void {
  if (transforms.length < 2) return
  const whole = new Set(transforms.map(({ path }) => formatPropertyPath(path)))
  for (const { path } of transforms) {
    for (let length = 1; length < path.length; length++) {
      const outer = formatPropertyPath(path.slice(0, length))
      if (!whole.has(outer)) continue
      throw invalidArgument(`${outer} and ${formatPropertyPath(path)} within it are transformed by the same mutation`)
    }
  }
}

export interface Transformed {
  /** `properties` fields of an Entity, not yet validated. */
  readonly properties: Uint8Array
  /** One per transform: the new value; null for array transforms. */
  readonly results: readonly Value[]
}

/** @param properties - `properties` fields of an Entity, without duplicates. @param now - microseconds */
export function applyTransforms(
  properties: Uint8Array,
  transforms: readonly PreparedTransform[],
  now: bigint,
): Transformed {
  const fields = entityFields(properties)
  const touched = new Set(transforms.map(({ path }) => path[0] ?? ''))
  const before = new Map<string, Value>()
  for (const { name, value } of fields) {
    if (name === undefined || !touched.has(name)) continue
    before.set(name, decodeValue(value.bytes.subarray(value.start, value.end), noDefaults, name))
  }
  const after = new Map(before)
  const results: Value[] = transforms.map(() => nullValue)
  // By path, since transforms of different paths do not meet.
  const byPath = new Map<string, number[]>()
  for (const [i, { path }] of transforms.entries()) getOrInsert(byPath, formatPropertyPath(path), () => []).push(i)
  const made: MadeEntities = new Map()
  for (const indexes of byPath.values()) {
    const [name = '', ...inner] = transforms[indexes[0] ?? 0]?.path ?? []
    const change = (current: Value | undefined): Value => {
      let value = current
      // Set from the first of array transforms that follow one another on.
      let array: ChangingArray | undefined
      for (const i of indexes) {
        const { operation } = transforms[i] as PreparedTransform
        if ('values' in operation) {
          array ??= new ChangingArray(value)
          array.apply(operation)
        } else {
          value = transformed(array?.value ?? value, operation, now)
          results[i] = value
          array = undefined
        }
      }
      return array?.value ?? value ?? nullValue
    }
    after.set(name, changedAt(after.get(name), inner, change, made))
  }
  return { properties: rewritten(fields, before, after), results }
}

/** Encodes changed values again, in their places; new properties are appended. */
function rewritten(fields: ReturnType<typeof entityFields>, before: Properties, after: Map<string, Value>): Uint8Array {
  const writer = new WireWriter()
  for (const { name, field } of fields) {
    const value = name === undefined ? undefined : after.get(name)
    if (name === undefined || value === undefined || value === before.get(name)) writer.raw(field)
    else writeProperty(writer, name, value)
  }
  for (const [name, value] of after) if (!before.has(name)) writeProperty(writer, name, value)
  return writer.finish()
}

/** Embedded entities that the transforms have made, which nothing else has: they are changed in their place. */
type MadeEntities = Map<EntityValue, Map<string, Value>>

/** `outer` with the value at `path` changed; the same object if nothing changes, or if it was made by these transforms. */
function changedAt(
  outer: Value | undefined,
  path: PropertyPath,
  change: (current: Value | undefined) => Value,
  made: MadeEntities,
): Value {
  const [name, ...inner] = path
  if (name === undefined) return change(outer)
  const entity: EntityValue = outer?.type === 'entity' ? outer : { type: 'entity', properties: new Map() }
  const current = entity.properties.get(name)
  const changed = changedAt(current, inner, change, made)
  if (changed === current) return entity
  const own = made.get(entity)
  if (own !== undefined) {
    own.set(name, changed)
    return entity
  }
  const properties = new Map(entity.properties).set(name, changed)
  const copy = { ...entity, properties }
  made.set(copy, properties)
  return copy
}

/** The new value. It is `current` itself if nothing changes. */
function transformed(current: Value | undefined, operation: PlainOperation, now: bigint): Value {
  if (operation.type === 'requestTime') return { type: 'timestamp', micros: now - (now % microsPerMillisecond) }
  const operand = operation.value
  invariant(isNumber(operand), 'the operand was checked to be a number')
  if (current === undefined || !isNumber(current)) return operand
  if (operation.type === 'increment') return sum(current, operand)
  if (Number.isNaN(current.value)) return current
  // Integers and doubles are compared exactly, without conversion.
  if (Number.isNaN(operand.value)) return operand
  const wins = operation.type === 'maximum' ? operand.value > current.value : operand.value < current.value
  return wins ? operand : current
}

function isNumber(value: Value): value is NumberValue {
  return value.type === 'integer' || value.type === 'double'
}

function sum(current: NumberValue, operand: NumberValue): NumberValue {
  const flags = operand.excludeFromIndexes === true ? { excludeFromIndexes: true } : {}
  const clamped = (whole: bigint): bigint => (whole > int64Max ? int64Max : whole < int64Min ? int64Min : whole)
  const result: NumberValue =
    current.type === 'integer' && operand.type === 'integer'
      ? { type: 'integer', value: clamped(current.value + operand.value), ...flags }
      : { type: 'double', value: Number(current.value) + Number(operand.value), ...flags }
  const sameFlags =
    current.meaning === undefined && (current.excludeFromIndexes ?? false) === (flags.excludeFromIndexes ?? false)
  return sameFlags && result.type === current.type && Object.is(result.value, current.value) ? current : result
}

/** An array that transforms change: 500 of them read its elements, of which there may be 20,000, once. */
class ChangingArray {
  readonly #before: Value | undefined
  readonly #elements: readonly Value[]
  readonly #codes: readonly string[]
  /** Codes of the elements that are still there. */
  readonly #kept: Set<string>
  readonly #appended = new Map<string, Value>()

  constructor(before: Value | undefined) {
    this.#before = before
    this.#elements = before?.type === 'array' ? before.values : []
    this.#codes = this.#elements.map(elementCode)
    this.#kept = new Set(this.#codes)
  }

  apply({ type, values }: ArrayOperation): void {
    for (const value of values) {
      const code = elementCode(value)
      if (type === 'removeAll') {
        this.#kept.delete(code)
        this.#appended.delete(code)
      } else if (!this.#kept.has(code) && !this.#appended.has(code)) this.#appended.set(code, value)
    }
  }

  get value(): Value {
    const kept = this.#elements.filter((_, i) => this.#kept.has(this.#codes[i] ?? ''))
    const isSame = kept.length === this.#elements.length && this.#appended.size === 0
    if (this.#before?.type === 'array' && isSame) return this.#before
    return { type: 'array', values: [...kept, ...this.#appended.values()] }
  }
}

/** A text that is equal for two values exactly if they are equal as array elements. */
function elementCode(value: Value): string {
  const code = plainCode(value)
  return value.meaning === undefined || value.meaning === 0 ? code : `${value.meaning}|${code}`
}

function plainCode(value: Value): string {
  switch (value.type) {
    case 'integer':
      return `number ${value.value}`
    case 'double':
      // A whole number is written as an integer of any length; -0 loses its sign.
      return `number ${Number.isInteger(value.value) ? BigInt(value.value) : value.value}`
    case 'geoPoint':
      return `geoPoint ${value.latitude + 0} ${value.longitude + 0}`
    case 'entity': {
      const names = [...value.properties.keys()].sort()
      const fields = names.map(
        (name) => `${JSON.stringify(name)}:${elementCode(value.properties.get(name) ?? nullValue)}`,
      )
      const key = value.key === undefined ? '' : Buffer.from(encodeKey(value.key)).toString('base64')
      return `entity ${key} {${fields.join(',')}}`
    }
    case 'array':
      return `[${value.values.map(elementCode).join(',')}]`
    default:
      // A value code is no start of another one, so the text stays clear among others.
      return `${value.type} ${valueCode(value)}`
  }
}
