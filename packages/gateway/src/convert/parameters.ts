/** Parameters of the emulator's own endpoints: checks of names, whole numbers, and database ids. */
import { invalidArgument, type PartitionId, type TableId, tableIds } from '@sixtables/engine'

/** A database by its names; an empty `databaseId` is the default one. */
export type DatabaseName = Pick<PartitionId, 'projectId' | 'databaseId'>

export function checkParameters(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (names.includes(name)) continue
    const there = names.length === 0 ? 'none' : names.join(', ')
    throw invalidArgument(`there is no parameter "${name}" here; there is ${there}`)
  }
}

/** The same for the members of a body. @throws INVALID_ARGUMENT */
export function checkFields(body: object, names: readonly string[]): void {
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown === undefined) return
  throw invalidArgument(`there is no field "${unknown}"; there is ${names.join(', ')}`)
}

/** @returns `undefined` without a text. @throws INVALID_ARGUMENT */
export function wholeNumber(
  name: string,
  text: string | null | undefined,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  if (text === null || text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  const range = max < Number.MAX_SAFE_INTEGER ? ` from ${min} to ${max}` : min === 0 ? '' : ` of at least ${min}`
  throw invalidArgument(`${name} is a whole number${range}, not "${text}"`)
}

/** `projects/demo/databases/(default)` */
export function resourceNameOf({ projectId, databaseId }: DatabaseName): string {
  return `projects/${projectId}/databases/${databaseId || '(default)'}`
}

/** `name_of_this` → `nameOfThis` */
export function inCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}

/** The id of a table. @throws INVALID_ARGUMENT */
export function tableNamed(name: string | null | undefined): TableId {
  const found = tableIds.find((id) => id === name)
  if (found === undefined) throw invalidArgument(`there is no table "${name}"; there is ${tableIds.join(', ')}`)
  return found
}

/** The id of a database by its displayed name: empty for `(default)`. */
export function databaseIdOf<T extends string | undefined>(name: T): T | '' {
  return name === '(default)' ? '' : name
}
