/**
 * Values of the API in JSON, and the form in which a person edits them. Nothing that the form does not know is lost.
 *
 *   {"integerValue": "5", "excludeFromIndexes": true}   ⇄   { type: 'integer', text: '5', isExcluded: true, … }
 *
 * A form holds texts as they are typed, and so also what is not a value yet; value-problems.ts says what is wrong, and where.
 *
 * Doubles keep -0, NaN and the infinities: in JSON they are texts.
 *
 * T1  jsonOf(formOf(value)) says the same as `value`, whatever members it has.
 *
 * Known: the proto3 JSON mapping of google.datastore.v1.Value. A vector is an array of doubles with meaning 31.
 */
import { formatKeyPath, type PathElement, parseKeyPath } from './key-text.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** `other`: a value whose type this console does not know. It is kept as it is. */
export const valueTypes = [
  'string',
  'integer',
  'double',
  'boolean',
  'timestamp',
  'key',
  'null',
  'array',
  'entity',
  'geoPoint',
  'blob',
  'vector',
  'other',
] as const
export type ValueType = (typeof valueTypes)[number]

/** The partition of a key, or of the key of an embedded entity. */
export interface PartitionForm {
  readonly project: string
  readonly database: string
  readonly namespace: string
}

export interface ValueForm {
  readonly type: ValueType
  /**
   * As typed: an integer, a double, a boolean, an instant, a path of a key, a string, base64, numbers of a vector, the latitude. Of an
   * embedded entity the path of its key; empty without one.
   */
  readonly text: string
  readonly longitude: string
  readonly partition: PartitionForm
  readonly properties: readonly PropertyForm[]
  readonly elements: readonly ValueForm[]
  readonly isExcluded: boolean
  /** Empty = none. */
  readonly meaning: string
  /** Members that the form does not show. */
  readonly rest: JsonObject
}

export interface PropertyForm {
  readonly name: string
  readonly value: ValueForm
}

const noPartition: PartitionForm = { project: '', database: '', namespace: '' }

export const emptyValue: ValueForm = {
  type: 'string',
  text: '',
  longitude: '',
  partition: noPartition,
  properties: [],
  elements: [],
  isExcluded: false,
  meaning: '',
  rest: {},
}

const vectorMeaning = '31'

/** The properties of an entity, in their order. */
export function propertiesForm(properties: JsonObject): readonly PropertyForm[] {
  return Object.entries(properties).map(([name, value]) => ({ name, value: formOf(value) }))
}

/** The inverse. Names that come twice must have been told as problems before. */
export function propertiesOf(form: readonly PropertyForm[]): JsonObject {
  return Object.fromEntries(form.map(({ name, value }) => [name, jsonOf(value)]))
}

export function formOf(json: Json): ValueForm {
  if (!isObject(json)) return { ...emptyValue, type: 'other', rest: { value: json } }
  const { meaning, excludeFromIndexes, ...members } = json
  const common = {
    ...emptyValue,
    isExcluded: excludeFromIndexes === true,
    meaning: meaning === undefined ? '' : String(meaning),
  }
  const flags: JsonObject =
    excludeFromIndexes === undefined || excludeFromIndexes === true ? {} : { excludeFromIndexes }
  const found = Object.keys(members)
  const [member = ''] = found
  const read =
    found.length === 1 && Object.hasOwn(readers, member) ? readers[member]?.(members[member] ?? null) : undefined
  if (read === undefined) return { ...common, type: 'other', rest: { ...members, ...flags } }
  const form = { ...common, ...read, rest: { ...(read.rest ?? {}), ...flags } }
  return asVector(form) ?? form
}

/** How the member of each type is read; `undefined` = it does not look as the mapping says. */
const readers: Readonly<Record<string, (json: Json) => Partial<ValueForm> | undefined>> = {
  nullValue: () => ({ type: 'null' }),
  booleanValue: (json) => (typeof json === 'boolean' ? { type: 'boolean', text: String(json) } : undefined),
  integerValue: (json) =>
    typeof json === 'string' || typeof json === 'number' ? { type: 'integer', text: String(json) } : undefined,
  doubleValue: (json) => (isDouble(json) ? { type: 'double', text: doubleText(json) } : undefined),
  timestampValue: textOf('timestamp'),
  stringValue: textOf('string'),
  blobValue: textOf('blob'),
  keyValue(json) {
    const key = keyForm(json)
    return key === undefined ? undefined : { type: 'key', ...key }
  },
  geoPointValue(json) {
    if (!isObject(json) || !hasOnly(json, ['latitude', 'longitude'])) return undefined
    const { latitude = 0, longitude = 0 } = json
    if (!isDouble(latitude) || !isDouble(longitude)) return undefined
    return { type: 'geoPoint', text: doubleText(latitude), longitude: doubleText(longitude) }
  },
  entityValue(json) {
    if (!isObject(json) || !hasOnly(json, ['key', 'properties'])) return undefined
    const { key, properties = {} } = json
    if (!isObject(properties)) return undefined
    const named = key === undefined ? {} : keyForm(key)
    return named === undefined ? undefined : { type: 'entity', properties: propertiesForm(properties), ...named }
  },
  arrayValue(json) {
    if (!isObject(json) || !hasOnly(json, ['values'])) return undefined
    const { values = [] } = json
    return Array.isArray(values) ? { type: 'array', elements: values.map(formOf) } : undefined
  },
}

function textOf(type: ValueType): (json: Json) => Partial<ValueForm> | undefined {
  return (json) => (typeof json === 'string' ? { type, text: json } : undefined)
}

/** The value of a form without problems, in JSON. */
export function jsonOf(form: ValueForm): JsonObject {
  const { rest, isExcluded, meaning } = form
  return {
    ...memberOf(form),
    ...rest,
    ...(meaning === '' ? {} : { meaning: /^-?\d{1,9}$/.test(meaning) ? Number(meaning) : meaning }),
    ...(isExcluded ? { excludeFromIndexes: true } : {}),
  }
}

function memberOf(form: ValueForm): JsonObject {
  const { type, text, longitude, partition, properties, elements } = form
  switch (type) {
    case 'null':
      return { nullValue: null }
    case 'boolean':
      return { booleanValue: text === 'true' }
    case 'integer':
      return { integerValue: text.trim() }
    case 'double':
      return { doubleValue: doubleJson(text) }
    case 'timestamp':
      return { timestampValue: text }
    case 'string':
      return { stringValue: text }
    case 'blob':
      return { blobValue: text }
    case 'key':
      return { keyValue: keyJson(text, partition) }
    case 'geoPoint':
      return { geoPointValue: { latitude: doubleJson(text), longitude: doubleJson(longitude) } }
    case 'entity': {
      const key = text === '' ? {} : { key: keyJson(text, partition) }
      return { entityValue: { ...key, properties: propertiesOf(properties) } }
    }
    case 'array':
      return { arrayValue: { values: elements.map(jsonOf) } }
    case 'vector':
      return { arrayValue: { values: numbersOf(text).map((number) => ({ doubleValue: doubleJson(number) })) } }
    case 'other':
      return {}
  }
}

/** An array of plain doubles with the meaning of vectors is written as their numbers alone. */
function asVector(form: ValueForm): ValueForm | undefined {
  const { type, meaning, elements } = form
  if (type !== 'array' || meaning !== vectorMeaning) return undefined
  const isPlain = elements.every((one) => one.type === 'double' && !one.isExcluded && one.meaning === '')
  if (!isPlain) return undefined
  return { ...form, type: 'vector', text: elements.map(({ text }) => text).join(', '), elements: [] }
}

/** Whether a text is a finite number; `NaN` and the infinities are not. */
export function isNumber(text: string): boolean {
  return /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)
}

/** The numbers of a vector as texts, whatever stands between them. */
export function numbersOf(text: string): readonly string[] {
  return text.split(/[\s,;[\]]+/).filter((one) => one !== '')
}

// ------------------------------------------------------------------------------------------------ doubles and keys

/** A finite number but -0, which JSON.stringify would lose, is a number in JSON. */
function doubleJson(text: string): Json {
  const trimmed = text.trim()
  const number = Number(trimmed)
  return trimmed === '' || !Number.isFinite(number) || Object.is(number, -0) ? trimmed : number
}

export function doubleText(json: number | string): string {
  return Object.is(json, -0) ? '-0' : String(json)
}

function isDouble(json: Json): json is number | string {
  return typeof json === 'number' || typeof json === 'string'
}

/** @returns `undefined` for a key with more, or other, members than the form shows */
function keyForm(json: Json): Pick<ValueForm, 'text' | 'partition'> | undefined {
  if (!isObject(json) || !hasOnly(json, ['partitionId', 'path'])) return undefined
  const { partitionId = {}, path = [] } = json
  if (!isObject(partitionId) || !hasOnly(partitionId, ['projectId', 'databaseId', 'namespaceId'])) return undefined
  if (!Array.isArray(path) || path.length === 0 || !path.every(isElement)) return undefined
  const { projectId: project = '', databaseId: database = '', namespaceId: namespace = '' } = partitionId
  return { text: formatKeyPath(path), partition: { project, database, namespace } as PartitionForm }
}

function isElement(json: Json): json is JsonObject & PathElement {
  return isObject(json) && hasOnly(json, ['kind', 'id', 'name']) && typeof json['kind'] === 'string'
}

/** A key in JSON. @throws KeyTextError for a text that is no path */
export function keyJson(text: string, partition: PartitionForm): JsonObject {
  const { project, database, namespace } = partition
  const partitionId = {
    ...(project === '' ? {} : { projectId: project }),
    ...(database === '' ? {} : { databaseId: database }),
    ...(namespace === '' ? {} : { namespaceId: namespace }),
  }
  return { partitionId, path: parseKeyPath(text) as unknown as Json }
}

function hasOnly(json: JsonObject, names: readonly string[]): boolean {
  return Object.keys(json).every((name) => names.includes(name))
}

export function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
