/**
 * Values of the API's JSON in a few words, for cells: the type tells apart what looks the same.
 *
 *   {"integerValue": "5"}                               integer   5
 *   {"timestampValue": "2030-01-01T00:00:00Z"}          timestamp 2030-01-01T00:00:00Z
 *   {"arrayValue": {"values": [{"integerValue": "1"}]}} array     [1]
 *
 * Words have at most `wordsMax` characters and a bit, however long the value is.
 */
import { type ApiKey, formatKeyPath } from './key-text.ts'
import { counted } from './numbers.ts'
import type { ValueType as FormType } from './typed-json.ts'

export type ApiProperties = Readonly<Record<string, ApiValue>>

/** A value in the API's JSON: one of its fields is present. */
export interface ApiValue {
  readonly nullValue?: null
  readonly booleanValue?: boolean
  readonly integerValue?: string
  /** A text for NaN and the infinities. */
  readonly doubleValue?: number | string
  readonly timestampValue?: string
  readonly keyValue?: ApiKey
  readonly stringValue?: string
  readonly blobValue?: string
  readonly geoPointValue?: { readonly latitude?: number; readonly longitude?: number }
  readonly entityValue?: { readonly key?: ApiKey; readonly properties?: ApiProperties }
  readonly arrayValue?: { readonly values?: readonly ApiValue[] }
  readonly meaning?: number
  readonly excludeFromIndexes?: boolean
}

export type ValueType = Exclude<FormType, 'geoPoint' | 'other'> | 'geo point'

export interface ValueWords {
  readonly type: ValueType
  readonly words: string
}

/** A property that the entity itself has, whatever its name: `constructor` is one of every object of the language. */
export function propertyOf(properties: ApiProperties | undefined, name: string): ApiValue | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
}

const wordsMax = 200
const vectorMeaning = 31

export function valueWords(value: ApiValue): ValueWords {
  return wordsWithin(value, wordsMax)
}

function wordsWithin(value: ApiValue, most: number): ValueWords {
  if (value.stringValue !== undefined) return { type: 'string', words: cut(value.stringValue, most) }
  if (value.integerValue !== undefined) return { type: 'integer', words: value.integerValue }
  if (value.booleanValue !== undefined) return { type: 'boolean', words: String(value.booleanValue) }
  if (value.doubleValue !== undefined) return { type: 'double', words: doubleWords(value.doubleValue) }
  if (value.timestampValue !== undefined) return { type: 'timestamp', words: value.timestampValue }
  if (value.keyValue !== undefined) return { type: 'key', words: cut(formatKeyPath(value.keyValue.path), most) }
  if (value.blobValue !== undefined) return { type: 'blob', words: blobWords(value.blobValue) }
  if (value.geoPointValue !== undefined) {
    const { latitude = 0, longitude = 0 } = value.geoPointValue
    return { type: 'geo point', words: `${latitude}, ${longitude}` }
  }
  if (value.entityValue !== undefined) return { type: 'entity', words: entityWords(value.entityValue.properties, most) }
  if (value.arrayValue !== undefined) return arrayWords(value, most)
  return { type: 'null', words: 'null' }
}

/** A double shows that it is none of the integers. */
function doubleWords(value: number | string): string {
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}

export function blobWords(base64: string): string {
  return counted(Math.floor((base64.replace(/=+$/, '').length * 3) / 4), 'byte')
}

function entityWords(properties: ApiProperties = {}, most: number): string {
  return `{${listWords(Object.entries(properties), most, ([name, value], rest) => `${name}: ${innerWords(value, rest)}`)}}`
}

function arrayWords({ arrayValue, meaning }: ApiValue, most: number): ValueWords {
  const values = arrayValue?.values ?? []
  const words = `[${listWords(values, most, innerWords)}]`
  return meaning === vectorMeaning
    ? { type: 'vector', words: `${values.length} dimensions ${words}` }
    : { type: 'array', words }
}

function innerWords(value: ApiValue, most: number): string {
  const { type, words } = wordsWithin(value, most)
  return type === 'string' ? JSON.stringify(words) : words
}

function listWords<T>(items: readonly T[], most: number, wordsOf: (item: T, most: number) => string): string {
  const parts: string[] = []
  let length = 0
  for (const item of items) {
    if (length >= most) return [...parts, '…'].join(', ')
    const words = wordsOf(item, most - length)
    parts.push(words)
    length += words.length + 2
  }
  return parts.join(', ')
}

/** Whole characters. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}
