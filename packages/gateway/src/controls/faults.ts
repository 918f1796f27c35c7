/**
 * The faults of one emulator, for tests: which calls each affects, when, and how.
 *
 *   call ─▶ faults that match, oldest first ─▶ latency: the sum of theirs ─▶ error: the first of theirs ─▶ or the engine
 *
 * `{ method: 'commit', kind: 'ToDo', code: 'ABORTED', times: 2 }` aborts the next two commits with a ToDo. Namespace, kind and key must
 * match one entity of the call: a key of a lookup, a mutation, a key to be allocated or reserved; or the namespace and kind of a
 * query. A call without any, such as BeginTransaction, matches only faults without these three.
 *
 * A fault acts before the engine sees the call, so a call that fails has read and written nothing. Each fault draws from its own seed, once
 * for each matching call: the same calls get the same draws, whatever other faults exist. If two faults would answer one call, the older
 * one answers, and `times` of the other is not used up. Without faults a call costs one comparison.
 */
import {
  type ApplyHold,
  DatastoreError,
  formatKeyPath,
  type Inspector,
  invalidArgument,
  notFound,
  parseKeyPath,
  type Random,
  type StatusCode,
  seededRandom,
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
      throw invalidArgument(
        `a hold of the apply goes with ${placeOptions.join(', ')}, not with ${other}: make two faults`,
      )
  } else if (fault.code === undefined && fault.latencyMs === undefined) {
    throw invalidArgument('a fault has no effect: give it a code such as ABORTED, a latency, or a hold of the apply')
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

export interface Fault {
  readonly id: string
  /** Number of affected calls, or of held records. */
  readonly hits: number
  /** Ends the fault; resolves after its held commits were released. A second call has no effect. */
  remove(): Promise<void>
}

interface ActiveFault extends Fault {
  readonly options: FaultOptions
  readonly random: Random
  matched: number
  hits: number
}

export class Faults {
  readonly #active = new Map<string, ActiveFault>()
  readonly #hold: Inspector['hold']
  #count = 0
  /** Whether there are faults; read at every call. */
  any = false

  /** @param inspector - holds commits for faults with holdApply */
  constructor(inspector: Pick<Inspector, 'hold'>) {
    this.#hold = inspector.hold.bind(inspector)
  }

  /** @throws INVALID_ARGUMENT with the name of the wrong field */
  add(given: FaultOptions): Fault {
    const options = checkFault(given)
    const id = `fault-${++this.#count}`
    let release: (() => Promise<void>) | undefined
    const remove = async (): Promise<void> => {
      this.#end(id)
      await release?.()
    }
    const fault = { id, options, random: seededRandom(options.seed ?? 1), matched: 0, hits: 0, remove }
    this.#active.set(id, fault)
    this.any = true
    if (options.holdApply) release = this.#hold(holdOf(options), () => fault.hits++)
    return fault
  }

  #end(id: string): void {
    this.#active.delete(id)
    this.any = this.#active.size > 0
  }

  /** Holds matching commits before they are applied, until the fault is removed. */
  holdApply(options: Omit<FaultOptions, 'holdApply'> = {}): Fault {
    return this.add({ ...options, holdApply: true })
  }

  /** A fault for one call: `next({ method: 'commit', code: 'ABORTED' })`. */
  next(options: FaultOptions): Fault {
    return this.add({ times: 1, ...options })
  }

  /** The next matching commit fails as if it had lost a conflict. */
  abortNextCommit(options: Omit<FaultOptions, 'method' | 'code'> = {}): Fault {
    return this.next({ ...options, method: 'commit', code: 'ABORTED' })
  }

  list(): readonly FaultReport[] {
    return [...this.#active.values()].map(({ id, options, matched, hits }) => {
      return { id, ...options, matched: options.holdApply ? hits : matched, hits }
    })
  }

  /** @throws NOT_FOUND if there is no such fault, or no longer */
  async remove(id: string): Promise<void> {
    const fault = this.#active.get(id)
    if (fault === undefined) throw notFound(`there is no fault "${id}"; it is over, or was removed`)
    await fault.remove()
  }

  async clear(): Promise<void> {
    await Promise.all([...this.#active.values()].map((fault) => fault.remove()))
  }

  /** Decides about a call before the engine sees it. */
  judge(facts: CallFacts): { readonly latencyMs: number; readonly error: DatastoreError | undefined } {
    let latencyMs = 0
    let error: DatastoreError | undefined
    for (const fault of [...this.#active.values()]) {
      const { holdApply, code, message, latencyMs: own = 0, skip = 0, times, share = 1 } = fault.options
      if (holdApply || !matches(fault.options, facts)) continue
      fault.matched++
      const isDrawn = fault.matched > skip && (share === 1 || fault.random.next() < share)
      // An older fault answers.
      if (!isDrawn || (error !== undefined && code !== undefined)) continue
      if (++fault.hits === times) this.#end(fault.id)
      latencyMs += own
      if (code !== undefined) error = new DatastoreError(code, message ?? `a fault of the test (${fault.id})`)
    }
    return { latencyMs, error }
  }
}
