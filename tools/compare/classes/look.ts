/** What classes ask about a difference: parts of its request, of what went before it, and of both answers. */
import { at, isPlain, listOf, type Step } from '../case.ts'
import type { Difference } from '../difference.ts'
import type { Leaf } from '../leaves.ts'

/** Every mutation of the commits up to and with the step that differs. */
export function mutationsSoFar({ case: { steps }, index }: Difference): readonly Leaf[] {
  return steps.slice(0, index + 1).flatMap(({ request }) => listOf(request['mutations']))
}

/** The mutations of the step that differs. */
export const mutations = ({ step: { request } }: Difference): readonly Leaf[] => listOf(request['mutations'])

export const has =
  (member: string) =>
  (one: Leaf): boolean =>
    one[member] !== undefined

/** The query of the step that differs; of GQL as an answer echoes it. */
export const query = ({ step: { request }, ourAnswers, theirAnswers, index }: Difference): Leaf => {
  const found =
    at(request, ['query']) ??
    at(request, ['aggregationQuery', 'nestedQuery']) ??
    at(ourAnswers[index]?.body, ['query']) ??
    at(theirAnswers[index]?.body, ['query'])
  return isPlain(found) ? found : {}
}

/** Our words where ours refused. */
export const ourMessage = ({ ourAnswers, index }: Difference): string => ourAnswers[index]?.message ?? ''

/** Earlier steps of the case, each with its number. */
export const before = ({ case: { steps }, index }: Difference): readonly (readonly [Step, number])[] =>
  steps.slice(0, index).map((step, i) => [step, i])

export interface PropertyFilter {
  readonly name: string
  readonly op: string
  readonly value: unknown
}

/** The property filters of a query, wherever they stand in its composite filters. */
export function filters(one: Leaf): readonly PropertyFilter[] {
  const walk = (filter: unknown): readonly PropertyFilter[] => {
    const composite = at(filter, ['compositeFilter', 'filters'])
    if (Array.isArray(composite)) return composite.flatMap(walk)
    const property = at(filter, ['propertyFilter'])
    if (!isPlain(property)) return []
    return [{ name: String(at(property, ['property', 'name'])), op: String(property['op']), value: property['value'] }]
  }
  return walk(one['filter'])
}

/** The operators of its composite filters. */
export function compositeOperators(one: Leaf): readonly string[] {
  const walk = (filter: unknown): readonly string[] => {
    const composite = at(filter, ['compositeFilter'])
    return isPlain(composite) ? [String(composite['op']), ...listOf(composite['filters']).flatMap(walk)] : []
  }
  return walk(one['filter'])
}

export const orders = (one: Leaf): readonly string[] =>
  listOf(one['order']).map((o) => String(at(o, ['property', 'name'])))
export const projected = (one: Leaf): readonly string[] =>
  listOf(one['projection']).map((p) => String(at(p, ['property', 'name'])))
export const distinct = (one: Leaf): readonly string[] => listOf(one['distinctOn']).map((p) => String(p['name']))

const ranges = new Set(['LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL'])
const unequals = new Set([...ranges, 'NOT_EQUAL', 'NOT_IN'])
export const isRange = ({ op }: PropertyFilter): boolean => ranges.has(op)
export const isUnequal = ({ op }: PropertyFilter): boolean => unequals.has(op)

/** Whether some value inside satisfies `test`; looks into everything, entities and arrays too. */
export function holds(value: unknown, test: (one: Leaf) => boolean): boolean {
  if (Array.isArray(value)) return value.some((one) => holds(one, test))
  if (!isPlain(value)) return false
  return test(value) || Object.values(value).some((one) => holds(one, test))
}

/** Whether the entities that the case wrote hold such a value. */
export const stored = (difference: Difference, test: (one: Leaf) => boolean): boolean =>
  mutationsSoFar(difference).some((one) => holds(one, test))

export const isArray = (one: Leaf): boolean => one['arrayValue'] !== undefined

/** Both codes of a difference between codes. */
export const isCode = (
  { aspect, ours, theirs }: Difference,
  mine: string | readonly string[],
  other: string | readonly string[],
): boolean => aspect === 'code' && [mine].flat().includes(String(ours)) && [other].flat().includes(String(theirs))

export const isAbout = ({ aspect }: Difference, ...aspects: readonly string[]): boolean => aspects.includes(aspect)
export const isUnset = (difference: Difference): boolean => difference.ours === 'set' && difference.theirs === 'unset'
export const isSet = (difference: Difference): boolean => difference.ours === 'unset' && difference.theirs === 'set'

/** A key whose last element has neither id nor name. */
export const isIncomplete = (one: Leaf): boolean => {
  const last = listOf(one['path']).at(-1)
  return last !== undefined && last['id'] === undefined && last['name'] === undefined
}
