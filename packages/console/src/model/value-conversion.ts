/**
 * The same value as another type, as far as that makes sense: what a person means who chooses another type for a property.
 *
 * To an array and back, to an embedded entity and back: the same value.
 *
 * V1  Every form converts to every type, and gives a form of that type.                        value-conversion.test.ts
 */
import { printDateTime } from '@sixtables/gateway/browser'
import { emptyValue, isNumber, numbersOf, type ValueForm, type ValueType } from './typed-json.ts'
import { microsOf } from './value-problems.ts'

/** @param now - the present, for a timestamp out of nothing */
export function converted(value: ValueForm, type: ValueType, now: () => Date): ValueForm {
  if (value.type === type) return value
  const kept = { ...emptyValue, isExcluded: value.isExcluded, type }
  if (type === 'array') return { ...kept, isExcluded: false, elements: elementsOf(value) }
  if (type === 'vector') {
    // The API takes a vector only so.
    return { ...kept, isExcluded: true, meaning: '31', text: textsOf(value).filter(isNumber).join(', ') }
  }
  if (value.type === 'array') {
    const [first] = value.elements
    return first === undefined ? converted(emptyValue, type, now) : converted(first, type, now)
  }
  if (type === 'entity') return { ...kept, properties: [{ name: 'value', value: { ...value, isExcluded: false } }] }
  if (value.type === 'entity') {
    const [only] = value.properties
    if (only === undefined) return converted(emptyValue, type, now)
    return { ...converted(only.value, type, now), isExcluded: value.isExcluded || only.value.isExcluded }
  }
  return { ...kept, ...scalars[type]?.(value, textsOf(value)[0] ?? '', now) }
}

/** A form of a type for a place with null, or without a value: nothing is written in it yet, and whether it is indexed stays. */
export function formInPlaceOf(none: ValueForm, type: ValueType): ValueForm {
  return { ...converted(none, type, () => new Date(0)), text: '' }
}

function elementsOf(value: ValueForm): readonly ValueForm[] {
  if (value.type === 'vector') {
    return numbersOf(value.text).map((text) => ({ ...emptyValue, type: 'double', text, isExcluded: value.isExcluded }))
  }
  return value.type === 'null' ? [] : [value]
}

function textsOf(value: ValueForm): readonly string[] {
  if (value.type === 'array') return value.elements.flatMap(textsOf)
  return value.type === 'vector' ? numbersOf(value.text) : [value.text.trim()]
}

/** The parts of a form by its type, from a value of another one. @param text - that of the value, or of its first number or element */
const scalars: Partial<Record<ValueType, (value: ValueForm, text: string, now: () => Date) => Partial<ValueForm>>> = {
  integer(value, text) {
    if (value.type === 'boolean') return { text: text === 'true' ? '1' : '0' }
    if (value.type !== 'timestamp') return { text: wholeOf(text) }
    return { text: String(microsOf(text) ?? 0) }
  },
  double(value, text) {
    if (value.type === 'boolean') return { text: text === 'true' ? '1' : '0' }
    return { text: isNumber(text) || ['NaN', 'Infinity', '-Infinity'].includes(text) ? text : '0' }
  },
  boolean: (_, text) => ({ text: String(text === 'true' || (isNumber(text) && Number(text) !== 0)) }),
  timestamp: (value, text, now) => ({ text: instantOf(value, text) ?? now().toISOString() }),
  string({ type, text: whole }, text) {
    return { text: type === 'blob' ? (textOfBase64(text) ?? text) : type === 'null' ? '' : whole }
  },
  blob: ({ type, text: whole }) => ({ text: type === 'null' ? '' : base64Of(whole) }),
  geoPoint(_, text) {
    const [latitude = '0', longitude = '0'] = text.split(/[\s,;]+/).filter(isNumber)
    return { text: latitude, longitude }
  },
  key: ({ type }, text) => ({ text: type === 'string' ? text : '' }),
}

/** A number without its fraction; digits are kept, also beyond 2^53. */
function wholeOf(text: string): string {
  if (/^-?\d+$/.test(text)) return text
  const number = Math.trunc(Number(text))
  return isNumber(text) && Number.isFinite(number) ? String(BigInt(number)) : '0'
}

/** An integer counts microseconds, as in the API; a text is read as a date. */
function instantOf({ type }: ValueForm, text: string): string | undefined {
  // A browser reads 30 February as 2 March: a day that does not exist stays as it is, and its field says so.
  const day = type === 'string' ? /^\d{4}-\d\d-\d\d/.exec(text)?.[0] : undefined
  if (day !== undefined && microsOf(`${day}T00:00:00Z`) === undefined) return text
  const date = new Date(type === 'string' ? text : '')
  const written = Number.isNaN(date.getTime()) ? '' : date.toISOString()
  const instant = type === 'integer' && /^-?\d{1,18}$/.test(text) ? printDateTime(BigInt(text)) : written
  return microsOf(instant) === undefined ? undefined : instant
}

function base64Of(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/** The bytes as a text; `undefined` where they are none. */
export function textOfBase64(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
