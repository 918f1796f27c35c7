/**
 * The verdict on a history of several gateways: the logs of the groups are replayed in the order of their stamps, and everything that a
 * client was told is compared with that.
 */
import {
  codesOfEntityRow,
  decodeImage,
  decodeLogRecord,
  entityRowKey,
  parseEntityRowKey,
} from '@sixtables/engine/store'
import { storedValue } from '../../../engine/test/property/log-world.ts'
import type { Row, RowKey } from '../../src/row-store/row-store.ts'
import { type Event, expiringName, nameOf, type Values } from './gateways-clients.ts'

/** A commit as the logs have it. */
export interface Logged {
  readonly stamp: bigint
  readonly epoch: number
  /** All that its records name: the first one names all of them, each other one the first and itself. */
  readonly groups: Set<string>
  /** Groups whose logs have it. */
  readonly seen: string[]
  readonly changes: { readonly name: string; readonly before: number | undefined; readonly after: number | undefined }[]
}

/** All entities from a stamp on. */
interface State {
  readonly stamp: bigint
  readonly values: Values
}

/** The commits and deletions that rows have shown: logs and old cells are swept. */
export class Shown {
  readonly commits: Map<string, Logged> = new Map()
  readonly #emptied = new Set<bigint>()

  /** Adds what a row of Entities holds. @throws when logs contradict each other */
  note({ key, cells }: Row): void {
    for (const { at, value } of cells.v ?? []) if (value.length === 0) this.#emptied.add(at)
    for (const { at, value } of cells.l ?? []) this.#noteRecord(key, at, value)
  }

  #noteRecord(key: RowKey, at: bigint, value: Uint8Array): void {
    const { commit = '', epoch = 0, groups, changes } = decodeLogRecord(value)
    const logged = this.commits.get(commit) ?? { stamp: at, epoch, groups: new Set(), seen: [], changes: [] }
    for (const group of groups) logged.groups.add(group)
    this.commits.set(commit, logged)
    if (logged.stamp !== at) throw new Error(`${commit} has two stamps`)
    const group = key.slice(1)
    if (logged.seen.includes(group)) return
    logged.seen.push(group)
    const { partition } = codesOfEntityRow(key)
    for (const { path, before, after } of changes) {
      const name = nameOf(parseEntityRowKey(entityRowKey(partition, path)))
      logged.changes.push({ name, before: valueIn(before), after: valueIn(after) })
    }
  }

  /** Stamps at which everything was deleted: rows are empty there, and no commit has that stamp. */
  get deletions(): readonly bigint[] {
    const stamps = new Set([...this.commits.values()].map(({ stamp }) => stamp))
    return [...this.#emptied].filter((stamp) => !stamps.has(stamp))
  }
}

function valueIn(cell: Uint8Array | undefined): number | undefined {
  return cell === undefined ? undefined : storedValue(decodeImage(cell).properties)
}

/** @returns what is wrong; `undefined` = nothing */
export function verdict({ commits: known, deletions: deleted }: Shown, events: readonly Event[]): string | undefined {
  const given = events.flatMap((event) => event.given ?? [])
  if (new Set(given).size < given.length) return `an id was given twice: ${given.join(' ')}`
  const resets = events.filter(({ what }) => what === 'reset').length
  if (deleted.length > resets) return `everything was deleted ${deleted.length} times by ${resets} resets`
  const nothing = deleted.map((stamp): Logged => ({ stamp, epoch: 0, groups: new Set(), seen: [], changes: [] }))
  const commits = [...known.values(), ...nothing].sort((a, b) => (a.stamp < b.stamp ? -1 : 1))
  const states: State[] = [{ stamp: 0n, values: new Map() }]
  const byValue = new Map<number, bigint>()
  const again = new Set(events.flatMap(({ isAgain, writes }) => (isAgain ? [...(writes?.values() ?? [])] : [])))
  let values = new Map<string, number>()
  let latest = 0
  for (const { stamp, epoch, groups, seen, changes } of commits) {
    if (stamp === states.at(-1)?.stamp) return `two commits have the stamp ${stamp}`
    const isDeletion = seen.length === 0
    if (!isDeletion && epoch < latest)
      return `a commit at ${stamp} is of the epoch ${epoch}, after the epoch ${latest} began`
    // A deletion raises the epoch.
    latest = isDeletion ? latest + 1 : epoch
    if (seen.length !== groups.size) return `a commit at ${stamp} is in ${seen.length} of its ${groups.size} groups`
    values = deleted.includes(stamp) ? new Map() : new Map(values)
    for (const { name, before, after } of changes) {
      if (values.get(name) !== before)
        return `${name} before ${stamp} is ${before} in its record, ${values.get(name)} in the replay`
      if (after === undefined && name === expiringName && (before ?? 0) % 2 === 0)
        return `${name}=${before} was deleted at ${stamp}, and had not expired`
      if (after === undefined) values.delete(name)
      else {
        values.set(name, after)
        const already = byValue.get(after)
        if (already !== undefined && !again.has(after))
          return `the value ${after} was written at ${already} and at ${stamp}`
        byValue.set(after, stamp)
      }
    }
    states.push({ stamp, values })
  }
  const at = (moment: bigint): Values => states.findLast(({ stamp }) => stamp <= moment)?.values ?? new Map()
  for (const event of events) {
    const wrong = event.what === 'reset' ? wrongReset(event, events, states) : wrongEvent(event, at, byValue, again)
    if (wrong !== undefined) return `${event.what} (steps ${event.startStep} to ${event.endStep}): ${wrong}`
  }
  return wrongTransactions(events, byValue) ?? wrongOrder(events, at)
}

/** Of two commits that name one transaction, one may stand. */
function wrongTransactions(events: readonly Event[], byValue: ReadonlyMap<number, bigint>): string | undefined {
  const committed = new Map<Uint8Array, bigint>()
  for (const { transaction, writes } of events) {
    const stamps = [...(writes?.values() ?? [])].flatMap((value) => byValue.get(value ?? Number.NaN) ?? [])
    const [stamp] = stamps
    if (transaction === undefined || stamp === undefined) continue
    const other = committed.get(transaction)
    if (other !== undefined) return `a transaction was committed at ${other} and at ${stamp}`
    committed.set(transaction, stamp)
  }
  return undefined
}

function wrongEvent(
  event: Event,
  at: (moment: bigint) => Values,
  byValue: ReadonlyMap<number, bigint>,
  again: ReadonlySet<number | undefined>,
): string | undefined {
  const { writes, stamp, found, end, failed } = event
  for (const [name, value] of writes ?? []) {
    if (end !== undefined && stamp !== undefined && at(stamp).get(name) !== value) {
      return `acknowledged at ${stamp}, when ${name} was ${at(stamp).get(name)}`
    }
    if (value === undefined || again.has(value)) continue
    if (failed && byValue.has(value)) return `it was refused, and ${name} has its value`
    if (end !== undefined && stamp !== undefined && byValue.get(value) !== stamp) {
      return `acknowledged at ${stamp}, and ${name} was written at ${byValue.get(value)}`
    }
  }
  if (found === undefined || end === undefined) return undefined
  const moment = stamp === undefined ? event.at : stamp - 1n
  if (moment === undefined) return undefined
  const expected = expectedOf(event, at(moment))
  if (text(found) === text(expected)) return undefined
  return `at ${moment} it read ${text(found)}, the replay has ${text(expected)}`
}

/** Of an acknowledged reset: nothing was there at a moment after all that had ended before it, and before all that began after it. */
function wrongReset({ start, end }: Event, events: readonly Event[], states: readonly State[]): string | undefined {
  if (end === undefined) return undefined
  const before = events.flatMap((one) => ((one.end ?? end) < start ? (one.stamp ?? []) : []))
  const after = events.flatMap((one) => (one.start > end && one.end !== undefined ? (one.stamp ?? []) : []))
  const isLater = ({ stamp }: State): boolean => after.some((one) => one <= stamp)
  const possible = states.filter((state, i) => {
    const next = states[i + 1]
    return !isLater(state) && (next === undefined || !before.some((one) => next.stamp <= one))
  })
  if (possible.some(({ values }) => values.size === 0)) return undefined
  return `nothing was deleted in ${possible.length} states`
}

function expectedOf({ isQuery, asked }: Event, values: Values): Values {
  const isThere = ([name, value]: [string, number]): boolean =>
    isQuery
      ? value % 2 === 0 && !name.includes('/') && /^[^,]*$/.test(name) && isRoot(name)
      : asked?.includes(name) === true
  return new Map([...values].filter(isThere))
}

function isRoot(name: string): boolean {
  return name.startsWith('G:') && !name.includes('A:')
}

function text(values: Values): string {
  return [...values]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ')
}

/**
 * Real time: what ended before something else began comes before it. A lookup in one group comes after what was done and seen of that group, not
 * after commits to other groups.
 */
function wrongOrder(events: readonly Event[], at: (moment: bigint) => Values): string | undefined {
  const ended = events.filter(({ end, isEventual }) => end !== undefined && isEventual !== true)
  for (const a of ended) {
    for (const b of ended) {
      if ((a.end as number) >= b.start) continue
      if (a.stamp !== undefined && b.stamp !== undefined && b.stamp <= a.stamp)
        return `${b.what} came before ${a.what}, which had ended`
      // A read of one group may be of the moment of that group; some commits may have changed nothing there.
      const isOfGroups = b.isQuery === true || (b.asked?.length ?? 0) > 1
      const comparesGroups =
        isOfGroups || (!a.isAgain && b.asked?.some((name) => a.writes?.get(name) !== undefined) === true)
      if (a.stamp !== undefined && b.at !== undefined && comparesGroups && b.at < a.stamp) {
        return `${b.what} at ${b.at} began after ${a.what} at ${a.stamp} had ended`
      }
      if (a.at !== undefined && b.at !== undefined && isOfGroups && b.at < a.at) {
        return `${b.what} at ${b.at} began after ${a.what} at ${a.at} had ended`
      }
      const isOfSame = a.isQuery === true || a.asked?.some((name) => b.asked?.includes(name)) === true
      if (a.at !== undefined && b.found !== undefined && b.at !== undefined && !isOfGroups && isOfSame && b.at < a.at) {
        if (text(b.found) !== text(expectedOf(b, at(a.at)))) {
          return `${b.what} at ${b.at} read ${text(b.found)}, and ${a.what} at ${a.at}, which had ended, was of a later state`
        }
      }
      if (a.at !== undefined && a.isQuery && b.stamp !== undefined && b.stamp <= a.at) {
        return `${b.what} at ${b.stamp} came into the past of ${a.what} at ${a.at}`
      }
    }
  }
  return undefined
}
