/**
 * A fault on purpose: which calls it is for, when, and what it does to them.
 *
 *   which   method, project, database, namespace, kind, key       left out: any; all that are given must match
 *   when    skip, times, share, seed
 *   what    latencyMs, then code and message; or holdApply
 *
 * Namespace, kind and key are those of one entity that the call names: of a lookup's keys, a commit's mutations, keys to be
 * allocated or reserved; a query names its namespace and kind. A call that names none, such as BeginTransaction, matches only
 * faults that ask for none of the three.
 */

import {
  type ApplyHold,
  formatKeyPath,
  invalidArgument,
  parseKeyPath,
  type StatusCode,
  statusCodes,
} from '@sixtables/engine'
import type { CallFacts } from '../calls/call-facts.ts'
import { databaseIdOf } from '../convert/parameters.ts'
import { type DataMethod, methodNames } from '../methods.ts'

export type FaultMethod = DataMethod

export const faultMethods: readonly FaultMethod[] = Object.keys(methodNames) as FaultMethod[]

export interface FaultOptions {
  /** RPCs of the data API; default: all. */
  readonly method?: FaultMethod | readonly FaultMethod[] | undefined
  readonly project?: string | undefined
  /** `''` or `(default)` for the default database. */
  readonly database?: string | undefined
  readonly namespace?: string | undefined
  readonly kind?: string | undefined
  /** Root first, as `User:"ada"/ToDo:5`. */
  readonly key?: string | undefined
  /** How many matching calls go through before the first that does not; default 0. */
  readonly skip?: number | undefined
  /** How many calls it does something to before it is gone; default: any number. */
  readonly times?: number | undefined
  /** The share of matching calls that it does something to, 0 to 1; default 1. Drawn from `seed`. */
  readonly share?: number | undefined
  /** Default 1: the same calls meet the same draws. */
  readonly seed?: number | undefined
  /** Milliseconds, on the emulator's clock, before the call begins or fails. */
  readonly latencyMs?: number | undefined
  /** The answer of the call instead of its work. */
  readonly code?: StatusCode | undefined
  readonly message?: string | undefined
  /**
   * Holds what matching commits write between commit and apply until the fault ends: lookups find it, global queries do not.
   * Goes with project, database, namespace, kind and key alone.
   */
  readonly holdApply?: boolean | undefined
}

export interface FaultReport extends FaultOptions {
  readonly id: string
  /** Calls that matched, and those that it did something to. */
  readonly matched: number
  readonly hits: number
}

const knownOptions: readonly (keyof FaultOptions)[] = [
  'method',
  'project',
  'database',
  'namespace',
  'kind',
  'key',
  'skip',
  'times',
  'share',
  'seed',
  'latencyMs',
  'code',
  'message',
  'holdApply',
]

/** Selects the commits that are held. */
const placeOptions: readonly string[] = ['project', 'database', 'namespace', 'kind', 'key']

/** The longest latency: a slip of units is told instead of done. Ours. */
const latencyMsMax = 86_400_000

/**
 * Checks what was asked for, which may come from JSON.
 *
 * @throws INVALID_ARGUMENT that names the field
 */
export function checkFault(asked: unknown): FaultOptions {
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) {
    throw invalidArgument('a fault is an object such as {"method": "commit", "code": "ABORTED", "times": 1}')
  }
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
  for (const name of Object.keys(given)) {
    if (knownOptions.some((known) => known === name)) continue
    throw invalidArgument(`a fault has no field "${name}"; there is ${knownOptions.join(', ')}`)
  }
  const fault = given as FaultOptions
  for (const method of methodsOf(fault)) {
    if (faultMethods.includes(method)) continue
    throw invalidArgument(`there is no method "${method}"; there is ${faultMethods.join(', ')}`)
  }
  for (const name of ['project', 'database', 'namespace', 'kind', 'key', 'message'] as const) {
    if (fault[name] !== undefined && typeof fault[name] !== 'string') throw invalidArgument(`${name} is a text`)
  }
  for (const name of ['skip', 'times', 'seed'] as const) {
    checkNumber(fault, name, { least: name === 'times' ? 1 : 0, most: 0xffff_ffff, whole: true })
  }
  checkNumber(fault, 'share', { least: 0, most: 1 })
  checkNumber(fault, 'latencyMs', { least: 0, most: latencyMsMax })
  if (fault.holdApply !== undefined) checkHold(given)
  else if (fault.code === undefined && fault.latencyMs === undefined) {
    throw invalidArgument('a fault has no effect: give it a code such as ABORTED, latencyMs or holdApply')
  }
  if (fault.code !== undefined && !Object.hasOwn(statusCodes, fault.code)) {
    throw invalidArgument(`there is no code "${fault.code}"; there is ${Object.keys(statusCodes).join(', ')}`)
  }
  if (fault.message !== undefined && fault.code === undefined)
    throw invalidArgument('a message needs a code: give both, or leave out the message')
  // A filter that does not parse would silently match nothing.
  return fault.key === undefined ? fault : { ...fault, key: formatKeyPath(parseKeyPath(fault.key)) }
}

function checkHold(given: Readonly<Record<string, unknown>>): void {
  if (given['holdApply'] !== true) throw invalidArgument('holdApply is true, or left out')
  const other = Object.keys(given).find((name) => name !== 'holdApply' && !placeOptions.includes(name))
  if (other === undefined) return
  throw invalidArgument(`holdApply goes with ${placeOptions.join(', ')}, not with ${other}: make two faults`)
}

/** The engine's hold for a fault that holds commits. */
export function holdOf({ project, database, namespace, kind, key }: FaultOptions): ApplyHold {
  return {
    projectId: project,
    databaseId: databaseIdOf(database),
    namespaceId: namespace,
    kind,
    path: key === undefined ? undefined : parseKeyPath(key),
  }
}

function methodsOf({ method }: FaultOptions): readonly FaultMethod[] {
  if (method === undefined) return []
  return typeof method === 'string' ? [method] : method
}

function checkNumber(
  fault: FaultOptions,
  name: 'skip' | 'times' | 'seed' | 'share' | 'latencyMs',
  { least, most, whole = false }: { readonly least: number; readonly most: number; readonly whole?: boolean },
): void {
  const value: unknown = fault[name]
  if (value === undefined) return
  const fits = typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value))
  if (!fits) throw invalidArgument(`${name} is a ${whole ? 'whole ' : ''}number from ${least} to ${most}, not ${value}`)
}

/** Whether a call is one of those that the fault is for. */
export function matches(fault: FaultOptions, facts: CallFacts): boolean {
  const { method, project, database, namespace, kind, key } = fault
  if (method !== undefined && !methodsOf(fault).includes(facts.method)) return false
  if (project !== undefined && project !== facts.projectId) return false
  if (database !== undefined && databaseIdOf(database) !== facts.databaseId) return false
  if (namespace === undefined && kind === undefined && key === undefined) return true
  return facts
    .named()
    .some(
      (named) =>
        (namespace === undefined || namespace === named.namespaceId) &&
        (kind === undefined || kind === named.kind) &&
        (key === undefined || key === named.key),
    )
}
