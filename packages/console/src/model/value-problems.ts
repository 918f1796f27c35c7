/**
 * Mistakes in a form that can be told while it is typed. All other rules of values are the API's: a preview tells its refusal.
 */
import { parseInt64 } from '@sixtables/gateway/browser'
import { isComplete, keyProblem, parseKeyPath } from './key-text.ts'
import { isNumber, numbersOf, type PropertyForm, type ValueForm } from './typed-json.ts'

export interface Problem {
  /** Place of the value; its first part is a property's place in the form, not its name. */
  readonly path: readonly number[]
  readonly message: string
}

export function problemsOf(properties: readonly PropertyForm[]): readonly Problem[] {
  const problems: Problem[] = []
  inProperties(properties, [], problems)
  return problems
}

function inProperties(properties: readonly PropertyForm[], above: readonly number[], problems: Problem[]): void {
  const seen = new Set<string>()
  for (const [i, { name, value }] of properties.entries()) {
    const path = [...above, i]
    if (name === '') problems.push({ path, message: 'The property has no name.' })
    else if (seen.has(name)) problems.push({ path, message: `There is another property with the name ${name}.` })
    seen.add(name)
    inValue(value, path, problems)
  }
}

function inValue(value: ValueForm, path: readonly number[], problems: Problem[]): void {
  const message = problemIn(value)
  if (message !== undefined) problems.push({ path, message })
  if (value.type === 'entity') inProperties(value.properties, path, problems)
  if (value.type === 'array') for (const [i, one] of value.elements.entries()) inValue(one, [...path, i], problems)
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
