/**
 * Whether a history of transfers and reads is strictly serializable, but for reads of one entity group, which are linearizable in their group: one
 * order of all commits, that of their versions, explains every read, and respects real time.
 *
 * BV1  A commit read what stood there right before its version.
 * BV2  A read saw all accounts as they stood at its moment, and what it saw adds up.
 * BV3  What ended before a commit began has a smaller moment; before a read of all accounts began, a smaller or the same.
 * BV4  A read of one entity group sees all that any operation on that group did or saw which ended before the read began.
 *
 * A read of one entity group tells the moment of that group, which other groups have passed. A read of the past tells what is final.
 */

export interface Balance {
  readonly figure: number
  /** Transfers that it took part in. */
  readonly moves: number
}

/** A balance and the version of its commit. */
export interface Seen extends Balance {
  readonly version: bigint
}

/** `start` and `end` are places in the one order in which the clients sent and heard. */
interface Operation {
  readonly what: string
  readonly start: number
}

/** A commit that stands. */
export interface Committed extends Operation {
  /** Absent = its outcome was not told. */
  readonly end: number | undefined
  readonly version: bigint
  readonly read: ReadonlyMap<string, Seen>
  readonly wrote: ReadonlyMap<string, Balance>
}

export interface Read extends Operation {
  readonly end: number
  readonly moment: bigint
  readonly scope: 'all' | 'one group' | 'the past'
  /** By account; or sums over all accounts. */
  readonly saw: ReadonlyMap<string, Seen> | (Balance & { readonly accounts: number })
}

interface State extends Balance {
  readonly version: bigint
  readonly accounts: number
}

interface Replay {
  /** The versions of each account, ascending. */
  readonly accounts: ReadonlyMap<string, readonly Seen[]>
  /** Sums over all accounts, ascending by version. */
  readonly states: readonly State[]
}

/** @returns what is wrong; `undefined` = nothing */
export function verdict(commits: readonly Committed[], reads: readonly Read[]): string | undefined {
  const accounts = new Map<string, Seen[]>()
  const states: State[] = [{ version: 0n, figure: 0, moves: 0, accounts: 0 }]
  for (const commit of [...commits].sort((a, b) => (a.version < b.version ? -1 : 1))) {
    const wrong = replayed(commit, accounts, states)
    if (wrong !== undefined) return wrong
  }
  const replay = { accounts, states }
  for (const read of reads) {
    const wrong = wrongRead(read, replay)
    if (wrong !== undefined) return `${read.what}, of ${read.moment}: ${wrong}`
  }
  return wrongOrder(commits, reads, replay)
}

/** BV1. */
function replayed(
  { what, version, read, wrote }: Committed,
  accounts: Map<string, Seen[]>,
  states: State[],
): string | undefined {
  const last = states.at(-1) as State
  if (last.version === version) return `${what}: another commit has its version ${version}`
  for (const [name, seen] of read) {
    const stood = accounts.get(name)?.at(-1)
    if (!isSame(seen, stood))
      return `${what}, at ${version}, read ${text(name, seen)}; before it stood ${text(name, stood)}`
  }
  let { figure, moves, accounts: known } = last
  for (const [name, balance] of wrote) {
    const versions = accounts.get(name) ?? []
    accounts.set(name, versions)
    const before = versions.at(-1)
    if (before === undefined) known++
    figure += balance.figure - (before?.figure ?? 0)
    moves += balance.moves - (before?.moves ?? 0)
    versions.push({ ...balance, version })
  }
  states.push({ version, figure, moves, accounts: known })
  return undefined
}

/** BV2. */
function wrongRead({ saw, moment }: Read, { accounts, states }: Replay): string | undefined {
  const state = lastUpTo(states, moment)
  if (!(saw instanceof Map)) {
    const sums = saw as State
    const isRight = sums.figure === state?.figure && sums.moves === state.moves && sums.accounts === state.accounts
    return isRight ? undefined : `it counted ${textOfSums(sums)}; the commits add up to ${textOfSums(state)}`
  }
  for (const [name, seen] of saw as ReadonlyMap<string, Seen>) {
    const stood = lastUpTo(accounts.get(name) ?? [], moment)
    if (!isSame(seen, stood)) return `it saw ${text(name, seen)}; the commits left ${text(name, stood)}`
  }
  return undefined
}

/** BV3 and BV4: walks through what was sent and heard, with the latest moments that were heard so far. */
function wrongOrder(commits: readonly Committed[], reads: readonly Read[], { accounts }: Replay): string | undefined {
  const steps: { readonly at: number; readonly of: Committed | Read; readonly isEnd: boolean }[] = []
  for (const of of [...commits, ...reads]) {
    steps.push({ at: of.start, of, isEnd: false })
    if (of.end !== undefined) steps.push({ at: of.end, of, isEnd: true })
  }
  steps.sort((a, b) => a.at - b.at)
  let latest = never
  let ofAll = never
  const ofAccounts = new Map<string, Heard>()
  for (const { of, isEnd } of steps) {
    const place = 'version' in of ? of.version : of.moment
    const names = namesOf(of)
    if (isEnd) {
      const heard = { place, what: of.what }
      latest = later(latest, heard)
      if (names === undefined) ofAll = later(ofAll, heard)
      for (const name of names ?? []) ofAccounts.set(name, later(ofAccounts.get(name) ?? never, heard))
      continue
    }
    const isLate = 'version' in of ? place <= latest.place : names === undefined && place < latest.place
    if (isLate) return `${of.what}, of ${place}, began after ${latest.what}, of ${latest.place}, had ended`
    if ('version' in of || of.scope !== 'one group' || !(of.saw instanceof Map)) continue
    for (const [name, { version }] of of.saw as ReadonlyMap<string, Seen>) {
      const before = later(ofAll, ofAccounts.get(name) ?? never)
      const stood = lastUpTo(accounts.get(name) ?? [], later(before, { place, what: '' }).place)
      if (stood?.version !== version) {
        return `${of.what}, of ${place}, began after ${before.what}, of ${before.place}, had ended`
      }
    }
  }
  return undefined
}

/** A moment that was heard of, and by what. */
interface Heard {
  readonly place: bigint
  readonly what: string
}

const never: Heard = { place: -1n, what: '' }

function later(a: Heard, b: Heard): Heard {
  return b.place > a.place ? b : a
}

/** The accounts that an operation is of; `undefined` = all. */
function namesOf(of: Committed | Read): readonly string[] | undefined {
  if ('version' in of) return [...of.read.keys(), ...of.wrote.keys()]
  if (of.scope === 'the past') return []
  return of.scope === 'one group' && of.saw instanceof Map ? [...of.saw.keys()] : undefined
}

function lastUpTo<T extends { readonly version: bigint }>(versions: readonly T[], moment: bigint): T | undefined {
  let [from, until] = [0, versions.length]
  while (from < until) {
    const middle = (from + until) >> 1
    if ((versions[middle] as T).version <= moment) from = middle + 1
    else until = middle
  }
  return versions[from - 1]
}

function isSame(a: Seen | undefined, b: Seen | undefined): boolean {
  return a?.version === b?.version && a?.figure === b?.figure && a?.moves === b?.moves
}

function text(name: string, seen: Seen | undefined): string {
  return seen === undefined ? `no ${name}` : `${name} = ${seen.figure} (${seen.moves} moves) of ${seen.version}`
}

function textOfSums(sums: Omit<State, 'version'> | undefined): string {
  return `${sums?.figure} in ${sums?.accounts} accounts after ${sums?.moves} moves`
}
