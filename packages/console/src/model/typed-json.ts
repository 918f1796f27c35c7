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
import { type EntityScope, given } from './scope.ts'

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

export interface ValueForm {
  readonly type: ValueType
  /**
   * As typed: an integer, a double, a boolean, an instant, a path of a key, a string, base64, numbers of a vector, the latitude. Of an
   * embedded entity the path of its key; empty without one.
   */
  readonly text: string
  readonly longitude: string
  /** The place of a key, or of the key of an embedded entity. */
  readonly partition: EntityScope
  readonly properties: readonly PropertyForm[]
  readonly elements: readonly ValueForm[]
  readonly isExcluded: boolean
  /** Empty = none. */
  readonly meaning: string
  readonly rest: JsonObject
}

export interface PropertyForm {
  readonly name: string
  readonly value: ValueForm
}

export const emptyValue: ValueForm = {
  type: 'string',
  text: '',
  longitude: '',
  partition: { project: '', database: '', namespace: '' },
  properties: [],
  elements: [],
  isExcluded: false,
  meaning: '',
  rest: {},
}

const vectorMeaning = '31'

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
  const [[member, value] = ['', null], ...more] = Object.entries(members)
  const type = plainTypes.find((one) => memberOf(one) === member && more.length === 0)
  const read = type === undefined ? undefined : codecs[type].read(value)
  if (type === undefined || read === undefined) return { ...common, type: 'other', rest: { ...members, ...flags } }
  return asVector({ ...common, ...read, type, rest: flags })
}

/** The value of a form without problems, in JSON. */
export function jsonOf(form: ValueForm): JsonObject {
  const { type, rest, isExcluded, meaning } = form
  const own = type === 'vector' ? 'array' : type
  return {
    ...(own === 'other' ? {} : { [memberOf(own)]: codecs[own].write(form) }),
    ...rest,
    ...(meaning === '' ? {} : { meaning: /^-?\d{1,9}$/.test(meaning) ? Number(meaning) : meaning }),
    ...(isExcluded ? { excludeFromIndexes: true } : {}),
  }
}

/** Types that are a member of the API's message: `stringValue`. */
type PlainType = Exclude<ValueType, 'vector' | 'other'>

const memberOf = (type: PlainType): string => `${type}Value`

interface Codec {
  /** `undefined`: the member does not look as the mapping says. */
  readonly read: (json: Json) => Partial<ValueForm> | undefined
  readonly write: (form: ValueForm) => Json
}

const plainText: Codec = {
  read: (json) => (typeof json === 'string' ? { text: json } : undefined),
  write: ({ text }) => text,
}

const codecs: Readonly<Record<PlainType, Codec>> = {
  null: { read: () => ({}), write: () => null },
  boolean: {
    read: (json) => (typeof json === 'boolean' ? { text: String(json) } : undefined),
    write: ({ text }) => text === 'true',
  },
  integer: {
    read: (json) => (isNumberOrText(json) ? { text: String(json) } : undefined),
    write: ({ text }) => text.trim(),
  },
  double: {
    read: (json) => (isNumberOrText(json) ? { text: doubleText(json) } : undefined),
    write: ({ text }) => doubleJson(text),
  },
  timestamp: plainText,
  string: plainText,
  blob: plainText,
  key: { read: keyForm, write: ({ text, partition }) => keyJson(text, partition) },
  geoPoint: {
    read(json) {
      if (!isObject(json) || !hasOnly(json, ['latitude', 'longitude'])) return undefined
      const { latitude = 0, longitude = 0 } = json
      if (!isNumberOrText(latitude) || !isNumberOrText(longitude)) return undefined
      return { text: doubleText(latitude), longitude: doubleText(longitude) }
    },
    write: ({ text, longitude }) => ({ latitude: doubleJson(text), longitude: doubleJson(longitude) }),
  },
  entity: {
    read(json) {
      if (!isObject(json) || !hasOnly(json, ['key', 'properties'])) return undefined
      const { key, properties = {} } = json
      const named = key === undefined ? {} : keyForm(key)
      return isObject(properties) ? named && { properties: propertiesForm(properties), ...named } : undefined
    },
    write: ({ text, partition, properties }) => ({
      ...(text === '' ? {} : { key: keyJson(text, partition) }),
      properties: propertiesOf(properties),
    }),
  },
  array: {
    read(json) {
      if (!isObject(json) || !hasOnly(json, ['values'])) return undefined
      const { values = [] } = json
      return Array.isArray(values) ? { elements: values.map(formOf) } : undefined
    },
    write: ({ type, text, elements }) => ({
      values:
        type === 'vector' ? numbersOf(text).map((one) => ({ doubleValue: doubleJson(one) })) : elements.map(jsonOf),
    }),
  },
}

const plainTypes = Object.keys(codecs) as readonly PlainType[]

/** An array of plain doubles with the meaning of vectors is written as their numbers alone. */
function asVector(form: ValueForm): ValueForm {
  const { type, meaning, elements } = form
  const isVector =
    type === 'array' &&
    meaning === vectorMeaning &&
    elements.every((one) => one.type === 'double' && !one.isExcluded && one.meaning === '')
  return isVector ? { ...form, type: 'vector', text: elements.map(({ text }) => text).join(', '), elements: [] } : form
}

/** Whether a text is a finite number; `NaN` and the infinities are not. */
export function isNumber(text: string): boolean {
  return /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)
}

/** The numbers of a vector as texts, whatever stands between them. */
export function numbersOf(text: string): readonly string[] {
  return text.split(/[\s,;[\]]+/).filter((one) => one !== '')
}

/** A finite number but -0, which JSON.stringify would lose, is a number in JSON. */
function doubleJson(text: string): Json {
  const trimmed = text.trim()
  const number = Number(trimmed)
  return trimmed === '' || !Number.isFinite(number) || Object.is(number, -0) ? trimmed : number
}

function doubleText(json: number | string): string {
  return Object.is(json, -0) ? '-0' : String(json)
}

function isNumberOrText(json: Json): json is number | string {
  return typeof json === 'number' || typeof json === 'string'
}

/** @returns `undefined` for a key with more, or other, members than the form shows */
function keyForm(json: Json): Pick<ValueForm, 'text' | 'partition'> | undefined {
  if (!isObject(json) || !hasOnly(json, ['partitionId', 'path'])) return undefined
  const { partitionId = {}, path = [] } = json
  if (!isObject(partitionId) || !hasOnly(partitionId, ['projectId', 'databaseId', 'namespaceId'])) return undefined
  if (!Array.isArray(path) || path.length === 0 || !path.every(isElement)) return undefined
  const { projectId: project = '', databaseId: database = '', namespaceId: namespace = '' } = partitionId
  return { text: formatKeyPath(path), partition: { project, database, namespace } as EntityScope }
}

function isElement(json: Json): json is JsonObject & PathElement {
  return isObject(json) && hasOnly(json, ['kind', 'id', 'name']) && typeof json['kind'] === 'string'
}

/** A key in JSON. @throws KeyTextError for a text that is no path */
export function keyJson(text: string, { project, database, namespace }: EntityScope): JsonObject {
  const partitionId = given({ projectId: project, databaseId: database, namespaceId: namespace }) as JsonObject
  return { partitionId, path: parseKeyPath(text) as unknown as Json }
}

function hasOnly(json: JsonObject, names: readonly string[]): boolean {
  return Object.keys(json).every((name) => names.includes(name))
}

export function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
