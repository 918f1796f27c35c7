/**
 * Mistakes in a form that can be told while it is typed. All other rules of values are the API's: a preview tells its refusal.
 */
import { parseInt64 } from '@sixtables/gateway/browser'
import { isComplete, keyProblem, parseKeyPath } from './key-text.ts'
import { isNumber, numbersOf, type PropertyForm, type ValueForm } from './typed-json.ts'

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

/** The mistake in each name, if there is one. */
export function nameProblems(properties: readonly PropertyForm[]): readonly (string | undefined)[] {
  const seen = new Set<string>()
  return properties.map(({ name }) => {
    if (name === '') return 'The property has no name.'
    const isSecond = seen.has(name)
    seen.add(name)
    return isSecond ? `There is another property with the name ${name}.` : undefined
  })
}

/** The mistakes in a value, and in all that is within it. */
export function problemsIn(value: ValueForm): readonly string[] {
  const within = [...problemsOf(value.properties).map(({ message }) => message), ...value.elements.flatMap(problemsIn)]
  const own = problemIn(value)
  return own === undefined ? within : [own, ...within]
}

/** The mistake in a value itself, not in what is within it. */
export function problemIn({ type, text, longitude, meaning }: ValueForm): string | undefined {
  if (!/^(?:-?\d{1,9})?$/.test(meaning)) return `A meaning is a whole number, not ${meaning}.`
  switch (type) {
    case 'integer':
      return integerProblem(text.trim())
    case 'double':
      return doubleProblem(text)
    case 'geoPoint':
      return doubleProblem(text) ?? doubleProblem(longitude)
    case 'vector':
      return numbersOf(text)
        .map(doubleProblem)
        .find((problem) => problem !== undefined)
    case 'timestamp':
      return isInstant(text) ? undefined : 'A timestamp is written like 2026-11-21T10:00:00.123456Z.'
    case 'blob':
      return isBase64(text) ? undefined : 'A blob is written in base64.'
    case 'key':
      return keyProblemIn(text, true)
    case 'entity':
      return text === '' ? undefined : keyProblemIn(text, false)
    default:
      return undefined
  }
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

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)$/.test(text)
}

function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(text)
}

function keyProblemIn(text: string, isWhole: boolean): string | undefined {
  const isPart = isWhole && keyProblem(text) === undefined && !isComplete(parseKeyPath(text))
  return isPart ? 'The last element of the key has neither an id nor a name.' : keyProblem(text)
}
