/** 200,000 followers: in one item, and in sub-lists that an index item names. */
import { type Key, limits } from '@sixtables/engine'
import { arm, defineLab, expected, type Lab } from '../lab.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { type Client, isChanged, refusalOf, succeeds, textsOf } from '../sim/client.ts'
import type { Put } from '../sim/entities.ts'
import { hashOf } from '../sim/keys.ts'
import type { Store } from '../sim/store.ts'
import type { WireSession } from '../sim/wire.ts'
import { writeOverWire } from '../sim/writers.ts'
import { followersOf, userOf } from './lists/changes.ts'
import { compacted } from './lists/compaction-ways.ts'
import { arrayPut, changedPut } from './lists/removal-ways.ts'

/** The id of a user, as long as ids that mean nothing are. */
const userOfNumber = (n: number): string => `user-${hashOf(`${n}`)}${String(n).padStart(12, '0')}`
const entryOf = (n: number, follows = true): string => `${follows ? '+' : '-'}${userOfNumber(n)}#${follows ? 1 : 2}`
const index = (client: Client): Key => client.key({ kind: 'Topic', name: 'X' })
const subList = (client: Client, n: number | string): Key => client.key({ kind: 'Topic', name: `X.${n}` })

const append = (key: Key, entries: readonly string[]): Put => arrayPut(key, 'log', 'appendMissing', entries)

/** Where the next entries go, and what follows from the answer. */
interface Layout {
  /** Appends; refused with INVALID_ARGUMENT when the item is full. */
  append(client: Client, entries: readonly string[]): Promise<void>
  lists(client: Client): Promise<readonly Key[]>
}

const oneItem: Layout = {
  append: (client, entries) => client.commit([append(index(client), entries)]),
  lists: (client) => Promise.resolve([index(client)]),
}

/** The newest sub-list, and how many entries are in it, as this client knows. */
function subLists(entriesMax: number): Layout {
  let newest: { readonly number: number; entries: number } | undefined
  return {
    async append(client, entries) {
      if (newest === undefined || newest.entries + entries.length > entriesMax) {
        const number = newest === undefined ? 0 : newest.number + 1
        newest = { number, entries: 0 }
        // The index item first: a sub-list that it does not name would be lost.
        await client.commit([arrayPut(index(client), 'lists', 'appendMissing', [`${number}`])])
      }
      newest.entries += entries.length
      await client.commit([append(subList(client, newest.number), entries)])
    },
    async lists(client) {
      const [stored] = await client.read([index(client)])
      return textsOf(stored?.fields, 'lists').map((name) => subList(client, name))
    },
  }
}

/**
 * Appends followers until the service refuses them.
 *
 * @param appended - called after each append
 * @returns how many it took, and the message of the refusal
 */
async function follow(
  session: ArmSession,
  client: Client,
  layout: Layout,
  appended: () => void,
): Promise<readonly [stored: number, refusal?: string]> {
  const followers = session.setting('list.followers')
  const size = session.setting('batch.size')
  for (let from = 0; from < followers; from += size) {
    const entries = Array.from({ length: Math.min(size, followers - from) }, (_, i) => entryOf(from + i))
    const refusal = await refusalOf(() => layout.append(client, entries))
    if (refusal?.code === 'INVALID_ARGUMENT' && from > 0) return [from, refusal.message]
    if (refusal !== undefined) throw refusal
    appended()
    session.progress((0.8 * from) / followers)
  }
  return [followers]
}

async function readAll(client: Client, layout: Layout): Promise<ReadonlyMap<Key, readonly string[]>> {
  const lists = new Map<Key, readonly string[]>()
  // One by one, since an answer holds a few megabytes at most.
  for (const key of await layout.lists(client)) lists.set(key, await logOf(client, key))
  return lists
}

/** Commits that compacted older sub-lists, attempts to put the newest one back, and how many of each were refused. */
type Compaction = Record<'old' | 'oldRefused' | 'newest' | 'newestRefused', number>

const newestTries = 5

/** Some followers leave: `-user` is appended to the newest sub-list, like any change. */
async function leave(session: ArmSession, client: Client, layout: Layout): Promise<readonly string[]> {
  const every = Math.round(1 / session.setting('list.leaveShare'))
  const size = session.setting('batch.size')
  const entries: string[] = []
  for (let n = 0; n < session.setting('list.followers'); n += every) entries.push(entryOf(n, false))
  for (let from = 0; from < entries.length; from += size) await layout.append(client, entries.slice(from, from + size))
  return entries
}

/** Compacts while others go on to append, and then leaves the list alone. */
async function compactUnderLoad(
  store: Store,
  client: Client,
  layout: Layout,
  lists: ReadonlyMap<Key, readonly string[]>,
  writers: number,
): Promise<Compaction> {
  const done: Compaction = { old: 0, oldRefused: 0, newest: 0, newestRefused: 0 }
  let isDone = false
  const late = async (name: string): Promise<void> => {
    for (let i = 0; !isDone; i++) await layout.append(client, [`+${name}-${i}#1`])
  }
  const compact = async (): Promise<void> => {
    const leaving = new Map<string, { readonly key: Key; readonly entry: string }>()
    for (const [key, entries] of lists) {
      for (const entry of entries) if (entry.startsWith('-')) leaving.set(`+${userOf(entry)}#1`, { key, entry })
    }
    for (const key of [...lists.keys()].slice(0, -1)) await compactOld(client, key, leaving, done)
    const newest = (await layout.lists(client)).at(-1)
    for (let i = 0; newest !== undefined && i < newestTries; i++) {
      done.newest++
      if (!(await putBack(client, newest, compacted, []))) done.newestRefused++
    }
    isDone = true
  }
  await store.together([...Array.from({ length: writers }, (_, i) => late(`late-${i}`)), compact()])
  return done
}

/** One sub-list without those who left, and the other ones without the entries that said so, in one commit. */
async function compactOld(
  client: Client,
  key: Key,
  leaving: ReadonlyMap<string, { readonly key: Key; readonly entry: string }>,
  done: Compaction,
): Promise<void> {
  const gone = (await logOf(client, key)).flatMap((entry) => leaving.get(entry) ?? [])
  // One commit names so many elements of an entity at most.
  for (let from = 0; from < gone.length; from += limits.propertyTransformsMax) {
    const some = gone.slice(from, from + limits.propertyTransformsMax)
    const lists = new Set(some.map((one) => one.key))
    const takes = [...lists].map((list) => {
      const entries = some.flatMap((one) => (one.key === list ? [one.entry] : []))
      return arrayPut(list, 'log', 'removeAll', entries)
    })
    const users = new Set(some.map(({ entry }) => userOf(entry)))
    done.old++
    if (!(await putBack(client, key, (all) => all.filter((entry) => !users.has(userOf(entry))), takes)))
      done.oldRefused++
  }
}

/** @returns whether it got through: the version is still the one that was read */
async function putBack(
  client: Client,
  key: Key,
  change: (entries: readonly string[]) => readonly string[],
  others: readonly Put[],
): Promise<boolean> {
  const put = await changedPut(client, key, 'log', change)
  return succeeds(() => client.commitAtomically([put, ...others]), isChanged)
}

async function logOf(client: Client, key: Key): Promise<readonly string[]> {
  const [stored] = await client.read([key])
  return textsOf(stored?.fields, 'log')
}

async function fillList(session: ArmSession, store: Store, client: Client, layout: Layout): Promise<void> {
  const { record } = session
  // Bytes of the rows of entities that are written, in all and by the last commit of each append; the log has them once more.
  let [all, latest] = [0, 0]
  store.engine.tablets.onSample(({ table, operation, bytes }) => {
    if (table !== 'Entities' || operation !== 'put') return
    latest = bytes
    all += bytes
  })
  const appends: number[] = []
  const [stored, refusal] = await store.alone(() => follow(session, client, layout, () => appends.push(latest)))
  record.figure('followers', session.setting('list.followers'))
  record.figure('followers accepted', stored)
  record.figure('refused for its size', refusal !== undefined)
  record.figure('first write', appends[0] ?? 0, 'bytes')
  record.figure('last write', appends.at(-1) ?? 0, 'bytes')
  record.figure('written for a follower', all / stored, 'bytes')
  if (refusal !== undefined) record.text('what the service answers', [refusal])
}

function recordLists(session: ArmSession, lists: ReadonlyMap<Key, readonly string[]>): void {
  const added = [...lists.values()].flat().filter((entry) => entry.startsWith('+'))
  session.record.figure('entities with followers', lists.size)
  session.record.figure('followers found', new Set(added).size)
  session.record.figure('found twice', added.length - new Set(added).size)
}

async function runOneItem(session: ArmSession): Promise<void> {
  const store = await session.open({ simulate: true })
  const client = session.client(store)
  await fillList(session, store, client, oneItem)
  recordLists(session, await store.alone(() => readAll(client, oneItem)))
}

async function runSubLists(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const client = session.client(store)
  const layout = subLists(session.setting('list.entriesMax'))
  await fillList(session, store, client, layout)
  const left = await store.alone(() => leave(session, client, layout))
  session.progress(0.8)
  const before = await store.alone(() => readAll(client, layout))
  recordLists(session, before)
  const done = await compactUnderLoad(store, client, layout, before, session.setting('load.writersMax'))
  session.progress(0.95)
  const after = await store.alone(() => readAll(client, layout))
  const gone = new Set(left.map(userOf))
  const followers = followersOf([...after.values()].flat()).filter((user) => !user.startsWith('late'))
  const stayed = session.setting('list.followers') - gone.size
  const wrong = Math.abs(followers.length - stayed) + followers.filter((user) => gone.has(user)).length
  record.figure('commits that compacted old sub-lists', done.old)
  record.figure('of these, refused', done.oldRefused)
  record.figure('attempts at the newest sub-list', done.newest)
  record.figure('of those, refused', done.newestRefused)
  record.figure('entries before', entryBytes(before), 'bytes')
  record.figure('entries after', entryBytes(after), 'bytes')
  record.figure('wrong after it', wrong)
}

function entryBytes(lists: ReadonlyMap<Key, readonly string[]>): number {
  return sum([...lists.values()].flat().map((entry) => entry.length))
}

const drive = (wire: WireSession, layout: Layout): Promise<void> =>
  writeOverWire(wire, 4, ({ client, writer, random }) =>
    layout.append(client, [`+user-${writer}-${random.integer(1_000_000_000)}#1`]),
  )

export const listOfLists: Lab = defineLab({
  name: 'list-of-lists',
  idea:
    'An entity is written whole, however little of it changes, and it has a limit. One level more helps against both: an index ' +
    'item names sub-lists, and only the newest one grows. The older ones are at rest, so even a conditional write gets through.',
  settings: {
    ...serverSettings,
    ...defaultsOf('client.rpcMs', 'list.entriesMax', 'list.followers', 'list.leaveShare', 'log.waitMsMax'),
    'batch.size': 500,
    'load.writersMax': 2,
  },
  arms: [
    arm('one-item', 'all followers in one entity', runOneItem, (wire) => drive(wire, oneItem)),
    arm('sub-lists', 'sub-lists of some thousands, and an index item that names them', runSubLists, (wire) =>
      drive(wire, subLists(500)),
    ),
  ],
  expectations: [
    expected('one-item: is refused at the limit of an entity, long before all are in it')
      .across('followers found', 'one-item', 'sub-lists')
      .of('one-item', 'refused for its size')
      .holds((few, all, refused) => refused === 1 && few < all / 2, '{} followers in one entity, {} in sub-lists'),
    expected('sub-lists: all followers are stored, each once')
      .of('sub-lists', 'followers', 'followers found', 'found twice')
      .holds(
        (followers, found, twice) => found === followers && twice === 0,
        'followers: {}, followers found: {}, found twice: {}',
      ),
    expected('a new follower costs a small part of the bytes in sub-lists')
      .across('written for a follower', 'one-item', 'sub-lists')
      .holds((one, many) => one > 4 * many, '{} bytes in one entity, {} in sub-lists'),
    expected('sub-lists: the old ones are compacted at the first attempt')
      .of('sub-lists', 'commits that compacted old sub-lists', 'of these, refused')
      .holds(
        (old, refused) => old > 1 && refused === 0,
        'commits that compacted old sub-lists: {}, of these, refused: {}',
      ),
    expected('sub-lists: the newest one is not, while it grows')
      .of('sub-lists', 'attempts at the newest sub-list', 'of those, refused')
      .holds((tries, refused) => refused > tries / 2, 'attempts at the newest sub-list: {}, of those, refused: {}'),
    expected('sub-lists: compacted, they are shorter, and hold those who stayed')
      .of('sub-lists', 'entries before', 'entries after', 'wrong after it')
      .holds(
        (before, after, wrong) => after < 0.9 * before && wrong === 0,
        'entries before: {}, entries after: {}, wrong after it: {}',
      ),
  ],
})
