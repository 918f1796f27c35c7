/**
 * Property transforms: changes of single properties that the server works out from what is stored.
 *
 *   requestTime            the time of the commit, in whole milliseconds; the same in all of a commit
 *   increment              sum; of two integers an integer that stops at the ends of int64, otherwise a double (IEEE 754)
 *   maximum, minimum       the greater or smaller number, with its type; equal numbers leave the stored one; NaN wins
 *   appendMissing          elements that the array has not yet, in order        } 3 = 3.0, 0.0 = -0.0, NaN = NaN;
 *   removeAll              the array without these elements                    } whether an element is indexed is no difference
 *
 * A value that is no number counts as absent for the first three, and one that is no array as an empty array for the last two. A path
 * into no entity makes the entities on the way.
 *
 * PT1  Transforms of a mutation take effect in order, after its write, whatever its mask says.   mutations.ts
 * PT2  A property that transforms leave equal keeps its bytes.                         property-transform.test.ts
 *
 * Known: comments of google.datastore.v1. Measured on the newer of Google's emulators: the milliseconds; that a sum has the
 * exclude flag of what is added and no meaning; that elements with different meanings differ; that a property and one within
 * it cannot both be transformed by one mutation. Documented: 500 an entity in a commit.
 */
import { decodeValue, encodeProperties, noDefaults, writeProperty } from '../encoding/entity-codec.ts'
import { entityFields } from '../encoding/property-mask.ts'
import { formatPropertyPath, type PropertyPath, parsePropertyPath } from '../encoding/property-path.ts'
import { prepareProperties } from '../encoding/validate-entity.ts'
import { WireWriter } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import { invariant } from '../invariant.ts'
import { limits } from '../limits.ts'
import type { Key } from '../model/key.ts'
import type { DoubleValue, EntityValue, IntegerValue, Properties, Value } from '../model/value.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'

/** `property` is a path (encoding/property-path.ts). */
export type PropertyTransform = { readonly property: string } & TransformOperation

export type TransformOperation =
  | { readonly type: 'requestTime' }
  /** `value`: an integer or a double. */
  | { readonly type: 'increment' | 'maximum' | 'minimum'; readonly value: Value }
  | { readonly type: 'appendMissing' | 'removeAll'; readonly values: readonly Value[] }

/** A transform that may take effect. */
export interface PreparedTransform {
  readonly path: PropertyPath
  readonly operation: TransformOperation
}

type NumberValue = IntegerValue | DoubleValue

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const microsPerMillisecond = 1000n
const nullValue: Value = { type: 'null' }

// -------------------------------------------------------------------------------------------------------- checking

/**
 * Checks the transforms of one mutation.
 *
 * @param request - the database of the request: whose keys may stand in values
 * @throws DatastoreError INVALID_ARGUMENT
 */
export function prepareTransforms(
  transforms: readonly PropertyTransform[],
  request: { readonly projectId: string; readonly databaseId: string },
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

/** How many transforms these count as: an array transform as one for each of its elements (documented). */
export function transformCount(operations: readonly TransformOperation[]): number {
  return operations.reduce((count, operation) => count + ('values' in operation ? operation.values.length : 1), 0)
}

/** Puts the operand where the transform would put it, into an entity of its own, which is then validated like any other. */
function checkOperand(
  path: PropertyPath,
  operation: TransformOperation,
  request: { readonly projectId: string; readonly databaseId: string },
): void {
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

// ------------------------------------------------------------------------------------------------------ on bytes

export interface Transformed {
  /** `properties` fields of an Entity, not yet validated. */
  readonly properties: Uint8Array
  /** One for each transform: the new value; null for the transforms of arrays. */
  readonly results: readonly Value[]
}

/**
 * Applies transforms in order.
 *
 * @param properties - `properties` fields of an Entity, each named once
 * @param now - microseconds since the epoch
 */
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
  const results: Value[] = []
  for (const { path, operation } of transforms) {
    const [name = '', ...inner] = path
    after.set(
      name,
      changedAt(after.get(name), inner, (current) => {
        const { value, result } = transformed(current, operation, now)
        results.push(result)
        return value
      }),
    )
  }
  return { properties: rewritten(fields, before, after), results }
}

/** The fields with changed values encoded anew, in their places, and new properties behind them. */
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

/** `outer` with the value at `path` within it changed; itself when the change is none. */
function changedAt(outer: Value | undefined, path: PropertyPath, change: (current: Value | undefined) => Value): Value {
  const [name, ...inner] = path
  if (name === undefined) return change(outer)
  const entity: EntityValue = outer?.type === 'entity' ? outer : { type: 'entity', properties: new Map() }
  const current = entity.properties.get(name)
  const changed = changedAt(current, inner, change)
  if (changed === current) return entity
  return { ...entity, properties: new Map(entity.properties).set(name, changed) }
}

// ------------------------------------------------------------------------------------------------------ on values

/** The new value, and what the answer says of it. The value is `current` itself when nothing changes (PT2). */
function transformed(
  current: Value | undefined,
  operation: TransformOperation,
  now: bigint,
): { readonly value: Value; readonly result: Value } {
  switch (operation.type) {
    case 'requestTime': {
      const value: Value = { type: 'timestamp', micros: now - (now % microsPerMillisecond) }
      return { value, result: value }
    }
    case 'increment':
    case 'maximum':
    case 'minimum': {
      const operand = operation.value
      invariant(isNumber(operand), 'PT1: the operand was checked to be a number')
      const value = current !== undefined && isNumber(current) ? combined(current, operand, operation.type) : operand
      return { value, result: value }
    }
    case 'appendMissing':
      return { value: withMissing(current, operation.values), result: nullValue }
    case 'removeAll':
      return { value: without(current, operation.values), result: nullValue }
  }
}

function isNumber(value: Value): value is NumberValue {
  return value.type === 'integer' || value.type === 'double'
}

function combined(current: NumberValue, operand: NumberValue, type: 'increment' | 'maximum' | 'minimum'): NumberValue {
  if (type === 'increment') return sum(current, operand)
  if (Number.isNaN(current.value)) return current
  // Integers and doubles are compared exactly, without turning one into the other.
  if (Number.isNaN(operand.value)) return operand
  const wins = type === 'maximum' ? operand.value > current.value : operand.value < current.value
  return wins ? operand : current
}

function sum(current: NumberValue, operand: NumberValue): NumberValue {
  const flags = operand.excludeFromIndexes === true ? { excludeFromIndexes: true } : {}
  const result: NumberValue =
    current.type === 'integer' && operand.type === 'integer'
      ? { type: 'integer', value: clamped(current.value + operand.value), ...flags }
      : { type: 'double', value: Number(current.value) + Number(operand.value), ...flags }
  const sameFlags =
    current.meaning === undefined && (current.excludeFromIndexes ?? false) === (flags.excludeFromIndexes ?? false)
  return sameFlags && result.type === current.type && Object.is(result.value, current.value) ? current : result
}

function clamped(value: bigint): bigint {
  return value > int64Max ? int64Max : value < int64Min ? int64Min : value
}

function withMissing(current: Value | undefined, values: readonly Value[]): Value {
  const elements = current?.type === 'array' ? current.values : []
  const present = new Set(elements.map(elementCode))
  const missing: Value[] = []
  for (const value of values) {
    const code = elementCode(value)
    if (present.has(code)) continue
    present.add(code)
    missing.push(value)
  }
  if (current?.type === 'array' && missing.length === 0) return current
  return { type: 'array', values: [...elements, ...missing] }
}

function without(current: Value | undefined, values: readonly Value[]): Value {
  const elements = current?.type === 'array' ? current.values : []
  const removed = new Set(values.map(elementCode))
  const kept = elements.filter((element) => !removed.has(elementCode(element)))
  if (current?.type === 'array' && kept.length === elements.length) return current
  return { type: 'array', values: kept }
}

/** A text that two values have in common exactly if they are equal as elements of an array. */
function elementCode(value: Value): string {
  const code = plainCode(value)
  return value.meaning === undefined || value.meaning === 0 ? code : `${value.meaning}|${code}`
}

function plainCode(value: Value): string {
  switch (value.type) {
    case 'null':
      return 'null'
    case 'boolean':
      return String(value.value)
    case 'integer':
      return `number ${value.value}`
    case 'double':
      // A whole number is written as an integer of any length; -0 loses its sign.
      return `number ${Number.isInteger(value.value) ? BigInt(value.value) : value.value}`
    case 'timestamp':
      return `timestamp ${value.micros}`
    case 'string':
      return `string ${JSON.stringify(value.value)}`
    case 'blob':
      return `blob ${Buffer.from(value.value).toString('base64')}`
    case 'geoPoint':
      return `geoPoint ${value.latitude + 0} ${value.longitude + 0}`
    case 'key':
      return `key ${keyText(value.key)}`
    case 'entity': {
      const names = [...value.properties.keys()].sort()
      const fields = names.map(
        (name) => `${JSON.stringify(name)}:${elementCode(value.properties.get(name) ?? nullValue)}`,
      )
      return `entity ${value.key === undefined ? '' : keyText(value.key)} {${fields.join(',')}}`
    }
    case 'array':
      return `[${value.values.map(elementCode).join(',')}]`
  }
}

function keyText({ partition, path }: Key): string {
  const { projectId, databaseId, namespaceId } = partition
  return JSON.stringify([
    projectId,
    databaseId,
    namespaceId,
    path.map(({ kind, id, name }) => [kind, String(id), name]),
  ])
}
