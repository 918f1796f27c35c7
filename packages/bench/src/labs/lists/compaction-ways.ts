/**
 * Ways to compact a list of `+user` and `-user` entries while it is appended to. A compaction is a generator that yields after
 * each of its steps: a client that is killed there is a generator that is not resumed.
 *
 *   one list      cas             read, leave out what cancels out, put back if the version is still the same
 *   lists a, b    active-pointer  an entity names the list that is appended to; the other one is emptied into it
 *                 marker          the list that is not appended to has a `^` at its head
 *                 one-commit      as active-pointer; copying and clearing are one transaction
 *                 clear-first     as active-pointer; clears before it copies, and whatever is there
 *
 *   a round of a and b:   drain the inactive list ─▶ switch ─▶ drain the list that is inactive now
 *   drain:                until the inactive list is empty: read both ─▶ copy what does not cancel out ─▶ clear what was read
 *
 * - Entries are appended and taken out by transforms that name them, so each step can be done again, and entries that come
 *   in between are never touched.
 * - Entries are copied before they are cleared. A client that is killed in between leaves them in both lists: repeats,
 *   and no loss.
 * LW3  What cancels out is left out only among entries that are not in the active list yet: a `+user` that was copied before
 *      a client was killed still needs its `-user`.
 * LW4  With a pointer each step is conditional on the version of the pointer that its client has seen: a client that was only
 *      slow cannot copy old entries after another one has gone on. A marker lies in entities that everybody writes, so it
 *      cannot keep a slow client out; there one client compacts at a time.
 */
import { type Key, limits } from '@sixtables/engine'
import type { Ways } from '../../lab.ts'
import { type Client, integerOf, type Stored, textsOf } from '../../sim/client.ts'
import { array, ifVersion, integer, type Put, text, update, upsert } from '../../sim/entities.ts'
import { balances, userOf } from './changes.ts'
import { arrayPut, changedPut } from './removal-ways.ts'

type Step = 'put back' | 'switch' | 'copy' | 'clear' | 'move'

export interface CompactionWay {
  /** Clients that compact at the same time. */
  readonly clients: number
  lists(client: Client): readonly Key[]
  /** The list that a writer appends to; writers ask again after a while only. */
  target(client: Client): Promise<Key>
  /** One round. @throws FAILED_PRECONDITION when another client came in between */
  compact(client: Client): AsyncGenerator<Step, void>
}

const one = (client: Client): Key => client.key({ kind: 'Log', name: 'X' })
const pointer = (client: Client): Key => client.key({ kind: 'Pointer', name: 'X' })

export function entriesOf(stored: Stored | undefined): readonly string[] {
  return textsOf(stored?.fields, 'log')
}

/** The entries without pairs of `+user` and `-user`; of each user the last ones stay. */
export function compacted(entries: readonly string[]): readonly string[] {
  const left = new Map(balances(entries))
  const kept: string[] = []
  for (const entry of [...entries].reverse()) {
    const balance = left.get(userOf(entry)) ?? 0
    const sign = entry.startsWith('+') ? 1 : -1
    if (Math.sign(balance) !== sign) continue
    left.set(userOf(entry), balance - sign)
    kept.push(entry)
  }
  return kept.reverse()
}

async function* putBack(client: Client): AsyncGenerator<Step, void> {
  await client.commit([await changedPut(client, one(client), 'log', compacted)])
  yield 'put back'
}

/** Both lists as a compaction sees them, and which of them is appended to. */
interface Pair {
  readonly active: 'a' | 'b'
  readonly activeEntries: readonly string[]
  /** As many as one commit may name; the next pass sees the next ones. */
  readonly inactiveEntries: readonly string[]
  /** The pointer as it was read, where there is one. */
  readonly pointer: Stored | undefined
}

type Sight = 'pointer' | 'marker'

async function see(client: Client, by: Sight): Promise<Pair> {
  const [ofA, ofB, place] = await client.read([
    ...pairOfLists.lists(client),
    ...(by === 'pointer' ? [pointer(client)] : []),
  ])
  const isB = by === 'pointer' ? isText(place, 'active', 'b') : isText(ofA, 'head', '^')
  const [active, inactive] = isB ? [ofB, ofA] : [ofA, ofB]
  return {
    active: isB ? 'b' : 'a',
    activeEntries: entriesOf(active),
    inactiveEntries: entriesOf(inactive).slice(0, limits.propertyTransformsMax),
    pointer: place,
  }
}

function isText(stored: Stored | undefined, property: string, value: string): boolean {
  const found = stored?.fields.get(property)
  return found?.type === 'string' && found.value === value
}

const other = (list: 'a' | 'b'): 'a' | 'b' => (list === 'a' ? 'b' : 'a')
const keyOf = (client: Client, list: 'a' | 'b'): Key => client.key({ kind: 'Log', name: `X.${list}` })

/** The pointer with one step more, conditional on the version that was read (LW4). */
function pointerPut(client: Client, active: 'a' | 'b', seen: Stored | undefined): Put {
  const fields = { active: text(active), steps: integer(stepsOf(seen) + 1) }
  return upsert(pointer(client), fields, ifVersion(seen?.version ?? 0n))
}

const stepsOf = (seen: Stored | undefined): number => integerOf(seen?.fields, 'steps')

/** The entries to copy from the inactive list to the active one (LW3); no put where there are none. */
function copyOf(client: Client, { active, activeEntries, inactiveEntries }: Pair): readonly Put[] {
  const there = new Set(activeEntries)
  const missing = compacted(inactiveEntries.filter((entry) => !there.has(entry)))
  return missing.length === 0 ? [] : [arrayPut(keyOf(client, active), 'log', 'appendMissing', missing)]
}

function clearOf(client: Client, { active, inactiveEntries }: Pair): Put {
  return arrayPut(keyOf(client, other(active)), 'log', 'removeAll', inactiveEntries)
}

function guardOf(client: Client, by: Sight, { active, pointer: seen }: Pair): readonly Put[] {
  return by === 'pointer' ? [pointerPut(client, active, seen)] : []
}

async function* copyThenClear(client: Client, by: Sight, pair: Pair): AsyncGenerator<Step, void> {
  await client.commitAtomically([...copyOf(client, pair), ...guardOf(client, by, pair)])
  yield 'copy'
  const later = await see(client, by)
  // Between our two steps another client has made one.
  if (by === 'pointer' && stepsOf(later.pointer) !== stepsOf(pair.pointer) + 1) return
  await client.commitAtomically([clearOf(client, pair), ...guardOf(client, by, later)])
  yield 'clear'
}

async function* move(client: Client, by: Sight, pair: Pair): AsyncGenerator<Step, void> {
  await client.commitAtomically([...copyOf(client, pair), clearOf(client, pair), ...guardOf(client, by, pair)])
  yield 'move'
}

async function* clearThenCopy(client: Client, by: Sight, pair: Pair): AsyncGenerator<Step, void> {
  await client.commitAtomically([update(keyOf(client, other(pair.active)), { log: array([]) })])
  yield 'clear'
  await client.commitAtomically([...copyOf(client, pair), ...guardOf(client, by, pair)])
  yield 'copy'
}

function twoLists(by: Sight, drain: typeof move): CompactionWay['compact'] {
  async function* emptied(client: Client): AsyncGenerator<Step, Pair> {
    for (;;) {
      const pair = await see(client, by)
      if (pair.inactiveEntries.length === 0) return pair
      yield* drain(client, by, pair)
    }
  }
  return async function* (client) {
    const { active, pointer: seen } = yield* emptied(client)
    await client.commitAtomically(
      by === 'pointer' ? [pointerPut(client, other(active), seen)] : markerPuts(client, other(active)),
    )
    yield 'switch'
    yield* emptied(client)
  }
}

/** The mark goes to the head of the list that is inactive from now on, beside its entries. */
function markerPuts(client: Client, active: 'a' | 'b'): readonly Put[] {
  return (['a', 'b'] as const).map((list) =>
    upsert(keyOf(client, list), { head: text(list === active ? '' : '^') }, { propertyMask: ['head'] }),
  )
}

const pairOfLists = {
  lists: (client: Client) => [keyOf(client, 'a'), keyOf(client, 'b')],
  async target(client: Client): Promise<Key> {
    const [place] = await client.read([pointer(client)])
    return keyOf(client, isText(place, 'active', 'b') ? 'b' : 'a')
  },
}

export const compactionWays: Ways<CompactionWay> = {
  cas: {
    about: 'one list; a compaction reads it and puts it back, on condition of its version',
    clients: 1,
    lists: (client) => [one(client)],
    target: (client) => Promise.resolve(one(client)),
    compact: putBack,
  },
  'active-pointer': {
    about: 'lists a and b and a pointer to the active one; the other one is copied over, then cleared',
    clients: 2,
    ...pairOfLists,
    compact: twoLists('pointer', copyThenClear),
  },
  marker: {
    about: 'lists a and b; the inactive one has a ^ at its head',
    clients: 1,
    lists: pairOfLists.lists,
    async target(client) {
      const { active } = await see(client, 'marker')
      return keyOf(client, active)
    },
    compact: twoLists('marker', copyThenClear),
  },
  'one-commit': {
    about: 'as active-pointer; copying and clearing are one transaction',
    clients: 2,
    ...pairOfLists,
    compact: twoLists('pointer', move),
  },
  'clear-first': {
    about: 'as active-pointer; the inactive list is cleared, whatever is in it, and then copied',
    clients: 1,
    ...pairOfLists,
    compact: twoLists('pointer', clearThenCopy),
  },
}
