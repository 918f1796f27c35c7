/**
 * The difference between two states of an entity, property by property; of embedded entities and arrays part by part.
 *
 * D1  There is no difference exactly where both say the same, whatever the order of properties.  entity-difference.test.ts
 */
import { type JsonObject, jsonOf, numbersOf, type PropertyForm, propertiesForm, type ValueForm } from './typed-json.ts'

export interface Difference {
  /** `address.zip`, `tags[2]` */
  readonly path: string
  readonly before?: string | undefined
  readonly after?: string | undefined
}

export function differencesOf(before: JsonObject, after: JsonObject): readonly Difference[] {
  const found: Difference[] = []
  inProperties('', propertiesForm(before), propertiesForm(after), found)
  return found
}

type Properties = readonly PropertyForm[]

function inProperties(above: string, before: Properties, after: Properties, found: Difference[]): void {
  const old = new Map(before.map(({ name, value }) => [name, value]))
  const fresh = new Map(after.map(({ name, value }) => [name, value]))
  for (const name of [...new Set([...old.keys(), ...fresh.keys()])].sort()) {
    inValue(above === '' ? name : `${above}.${name}`, old.get(name), fresh.get(name), found)
  }
}

function inValue(path: string, a: ValueForm | undefined, b: ValueForm | undefined, found: Difference[]): void {
  if (a !== undefined && b !== undefined && withoutParts(a) === withoutParts(b)) {
    inProperties(path, a.properties, b.properties, found)
    for (let i = 0; i < Math.max(a.elements.length, b.elements.length); i++) {
      inValue(`${path}[${i}]`, a.elements[i], b.elements[i], found)
    }
    return
  }
  found.push({ path, before: a && valueInWords(a), after: b && valueInWords(b) })
}

/** A value as text, without the properties or elements in it. */
function withoutParts(value: ValueForm): string {
  return JSON.stringify(jsonOf({ ...value, properties: [], elements: [] }))
}

/** `integer`, `string, not indexed` */
export function typeInWords({ type, isExcluded, meaning }: ValueForm): string {
  // A vector is never indexed, and has a meaning of its own.
  const flags = type === 'vector' ? [] : [isExcluded && 'not indexed', meaning !== '' && `meaning ${meaning}`]
  return [typeWords(type), ...flags].filter(Boolean).join(', ')
}

export function typeWords(type: ValueForm['type']): string {
  return type === 'geoPoint' ? 'geo point' : type
}

/** A value on one line, its type too: `5 integer`, `"text" string, not indexed`. */
function valueInWords(value: ValueForm): string {
  return `${plainWords(value)} ${typeInWords(value)}`.trim()
}

/** A value on one line, without its type: `5`, `"text"`, `[1, 2]`. */
export function plainWords(value: ValueForm): string {
  return (wordsByType[value.type] ?? (({ text }) => text))(value)
}

/** Values of other types are their texts. */
const wordsByType: Partial<Record<ValueForm['type'], (value: ValueForm) => string>> = {
  null: () => '',
  string: ({ text }) => JSON.stringify(text),
  geoPoint: ({ text, longitude }) => `${text}, ${longitude}`,
  array: ({ elements }) => `[${elements.map(plainWords).join(', ')}]`,
  vector: ({ text }) => `[${numbersOf(text).join(', ')}]`,
  entity: ({ properties }) => `{${properties.map(({ name, value }) => `${name}: ${plainWords(value)}`).join(', ')}}`,
  other: (value) => JSON.stringify(jsonOf(value)),
}
