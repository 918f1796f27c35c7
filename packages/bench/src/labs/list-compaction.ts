/** Compacting a list of changes while 16 writers append to it, by clients that are killed between two steps. */
import type { Key } from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { armsOf, defineLab, expected, type Lab, type Named } from '../lab.ts'
import { Unmeasured } from '../measure/recorder.ts'
import { mean } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { type Client, isChanged, isTransient, succeeds } from '../sim/client.ts'
import { upsert } from '../sim/entities.ts'
import type { WireSession } from '../sim/wire.ts'
import { changesOf, entryOf, followersOf } from './lists/changes.ts'
import { type CompactionWay, compactionWays, entriesOf } from './lists/compaction-ways.ts'
import { arrayPut } from './lists/removal-ways.ts'

interface Sight {
  readonly atMs: number
  readonly entries: number
  /** Entries that are in both lists. */
  readonly repeats: number
  readonly followers: number
  /** Users who follow and are not in the list. */
  readonly lost: number
  /** Users who left and are in the list. */
  readonly back: number
}

/** The knowledge of the writers about a user. */
interface Known {
  follows: boolean
  isBusy: boolean
  changes: number
}

interface CompactionOptions {
  readonly client: Client
  readonly random: Random
  readonly seconds: number
  readonly writers: number
  /** How long a writer goes by what it has read of the active list. */
  readonly rememberMs: number
  readonly compactEveryMs: number
  readonly lookEveryMs: number
  /** Pause of a writer whose append failed. */
  readonly backoffMs: number
  /** Told of each change that was appended, with its time. */
  readonly done?: (ms: number) => void
}

/**
 * A list under load: writers append to it, clients compact it and are killed, a reader looks at it all the time. A client is killed after a
 * step, never within one: a call that has left the client is answered. The reader judges users who have no change under way from before its
 * call until after it.
 */
class CompactionRun {
  readonly #options: CompactionOptions
  readonly #way: CompactionWay
  readonly #client: Client
  readonly #known = new Map<string, Known>()
  readonly #endMs: number
  #rounds = 0
  /** Compactions are refused if something came in between. */
  readonly tally = { changes: 0, compactions: 0, refused: 0, killed: 0, sights: [] as Sight[] }
  /** The sight of the lists when all writers have stopped. */
  last: Sight | undefined

  constructor(way: CompactionWay, options: CompactionOptions) {
    this.#options = options
    this.#way = way
    this.#client = options.client
    this.#endMs = options.client.nowMs() + options.seconds * 1000
  }

  /** Writers, compacting clients and the reader, each until the time is over. */
  load(): Promise<void>[] {
    return [
      ...Array.from({ length: this.#options.writers }, (_, writer) => this.#write(writer)),
      ...Array.from({ length: this.#way.clients }, () => this.#compactAgainAndAgain()),
      this.#look(),
    ]
  }

  /** Appends the script's changes one after the other; knows the active list from a while ago. */
  async #write(writer: number): Promise<void> {
    const { random, rememberMs, backoffMs, done } = this.#options
    const client = this.#client
    await client.sleep(random.next() * 100)
    let target: { readonly key: Key; readonly atMs: number } | undefined
    for (const change of changesOf(writer)) {
      const begunMs = client.nowMs()
      if (begunMs > this.#endMs) return
      const known = this.#userOf(change.user)
      known.isBusy = true
      known.changes++
      if (target === undefined || target.atMs + rememberMs < begunMs) {
        target = { key: await this.#way.target(client), atMs: client.nowMs() }
      }
      const put = arrayPut(target.key, 'log', 'appendMissing', [entryOf(change)])
      while (!(await succeeds(() => client.commit([put])))) await client.sleep(backoffMs)
      known.follows = change.follows
      known.isBusy = false
      this.tally.changes++
      done?.(client.nowMs() - begunMs)
    }
  }

  #userOf(user: string): Known {
    let known = this.#known.get(user)
    if (known === undefined) {
      known = { follows: false, isBusy: false, changes: 0 }
      this.#known.set(user, known)
    }
    return known
  }

  async #compactAgainAndAgain(): Promise<void> {
    const { random, compactEveryMs } = this.#options
    for (;;) {
      await this.#client.sleep(compactEveryMs * (0.5 + random.next()))
      if (this.#client.nowMs() > this.#endMs) return
      const isDone = await this.#compact(killings[this.#rounds++ % killings.length])
      if (isDone && this.#client.nowMs() <= this.#endMs) this.tally.compactions++
    }
  }

  /** One round. @param killedAfter - the client is killed after the first such step */
  async #compact(killedAfter: string | undefined): Promise<boolean> {
    try {
      for await (const step of this.#way.compact(this.#client)) {
        if (step !== killedAfter) continue
        this.tally.killed++
        return false
      }
      return true
    } catch (error) {
      if (!isChanged(error) && !isTransient(error)) throw error
      this.tally.refused++
      return false
    }
  }

  async #look(): Promise<void> {
    while (this.#client.nowMs() < this.#endMs) {
      this.tally.sights.push(await this.#sight())
      await this.#client.sleep(this.#options.lookEveryMs)
    }
  }

  async #sight(): Promise<Sight> {
    const before = new Map([...this.#known].map(([user, { isBusy, changes }]) => [user, isBusy ? undefined : changes]))
    const stored = await this.#client.read(this.#way.lists(this.#client))
    const all = stored.flatMap(entriesOf)
    const entries = new Set(all)
    const followers = new Set(followersOf(entries))
    let [lost, back] = [0, 0]
    for (const [user, { follows, changes }] of this.#known) {
      if (before.get(user) !== changes || follows === followers.has(user)) continue
      if (follows) lost++
      else back++
    }
    const atMs = this.#client.nowMs()
    return { atMs, entries: all.length, repeats: all.length - entries.size, followers: followers.size, lost, back }
  }

  /** The load is over: a client that is not killed finishes what was begun. */
  async settle(): Promise<void> {
    while (!(await this.#compact(undefined))) await this.#client.sleep(this.#options.compactEveryMs)
    this.last = await this.#sight()
  }
}

/** The step after which each compacting client is killed, in turn; then one is let live. */
const killings: readonly (string | undefined)[] = ['copy', 'switch', 'clear', undefined]

async function run(session: ArmSession, way: Named<CompactionWay>): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const seconds = session.setting('load.seconds')
  const compaction = new CompactionRun(way, {
    client: session.client(store),
    random: session.random,
    seconds,
    writers: session.setting('load.writersMax'),
    rememberMs: session.setting('client.rememberMs'),
    compactEveryMs: session.setting('list.compactEveryMs'),
    lookEveryMs: session.setting('probe.everyMs'),
    backoffMs: session.setting('client.backoffMs'),
  })
  await store.together(compaction.load(), (nowMs) => session.progress(Math.min(1, nowMs / (seconds * 1000))))
  await store.alone(() => compaction.settle())
  const { changes, compactions, refused, killed, sights } = compaction.tally
  const { last } = compaction
  if (last === undefined) throw new Unmeasured('the list was never looked at')
  const greatest = (of: 'entries' | 'lost' | 'back'): number => Math.max(...sights.map((sight) => sight[of]))
  record.figure('changes', changes)
  record.figure('compactions finished', compactions)
  record.figure('compactions refused', refused)
  record.figure('compacting clients killed', killed)
  record.figure('longest list', greatest('entries'), 'entries')
  record.figure('list on average', mean(sights.map(({ entries }) => entries)), 'entries')
  record.figure('list at the end', last.entries, 'entries')
  record.figure('followers at the end', last.followers)
  record.figure('reads with repeats', mean(sights.map(({ repeats }) => Number(repeats > 0))) * 100, '%')
  record.figure('longest time with repeats', longestRepeats(sights) / 1000, 's')
  record.figure('repeats at the end', last.repeats, 'entries')
  record.figure('lost at any time', greatest('lost'), 'followers')
  record.figure('lost at the end', last.lost, 'followers')
  record.figure('back at any time', greatest('back'), 'followers')
  const x = { name: 'seconds', values: sights.map(({ atMs }) => atMs / 1000) }
  record.chart('list', 'entries', x, { [way.name]: sights.map(({ entries }) => entries) })
  record.chart('repeats', 'entries', x, { [way.name]: sights.map(({ repeats }) => repeats) })
}

/** The longest time between two looks without repeats, ms. */
function longestRepeats(sights: readonly Sight[]): number {
  let [longest, cleanMs] = [0, 0]
  for (const { atMs, repeats } of sights) {
    if (repeats === 0) cleanMs = atMs
    else longest = Math.max(longest, atMs - cleanMs)
  }
  return longest
}

async function drive({ client, random, seconds, done, judged }: WireSession, way: Named<CompactionWay>): Promise<void> {
  // A run before this one may have left its lists.
  await client.commit(way.lists(client).map((key) => upsert(key, {})))
  const pauses = { rememberMs: 2000, compactEveryMs: 3000, lookEveryMs: 500, backoffMs: 50 }
  const compaction = new CompactionRun(way, { client, random, seconds, writers: 16, ...pauses, done })
  await Promise.all(compaction.load())
  await compaction.settle()
  const { last, tally } = compaction
  if (last === undefined || !whole.includes(way.name)) return
  const found = `${last.lost} followers lost, ${last.back} back that had left, ${last.repeats} repeats after ${tally.changes} changes`
  judged({ says: 'nothing is lost', holds: last.lost === 0 && last.back === 0, found })
}

const switching = ['active-pointer', 'marker', 'one-commit']
const whole = ['cas', ...switching]

export const listCompaction: Lab = defineLab({
  name: 'list-compaction',
  idea:
    'Putting a compacted list back is a conditional write, and fails like any other while the list changes. Two lists avoid ' +
    'it: writers append to one of them, and the other one, which is quiet, is emptied into it. Copied first and cleared after, ' +
    'nothing can be lost, only be there twice until the next client has gone on.',
  settings: {
    ...serverSettings,
    ...defaultsOf('client.rpcMs', 'client.backoffMs', 'client.rememberMs', 'list.compactEveryMs'),
    'load.seconds': 120,
    'load.writersMax': 16,
    'probe.everyMs': 500,
    'log.waitMsMax': 60_000,
  },
  arms: armsOf(compactionWays, run, drive),
  expectations: [
    expected('cas: compactions fail like removals do while the list changes')
      .of('cas', 'compactions finished', 'compactions refused')
      .holds((done, refused) => done * 5 < refused, '{} got through, {} were refused'),
    ...switching.map((name) =>
      // One spell of killed clients makes the longest list, however long the load; the average tells growth from chance.
      expected(`${name}: compacts under load`)
        .across('list on average', 'cas', name)
        .of(name, 'compactions finished')
        .holds(
          (long, short) => short < 0.6 * long,
          '{3} compactions finished; {2} entries in the list on average, {1} with cas',
        ),
    ),
    ...['active-pointer', 'marker'].flatMap((name) => [
      expected(`${name}: a killed client leaves repeats`).figure('reads with repeats').above(0),
      expected(`${name}: repeats settle in seconds`)
        .of(name, 'longest time with repeats', 'repeats at the end')
        .holds((longest, last) => longest < 15 && last === 0, 'at most {} s; {} when all is quiet'),
    ]),
    expected('one-commit: there is never a repeat').figure('reads with repeats').is(0),
    ...whole.map((name) =>
      expected(`${name}: nothing is lost, and nothing comes back`)
        .of(name, 'lost at any time', 'back at any time', 'lost at the end')
        .holds(
          (lost, back, atEnd) => lost === 0 && back === 0 && atEnd === 0,
          'at most {} followers lost and {} back in any read, {} lost at the end',
        ),
    ),
    expected('clear-first: a killed client loses followers').figure('lost at the end').above(0),
  ],
})
