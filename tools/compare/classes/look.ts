/**
 * Classes of differences: what is known to differ between ours and an emulator, and why ours is as it is. A class looks at a difference: at its
 * aspect, at parts of its request and of earlier steps, and at both answers. The narrower it is, the less can hide behind it.
 */
import { at, isPlain, listOf } from '../case.ts'
import type { Difference } from '../difference.ts'
import type { Leaf } from '../leaves.ts'

export interface DifferenceClass {
  /** Short and stable; the table of a run counts by it. */
  readonly name: string
  readonly what: string
  readonly ours: string
  /** What the emulator of each mode does; absent where the class is not about that one. */
  readonly legacy?: string
  readonly firestore?: string
  readonly why: string
  explains(look: Look): boolean
}

/** Classes by their names. */
export type ClassTable = Readonly<Record<string, Omit<DifferenceClass, 'name'>>>

export type Look = ReturnType<typeof lookAt>

export function lookAt(difference: Difference) {
  const { aspect, ours, theirs, step, index, ourAnswers, theirAnswers } = difference
  const { request } = step
  const before = difference.case.steps.slice(0, index)
  const mutations: readonly Leaf[] = listOf(request['mutations'])
  const mutationsSoFar = [...before, step].flatMap((one) => listOf(one.request['mutations']))
  // The query of GQL is the one that an answer echoes.
  const query = [
    ...[at(request, ['query']), at(request, ['aggregationQuery', 'nestedQuery'])],
    ...[ourAnswers, theirAnswers].map((answers) => at(answers[index]?.body, ['query'])),
  ].find(isPlain)
  const namesIn = (member: string, ...path: readonly string[]): readonly string[] =>
    listOf(query?.[member]).map((one) => String(at(one, [...path, 'name'])))
  const isCode = (mine: string | readonly string[], other: string | readonly string[]): boolean =>
    aspect === 'code' && [mine].flat().includes(String(ours)) && [other].flat().includes(String(theirs))
  return {
    ...difference,
    request,
    method: step.method,
    before,
    mutations,
    /** Every mutation of the commits up to this step. */
    mutationsSoFar,
    query: query ?? {},
    /** The property filters of the query, also those in its composite filters. */
    filters: filtersOf(query?.['filter']),
    compositeOperators: operatorsOf(query?.['filter']),
    kinds: namesIn('kind'),
    orders: namesIn('order', 'property'),
    isLastDescending: listOf(query?.['order']).at(-1)?.['direction'] === 'DESCENDING',
    projected: namesIn('projection', 'property'),
    distinct: namesIn('distinctOn'),
    offset: Number(query?.['offset'] ?? 0),
    ourMessage: ourAnswers[index]?.message ?? '',
    theirMessage: theirAnswers[index]?.message ?? '',
    /** Whether the codes differ in this way. */
    isCode,
    weRefuse: isCode('INVALID_ARGUMENT', 'OK'),
    theyRefuse: isCode('OK', 'INVALID_ARGUMENT'),
    isAbout: (...aspects: readonly string[]): boolean => aspects.includes(aspect),
    isUnset: ours === 'set' && theirs === 'unset',
    isSet: ours === 'unset' && theirs === 'set',
    /** Whether the entities that the case wrote have such a value. */
    stored: (test: (one: Leaf) => boolean): boolean => mutationsSoFar.some((one) => holds(one, test)),
  }
}

export const has =
  (member: string) =>
  (one: Leaf): boolean =>
    one[member] !== undefined

export interface PropertyFilter {
  readonly name: string
  readonly op: string
  readonly value: unknown
}

function filtersOf(filter: unknown): readonly PropertyFilter[] {
  const composite = at(filter, ['compositeFilter', 'filters'])
  if (Array.isArray(composite)) return composite.flatMap(filtersOf)
  const property = at(filter, ['propertyFilter'])
  if (!isPlain(property)) return []
  return [{ name: String(at(property, ['property', 'name'])), op: String(property['op']), value: property['value'] }]
}

function operatorsOf(filter: unknown): readonly string[] {
  const composite = at(filter, ['compositeFilter'])
  return isPlain(composite) ? [String(composite['op']), ...listOf(composite['filters']).flatMap(operatorsOf)] : []
}

const unequals = ['LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL', 'NOT_EQUAL', 'NOT_IN']
export const isUnequal = ({ op }: PropertyFilter): boolean => unequals.includes(op)

/** Whether some value inside satisfies `test`; looks into everything, entities and arrays too. */
export function holds(value: unknown, test: (one: Leaf) => boolean): boolean {
  if (Array.isArray(value)) return value.some((one) => holds(one, test))
  if (!isPlain(value)) return false
  return test(value) || Object.values(value).some((one) => holds(one, test))
}

export const isArray = has('arrayValue')

/** A key whose last element has neither id nor name. */
export const isIncomplete = (one: Leaf): boolean => {
  const last = listOf(one['path']).at(-1)
  return last !== undefined && last['id'] === undefined && last['name'] === undefined
}
