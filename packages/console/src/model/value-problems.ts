/** Mistakes in a form that can be told while it is typed. All other rules of values are the API's: a preview tells its refusal. */
import { parseDateTime, parseInt64 } from '@sixtables/gateway/browser'
import { isComplete, keyProblem, parseKeyPath } from './key-text.ts'
import { isNumber, numbersOf, type PropertyForm, type ValueForm, type ValueType } from './typed-json.ts'

export interface Problem {
  /** Name of the property that it is in, however deep. */
  readonly property: string
  readonly message: string
}

/** All mistakes, in the order of the form. */
export function problemsOf(properties: readonly PropertyForm[]): readonly Problem[] {
  const ofNames = nameProblems(properties)
  return properties.flatMap(({ name: property, value }, i) => {
    const messages = [ofNames[i], ...problemsIn(value)].filter((one) => one !== undefined)
    return messages.map((message) => ({ property, message }))
  })
}

export function nameProblems(properties: readonly PropertyForm[]): readonly (string | undefined)[] {
  const seen = new Set<string>()
  return properties.map(({ name }) => {
    if (name === '') return 'The property has no name.'
    const isSecond = seen.has(name)
    seen.add(name)
    return isSecond ? `There is another property with the name ${name}.` : undefined
  })
}

/** A change of one value leaves all others as they are, and a form asks for all of them with each letter. */
const known = new WeakMap<ValueForm, readonly string[]>()

/** The mistakes in a value, and in all that is within it. */
export function problemsIn(value: ValueForm): readonly string[] {
  const before = known.get(value)
  if (before !== undefined) return before
  const within = [...problemsOf(value.properties).map(({ message }) => message), ...value.elements.flatMap(problemsIn)]
  const own = problemIn(value)
  const all = own === undefined ? within : [own, ...within]
  known.set(value, all)
  return all
}

/** The mistake in a value itself, not in what is within it. */
export function problemIn(form: ValueForm): string | undefined {
  if (!/^(?:-?\d{1,9})?$/.test(form.meaning)) return `A meaning is a whole number, not ${form.meaning}.`
  return ownProblems[form.type]?.(form)
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)$/
const base64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/

/** By type; a value of another one cannot be written wrong. */
const ownProblems: Partial<Record<ValueType, (form: ValueForm) => string | undefined>> = {
  integer: ({ text }) => integerProblem(text.trim()),
  double: ({ text }) => doubleProblem(text),
  geoPoint: ({ text, longitude }) => doubleProblem(text) ?? doubleProblem(longitude),
  vector: ({ text }) => numbersOf(text).map(doubleProblem).find(Boolean),
  timestamp: ({ text }) => timestampProblem(text),
  blob: ({ text }) => (base64.test(text) ? undefined : 'A blob is written in base64.'),
  key({ text }) {
    const isPart = keyProblem(text) === undefined && !isComplete(parseKeyPath(text))
    return isPart ? 'The last element of the key has neither an id nor a name.' : keyProblem(text)
  },
  entity: ({ text }) => (text === '' ? undefined : keyProblem(text)),
}

function timestampProblem(text: string): string | undefined {
  if (!instant.test(text)) return 'A timestamp is written like 2026-11-21T10:00:00.123456Z.'
  return microsOf(text) === undefined ? `There is no date and time ${text}.` : undefined
}

/** An instant of the calendar, of the years 1 to 9999; digits behind the microseconds are left out. */
export function microsOf(text: string): bigint | undefined {
  return parseDateTime(text.replace(/(\.\d{6})\d+/, '$1'))
}

function integerProblem(text: string): string | undefined {
  if (!/^-?\d{1,20}$/.test(text)) return 'An integer has digits alone.'
  return parseInt64(text) === undefined ? `${text} does not fit in 64 bits.` : undefined
}

function doubleProblem(text: string): string | undefined {
  const trimmed = text.trim()
  if (['NaN', 'Infinity', '-Infinity'].includes(trimmed)) return undefined
  if (!isNumber(trimmed)) return 'A double is a number such as 1.5 or 1e3, or NaN, Infinity, -Infinity.'
  return Number.isFinite(Number(trimmed)) ? undefined : `${trimmed} is beyond the range of doubles.`
}
