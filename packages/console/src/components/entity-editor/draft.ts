/** The draft of an entity in one of its two views, and what it says. */
import { caught } from '../../model/caught.ts'
import { JsonSourceError, jsonSource, parseJsonSource } from '../../model/json-source.ts'
import { formatKeyPath, parseKeyPath } from '../../model/key-text.ts'
import { type JsonObject, type PropertyForm, propertiesForm, propertiesOf } from '../../model/typed-json.ts'
import { problemsOf } from '../../model/value-problems.ts'

export type Draft =
  | { readonly view: 'form'; readonly properties: readonly PropertyForm[] }
  | { readonly view: 'json'; readonly text: string }

export interface Reading {
  /** Absent while the draft is not an entity. */
  readonly properties?: JsonObject
  readonly problem?: string
  readonly mistakeAt?: number | undefined
}

export function draftOf(properties: JsonObject, view: Draft['view']): Draft {
  return view === 'form' ? { view, properties: propertiesForm(properties) } : { view, text: jsonSource(properties) }
}

export function readDraft(draft: Draft): Reading {
  const json = draft.view === 'json' ? caught(JsonSourceError, () => parseJsonSource(draft.text)) : undefined
  if (json instanceof JsonSourceError) return { problem: json.message, mistakeAt: json.at }
  const form = draft.view === 'form' ? draft.properties : propertiesForm(json ?? {})
  const problems = problemsOf(form)
  const [first] = problems
  if (first === undefined) return { properties: propertiesOf(form) }
  if (draft.view === 'json') return { problem: `${first.property}: ${first.message}` }
  return { problem: `${problems.length === 1 ? 'One field is' : `${problems.length} fields are`} not a value yet.` }
}

/** A key for a copy: a new id in the place of an id, another name in the place of a name. */
export function keyOfDuplicate(key: string): string {
  const path = parseKeyPath(key)
  const last = path.at(-1)
  if (last === undefined) return key
  const copy = last.name === undefined ? { kind: last.kind } : { kind: last.kind, name: `${last.name} copy` }
  return formatKeyPath([...path.slice(0, -1), copy])
}

/** The property that a refusal of the API is about. */
export function refusedProperty(message: string): string | undefined {
  const quoted = /\bproperty ("(?:[^"\\]|\\.)*")/.exec(message)?.[1]
  if (quoted === undefined) return undefined
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}
