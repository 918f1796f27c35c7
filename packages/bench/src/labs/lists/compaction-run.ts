/**
 * A list under load: writers append to it, clients compact it and are killed, a reader looks at it all the time.
 *
 * CN1  A client is killed after a step, never within one: a call that has left the client is answered. In turn after each kind
 *      of step; then one is let live.
 * - The reader judges users who have no change under way from before its call until after it.
 */
import type { Key } from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { type Client, isChanged, isTransient, succeeds } from '../../sim/client.ts'
import { changesOf, entryOf, followersOf } from './changes.ts'
import { type CompactionWay, entriesOf } from './compaction-ways.ts'
import { arrayPut } from './removal-ways.ts'

export interface Sight {
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

export interface CompactionTally {
  changes: number
  compactions: number
  /** Compactions that ended because something came in between. */
  refused: number
  killed: number
  readonly sights: Sight[]
  /** The lists at the end, when all writers have stopped. */
  last: Sight | undefined
}

/** The knowledge of the writers about a user. */
interface Known {
  follows: boolean
  isBusy: boolean
  changes: number
}

export interface CompactionOptions {
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

export class CompactionRun {
  readonly #options: CompactionOptions
  readonly #way: CompactionWay
  readonly #client: Client
  readonly #known = new Map<string, Known>()
  readonly #endMs: number
  #rounds = 0
  readonly tally: CompactionTally = { changes: 0, compactions: 0, refused: 0, killed: 0, sights: [], last: undefined }

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
    this.tally.last = await this.#sight()
  }
}

/** CN1. */
const killings: readonly (string | undefined)[] = ['copy', 'switch', 'clear', undefined]
