/**
 * The verdict on a history of several gateways: the logs of the groups are replayed in the order of their stamps, and everything that a
 * client was told is compared with that.
 */

import { decodeLogRecord } from '../../src/log/log-record.ts'
import type { MemoryRows } from '../../src/storage/memory-rows.ts'
import { decodeImage, entityRowKey, parseEntityRowKey } from '../../src/tables/entities.ts'
import { codesOfEntityRow } from '../../src/tables/entity-rows.ts'
import { rowsOf } from '../../src/tables/rows.ts'
import { type Event, nameOf, type Values } from './gateways-clients.ts'
import { storedValue } from './log-world.ts'

/** A commit as the logs have it. */
export interface Logged {
  readonly stamp: bigint
  readonly groups: readonly string[]
  /** Groups whose logs have it. */
  readonly seen: string[]
  readonly changes: { readonly name: string; readonly before: number | undefined; readonly after: number | undefined }[]
}

/** Adds what the logs hold now to the commits known: logs are trimmed. @throws when they contradict each other */
export async function noteLogs(rows: MemoryRows, known: Map<string, Logged>): Promise<void> {
  const found = await rows.scanRows({ range: rowsOf('Entities'), limit: 1_000, wanted: [{ family: 'l' }] })
  for (const { key, cells } of found) {
    const { partition } = codesOfEntityRow(key)
    for (const { at, value } of cells.l ?? []) {
      const { commit = '', groups, changes } = decodeLogRecord(value)
      const logged = known.get(commit) ?? { stamp: at, groups, seen: [], changes: [] }
      known.set(commit, logged)
      if (logged.stamp !== at) throw new Error(`${commit} has two stamps`)
      const group = key.slice(1)
      if (logged.seen.includes(group)) continue
      logged.seen.push(group)
      for (const { path, before, after } of changes) {
        const name = nameOf(parseEntityRowKey(entityRowKey(partition, path)))
        logged.changes.push({ name, before: valueIn(before), after: valueIn(after) })
      }
    }
  }
}

/** Stamps at which everything was deleted: rows are empty there, and no commit has that stamp. */
export async function deletions(rows: MemoryRows, known: ReadonlyMap<string, Logged>): Promise<readonly bigint[]> {
  const stamps = new Set([...known.values()].map(({ stamp }) => stamp))
  const found = await rows.scanRows({ range: rowsOf('Entities'), limit: 1_000, wanted: [{ family: 'v' }] })
  const empty = found.flatMap(({ cells }) => (cells.v ?? []).filter(({ value }) => value.length === 0))
  return [...new Set(empty.map(({ at }) => at))].filter((stamp) => !stamps.has(stamp))
}

function valueIn(cell: Uint8Array | undefined): number | undefined {
  return cell === undefined ? undefined : storedValue(decodeImage(cell).properties)
}

/** @returns what is wrong; `undefined` = nothing */
export function verdict(
  known: ReadonlyMap<string, Logged>,
  deleted: readonly bigint[],
  events: readonly Event[],
): string | undefined {
  const given = events.flatMap((event) => event.given ?? [])
  // A reset lets ids begin anew.
  const isReset = events.some(({ what }) => what === 'reset')
  if (!isReset && new Set(given).size < given.length) return `an id was given twice: ${given.join(' ')}`
  const nothing = deleted.map((stamp): Logged => ({ stamp, groups: [], seen: [], changes: [] }))
  const commits = [...known.values(), ...nothing].sort((a, b) => (a.stamp < b.stamp ? -1 : 1))
  const states: { readonly stamp: bigint; readonly values: Values }[] = [{ stamp: 0n, values: new Map() }]
  const byValue = new Map<number, bigint>()
  let values = new Map<string, number>()
  for (const { stamp, groups, seen, changes } of commits) {
    if (stamp === states.at(-1)?.stamp) return `two commits have the stamp ${stamp}`
    if (seen.length !== groups.length) return `a commit at ${stamp} is in ${seen.length} of its ${groups.length} groups`
    values = deleted.includes(stamp) ? new Map() : new Map(values)
    for (const { name, before, after } of changes) {
      if (values.get(name) !== before)
        return `${name} before ${stamp} is ${before} in its record, ${values.get(name)} in the replay`
      if (after === undefined) values.delete(name)
      else {
        values.set(name, after)
        const already = byValue.get(after)
        if (already !== undefined && already !== stamp)
          return `the value ${after} was written at ${already} and at ${stamp}`
        byValue.set(after, stamp)
      }
    }
    states.push({ stamp, values })
  }
  const at = (moment: bigint): Values => states.findLast(({ stamp }) => stamp <= moment)?.values ?? new Map()
  for (const event of events) {
    const wrong = wrongEvent(event, at, byValue)
    if (wrong !== undefined) return `${event.what} (steps ${event.start} to ${event.end}): ${wrong}`
  }
  return wrongOrder(events)
}

function wrongEvent(
  event: Event,
  at: (moment: bigint) => Values,
  byValue: ReadonlyMap<number, bigint>,
): string | undefined {
  const { writes, stamp, found, end, failed } = event
  for (const [name, value] of writes ?? []) {
    if (value === undefined) continue
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

/** Real time: what ended before something else began comes before it. */
function wrongOrder(events: readonly Event[]): string | undefined {
  const ended = events.filter(({ end, isEventual }) => end !== undefined && isEventual !== true)
  for (const a of ended) {
    for (const b of ended) {
      if ((a.end as number) >= b.start) continue
      if (a.stamp !== undefined && b.stamp !== undefined && b.stamp <= a.stamp)
        return `${b.what} came before ${a.what}, which had ended`
      // A read of one group may be of the moment of that group.
      const comparesGroups = b.isQuery === true || b.asked?.some((name) => a.writes?.has(name) === true) === true
      if (a.stamp !== undefined && b.at !== undefined && comparesGroups && b.at < a.stamp) {
        return `${b.what} at ${b.at} began after ${a.what} at ${a.stamp} had ended`
      }
      if (a.at !== undefined && a.isQuery && b.stamp !== undefined && b.stamp <= a.at) {
        return `${b.what} at ${b.stamp} came into the past of ${a.what} at ${a.at}`
      }
    }
  }
  return undefined
}
