/**
 * A fault for tests: which calls it affects, when, and how.
 *
 *   which   method, project, database, namespace, kind, key       all that are given must match
 *   when    skip, times, share, seed
 *   how     latencyMs, then code and message; or holdApply
 *
 * `{ method: 'commit', kind: 'ToDo', code: 'ABORTED', times: 2 }` aborts the next two commits with a ToDo. Namespace, kind and key must
 * match one entity of the call: a key of a lookup, a mutation, a key to be allocated or reserved; or the namespace and kind of a
 * query. A call without any, such as BeginTransaction, matches only faults without these three.
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

export interface FaultOptions {
  /** Methods of the data API; default: all. */
  readonly method?: FaultMethod | readonly FaultMethod[] | undefined
  readonly project?: string | undefined
  /** `''` or `(default)` for the default database. */
  readonly database?: string | undefined
  readonly namespace?: string | undefined
  readonly kind?: string | undefined
  /** The path from the root, such as `User:"ada"/ToDo:5`. */
  readonly key?: string | undefined
  /** Number of matching calls that pass before the first affected one; default 0. */
  readonly skip?: number | undefined
  /** Number of calls that it affects before it ends; default: no limit. */
  readonly times?: number | undefined
  /** Share of the matching calls that it affects, 0 to 1, drawn from `seed`; default 1. */
  readonly share?: number | undefined
  /** Seed of the draws; default 1. */
  readonly seed?: number | undefined
  /** Delay on the emulator's clock before the call begins or fails. */
  readonly latencyMs?: number | undefined
  /** The error that the call gets; the engine does not see the call. */
  readonly code?: StatusCode | undefined
  readonly message?: string | undefined
  /**
   * Holds matching commits between commit and apply until the fault ends: lookups find their entities, global queries do not.
   * May be combined with project, database, namespace, kind and key only.
   */
  readonly holdApply?: boolean | undefined
}

export interface FaultReport extends FaultOptions {
  readonly id: string
  /** Number of calls that matched, and of those that were affected. */
  readonly matched: number
  readonly hits: number
}

const placeOptions: readonly string[] = ['project', 'database', 'namespace', 'kind', 'key']

/** Longest latency: a larger value is probably a mistake of units. Ours. */
const latencyMsMax = 86_400_000

/** Checks a value that is there. @throws INVALID_ARGUMENT with the name of the field */
type Check = (value: unknown, name: string) => void

const isText: Check = (value, name) => {
  if (typeof value !== 'string') throw invalidArgument(`${name} is a text`)
}

function isNumber(least: number, most: number, isWhole = false): Check {
  return (value, name) => {
    const fits = typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isInteger(value))
    if (fits) return
    throw invalidArgument(`${name} is a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}, not ${value}`)
  }
}

function isIn(known: readonly string[], what: string): Check {
  return (value) => {
    for (const one of [value].flat()) {
      if (!known.some((name) => name === one)) {
        throw invalidArgument(`there is no ${what} "${one}"; there is ${known.join(', ')}`)
      }
    }
  }
}

const checks: Readonly<Record<keyof FaultOptions, Check>> = {
  method: isIn(Object.keys(methodNames), 'method'),
  project: isText,
  database: isText,
  namespace: isText,
  kind: isText,
  key: isText,
  skip: isNumber(0, 0xffff_ffff, true),
  times: isNumber(1, 0xffff_ffff, true),
  share: isNumber(0, 1),
  seed: isNumber(0, 0xffff_ffff, true),
  latencyMs: isNumber(0, latencyMsMax),
  code: isIn(Object.keys(statusCodes), 'code'),
  message: isText,
  holdApply: (value) => {
    if (value !== true) throw invalidArgument('holdApply is true, or left out')
  },
}

/** Checks options, which may be parsed JSON. @throws INVALID_ARGUMENT with the name of the field */
export function checkFault(asked: unknown): FaultOptions {
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) {
    throw invalidArgument('a fault is an object such as {"method": "commit", "code": "ABORTED", "times": 1}')
  }
  const given = Object.entries(asked).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    if (!Object.hasOwn(checks, name)) {
      throw invalidArgument(`a fault has no field "${name}"; there is ${Object.keys(checks).join(', ')}`)
    }
    checks[name as keyof FaultOptions](value, name)
  }
  const fault = Object.fromEntries(given) as FaultOptions
  if (fault.holdApply) {
    const other = Object.keys(fault).find((name) => name !== 'holdApply' && !placeOptions.includes(name))
    if (other !== undefined)
      throw invalidArgument(`holdApply goes with ${placeOptions.join(', ')}, not with ${other}: make two faults`)
  } else if (fault.code === undefined && fault.latencyMs === undefined) {
    throw invalidArgument('a fault has no effect: give it a code such as ABORTED, latencyMs or holdApply')
  }
  if (fault.message !== undefined && fault.code === undefined)
    throw invalidArgument('a message needs a code: give both, or leave out the message')
  // A key that does not parse would match nothing, without a message.
  return fault.key === undefined ? fault : { ...fault, key: formatKeyPath(parseKeyPath(fault.key)) }
}

export function holdOf({ project, database, namespace, kind, key }: FaultOptions): ApplyHold {
  return {
    projectId: project,
    databaseId: databaseIdOf(database),
    namespaceId: namespace,
    kind,
    path: key === undefined ? undefined : parseKeyPath(key),
  }
}

export function matches(fault: FaultOptions, facts: CallFacts): boolean {
  const { method, project, database, namespace, kind, key } = fault
  if (method !== undefined && ![method].flat().includes(facts.method)) return false
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
