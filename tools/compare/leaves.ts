/**
 * Where two messages part: each innermost place that differs, with both contents.
 *
 * What the protos hold equal is equal here: a member that is absent and one with its default, members in any order. Numbers
 * are compared as Object.is does: NaN is itself, and -0 is not 0.
 */
import { isPlain } from './case.ts'

export type Leaf = { readonly [member: string]: unknown }

export interface LeafDifference {
  readonly path: readonly (string | number)[]
  readonly ours: unknown
  readonly theirs: unknown
}

/** A key names its project in some answers and not in others; which one it is follows from the request. */
const own = new Set(['projectId'])

export function* leaves(ours: unknown, theirs: unknown, path: readonly (string | number)[]): Generator<LeafDifference> {
  const [mine, other] = [plainest(ours), plainest(theirs)]
  if (isPlain(mine) && isPlain(other)) {
    for (const name of new Set([...Object.keys(mine), ...Object.keys(other)])) {
      if (!own.has(name)) yield* leaves(mine[name], other[name], [...path, name])
    }
  } else if (Array.isArray(mine) && Array.isArray(other) && mine.length === other.length) {
    for (const [i, one] of mine.entries()) yield* leaves(one, other[i], [...path, i])
  } else if (mine instanceof Uint8Array && other instanceof Uint8Array) {
    if (Buffer.compare(mine, other) !== 0) yield { path, ours: mine, theirs: other }
  } else if (!Object.is(mine, other)) {
    yield { path, ours: mine, theirs: other }
  }
}

/** Members of a value's oneof say by being there which it is, so their defaults stay. */
const told = /Value$|^id$|^name$/

function plainest(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value
  if (!isPlain(value)) return value === 0 && !Object.is(value, -0) ? 0 : value
  const members = Object.entries(value).filter(([name, one]) => told.test(name) || !isDefault(one))
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

function isDefault(value: unknown): boolean {
  if (isPlain(value)) return Object.keys(value).every((name) => own.has(name))
  return (
    value === undefined ||
    value === false ||
    value === 0 ||
    value === '0' ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** As one line that a person can read: bytes in base64, NaN and -0 by name. */
export function show(value: unknown): string {
  return (
    JSON.stringify(value, (_name, one) => {
      if (one instanceof Uint8Array) return `base64:${Buffer.from(one).toString('base64')}`
      if (isBufferJson(one)) return `base64:${Buffer.from(one.data).toString('base64')}`
      if (typeof one === 'number' && (!Number.isFinite(one) || Object.is(one, -0)))
        return Object.is(one, -0) ? '-0' : String(one)
      if (typeof one === 'bigint') return String(one)
      if (typeof one === 'string' && one.length > 300) return `${one.slice(0, 40)}… (${one.length} letters)`
      if (Array.isArray(one) && one.length > 60) return [...one.slice(0, 5), `… (${one.length} members)`]
      return one
    }) ?? 'absent'
  )
}

function isBufferJson(value: unknown): value is { readonly data: readonly number[] } {
  return isPlain(value) && value['type'] === 'Buffer' && Array.isArray(value['data'])
}
