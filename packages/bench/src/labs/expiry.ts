/**
 * Entities that expire, and a sweeper that finds them by an index and deletes them.
 *
 *   indexed       2026-01-01T00:05                 the head of the index is where the last sweep deleted
 *   sharded       3|2026-01-01T00:05               the same at the head of every shard
 *   generations   0007|3|2026-01-01T00:05          swept once, two generations later, and not read again
 */
import type { Key, Mutation, Query } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { allOf, ascending, type Put, text, unindexed, upsert, where } from '../sim/entities.ts'
import { recordFindings } from '../sim/findings.ts'
import { hashOf } from '../sim/keys.ts'
import { openLoop } from '../sim/open-loop.ts'
import { type Scanned, scanned } from '../sim/query-run.ts'
import type { Store } from '../sim/store.ts'

const kind = 'Session'
const property = 'expires'
/** Number of entities that a sweep deletes in one commit, and finds with one query. */
const atOnce = 200

interface Live {
  readonly n: number
  expiresMs: number
}

/** A way to index expiry times, and where a sweep looks. */
interface Scheme {
  /** The indexed value of an entity that expires then. */
  value(entity: Live, sweep: Moment): string
  /** Ranges that a sweep reads, each by queries of its own: from a value on, below another. */
  ranges(sweep: Moment): readonly (readonly [from: string, below: string])[]
  /** Whether a sweep moves what it finds and has not expired to the generation of now. */
  readonly moves?: boolean
}

interface Moment {
  readonly nowMs: number
  readonly lastSweepMs: number
  readonly generation: number
  /** Whether this is the first sweep of the generation. */
  readonly isFirst: boolean
  readonly shards: number
}

const timeOf = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
const generationOf = (generation: number): string => `${generation}`.padStart(4, '0')
const shardOf = (n: number, shards: number): number => Number.parseInt(hashOf(`${n}`).slice(0, 6), 16) % shards
const eachShard = <T>(shards: number, of: (shard: number) => T): T[] => Array.from({ length: shards }, (_, i) => of(i))

/** A generation rests while the next one is written. */
const restsFor = 2

const schemes: Ways<Scheme> = {
  indexed: {
    about: 'the expiry time is indexed',
    value: ({ expiresMs }) => timeOf(expiresMs),
    ranges: ({ nowMs }) => [['', timeOf(nowMs)]],
  },
  remembered: {
    about: 'the same; a sweep begins at the time of the last one',
    value: ({ expiresMs }) => timeOf(expiresMs),
    ranges: ({ nowMs, lastSweepMs }) => [[timeOf(lastSweepMs), timeOf(nowMs)]],
  },
  sharded: {
    about: 'a shard, then the expiry time; a query for each shard',
    value: ({ n, expiresMs }, { shards }) => `${shardOf(n, shards)}|${timeOf(expiresMs)}`,
    ranges: ({ nowMs, shards }) => eachShard(shards, (shard) => [`${shard}|`, `${shard}|${timeOf(nowMs)}`] as const),
  },
  generations: {
    about: 'a generation, a shard, then the expiry time; an old generation is swept once',
    value: ({ n, expiresMs }, { shards, generation }) =>
      `${generationOf(generation)}|${shardOf(n, shards)}|${timeOf(expiresMs)}`,
    ranges: ({ generation, isFirst, shards }) => {
      if (!isFirst || generation < restsFor) return []
      const old = generationOf(generation - restsFor)
      return eachShard(shards, (shard) => [`${old}|${shard}|`, `${old}|${shard}}`] as const)
    },
    moves: true,
  },
}

function pageOf(store: Store, [from, below]: readonly [string, string], cursor: Uint8Array | undefined): Query {
  return store.query(kind, {
    projection: ['__key__'],
    filter: allOf(where(property, 'greaterThanOrEqual', text(from)), where(property, 'lessThan', text(below))),
    order: [ascending(property)],
    limit: atOnce,
    startCursor: cursor,
  })
}

function keyOf(place: Pick<Store, 'key'>, n: number): Key {
  return place.key({ kind, name: `${hashOf(`session ${n}`)}-${n}` })
}

function putOf(place: Pick<Store, 'key'>, { n }: Live, value: string): Put {
  return upsert(keyOf(place, n), { [property]: text(value), user: unindexed(text(`user ${n}`)) })
}

/** The entities of an arm: what its clients know of them, and what they do. */
class Sessions {
  readonly live = new Map<number, Live>()
  made = 0
  moved = 0
  longestKeptMs = 0
  readonly #store: Store
  readonly #scheme: Scheme
  readonly #random: ArmSession['random']

  constructor(store: Store, scheme: Scheme, random: ArmSession['random']) {
    this.#store = store
    this.#scheme = scheme
    this.#random = random
  }

  async #write(entities: readonly Live[], moment: Moment, deletes: readonly Mutation[] = []): Promise<void> {
    const mutations = entities.map((entity) => putOf(this.#store, entity, this.#scheme.value(entity, moment)))
    if (mutations.length + deletes.length === 0) return
    await this.#store.put([...mutations, ...deletes])
  }

  /** New entities, and some that end before their time. */
  async goOn(count: number, options: { readonly afterMs: number; readonly endedShare: number }, moment: Moment) {
    const changed: Live[] = []
    for (let i = 0; i < count; i++) {
      const n = this.made++
      const entity = { n, expiresMs: moment.nowMs + options.afterMs * (0.5 + this.#random.next()) }
      this.live.set(n, entity)
      changed.push(entity)
    }
    for (const entity of this.live.values()) {
      // Each lives for about so many steps, so that this share of all ends early.
      if (this.#random.next() * options.afterMs >= options.endedShare * stepMs) continue
      if (entity.expiresMs < moment.nowMs || changed.includes(entity)) continue
      // The user has left: the session was over when it was last used, some minutes ago.
      entity.expiresMs = moment.nowMs - 2 * 60_000
      changed.push(entity)
    }
    await this.#write(changed, moment)
  }

  /** Deletes what has expired of what is found in a range; moves the rest, if the scheme does. */
  async sweep(range: readonly [string, string], moment: Moment): Promise<Scanned> {
    const pages: Scanned[] = []
    let found: readonly number[] | undefined
    let cursor: Uint8Array | undefined
    while (found === undefined || found.length === atOnce) {
      const query = pageOf(this.#store, range, cursor)
      const page = await scanned(this.#store, async () => {
        const { results, endCursor } = await this.#store.database.runQuery(this.#store.context(), { query })
        found = results.map(({ key }) => Number(key.path[0]?.name?.split('-')[1]))
        cursor = endCursor
      })
      pages.push(page)
      await this.#settle(found ?? [], moment)
    }
    return together(pages)
  }

  async #settle(found: readonly number[], moment: Moment): Promise<void> {
    const kept: Live[] = []
    const deletes: Mutation[] = []
    for (const n of found) {
      const entity = this.live.get(n)
      if (entity === undefined) throw new Error(`the sweep found ${n}, which was deleted before`)
      if (this.#scheme.moves === true && entity.expiresMs >= moment.nowMs) {
        kept.push(entity)
        continue
      }
      if (entity.expiresMs >= moment.nowMs) throw new Error(`the sweep found ${n}, which has not expired`)
      this.longestKeptMs = Math.max(this.longestKeptMs, moment.nowMs - entity.expiresMs)
      this.live.delete(n)
      deletes.push({ operation: 'delete', key: keyOf(this.#store, n) })
    }
    this.moved += kept.length
    await this.#write(kept, moment, deletes)
  }
}

/** Reads one after the other; `ms` is that of the longest. */
function together(parts: readonly Scanned[]): Scanned {
  return {
    rows: sum(parts.map(({ rows }) => rows)),
    tombstones: sum(parts.map(({ tombstones }) => tombstones)),
    ms: Math.max(0, ...parts.map(({ ms }) => ms)),
  }
}

/** New entities come in batches, ten a minute: what is measured are the sweeps. */
const stepMs = 6000

async function run(session: ArmSession, scheme: Scheme): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const sessions = new Sessions(store, scheme, session.random)
  const minutes = session.setting('load.minutes')
  const perStep = Math.max(1, Math.round((session.setting('expiry.perMinute') * stepMs) / 60_000))
  const sweepMs = session.setting('expiry.sweepMinutes') * 60_000
  const generationMs = session.setting('expiry.generationMinutes') * 60_000
  const options = {
    afterMs: session.setting('expiry.afterMinutes') * 60_000,
    endedShare: session.setting('expiry.endedShare'),
  }
  let [lastSweepMs, lastGeneration] = [0, -1]
  const moment = (): Moment => {
    const generation = Math.floor(store.nowMs / generationMs)
    const isFirst = generation !== lastGeneration
    return { nowMs: store.nowMs, lastSweepMs, generation, isFirst, shards: session.setting('expiry.shards') }
  }
  const sweeps: (Scanned & { readonly minute: number; readonly worstQuery: number })[] = []
  await store.alone(async () => {
    for (let step = 1; step * stepMs <= minutes * 60_000; step++) {
      await store.sleep(Math.max(0, step * stepMs - store.nowMs))
      await sessions.goOn(perStep, options, moment())
      if (store.nowMs - lastSweepMs < sweepMs) continue
      const now = moment()
      const parts: Scanned[] = []
      for (const range of scheme.ranges(now)) parts.push(await sessions.sweep(range, now))
      lastSweepMs = now.nowMs
      lastGeneration = now.generation
      const worstQuery = Math.max(0, ...parts.map(({ tombstones }) => tombstones))
      sweeps.push({ minute: now.nowMs / 60_000, ...together(parts), worstQuery })
      session.progress((step * stepMs) / (minutes * 60_000))
    }
  })
  const rows = sum(sweeps.map((sweep) => sweep.rows))
  const left = [...sessions.live.values()].map(({ expiresMs }) => store.nowMs - expiresMs)
  const longest = Math.max(sessions.longestKeptMs, ...left)
  record.figure('entities', sessions.made)
  record.figure('rows found', rows)
  record.figure(perRow, sum(sweeps.map((sweep) => sweep.tombstones)) / Math.max(1, rows), 'per row found')
  record.figure('worst query steps over', Math.max(...sweeps.map(({ worstQuery }) => worstQuery)), 'deleted rows')
  record.figure('worst query takes', Math.max(...sweeps.map(({ ms }) => ms)), 'ms')
  record.figure('entities written again', sessions.moved)
  record.figure(kept, longest / 60_000, 'minutes')
  record.figure('a generation', generationMs / 60_000, 'minutes')
  const x = { name: 'minutes', values: sweeps.map(({ minute }) => minute) }
  const lines = { found: sweeps.map((sweep) => sweep.rows), deleted: sweeps.map((sweep) => sweep.tombstones) }
  record.chart('what a sweep reads', 'rows', x, lines)
  recordFindings(record, store, 'scan-over-tombstones')
}

const perRow = 'deleted rows stepped over'
const kept = 'kept longest after expiry'

export const expiry: Lab = defineLab({
  name: 'expiry',
  idea:
    'The index by expiry time begins with what expired first: exactly where every sweep deletes, and where the next one begins. ' +
    'Shards cut this heap of tombstones into pieces. A generation number in front moves on from it: a sweep reads an old ' +
    'generation once, moves what is still alive to the new one, and no query comes back.',
  settings: {
    ...serverSettings,
    ...defaultsOf('expiry.perMinute', 'expiry.afterMinutes', 'expiry.sweepMinutes'),
    ...defaultsOf('expiry.generationMinutes', 'expiry.shards', 'expiry.endedShare'),
    'load.minutes': 20,
  },
  arms: armsOf(schemes, run, (wire, scheme) =>
    openLoop(wire, (n) => {
      const nowMs = wire.client.nowMs()
      const moment = { nowMs, lastSweepMs: 0, generation: Math.floor(nowMs / 240_000), isFirst: false, shards: 8 }
      const entity = { n, expiresMs: nowMs + 300_000 }
      return putOf(wire.client, entity, scheme.value(entity, moment))
    }),
  ),
  expectations: [
    expected('indexed: a sweep goes over more deleted rows than it finds rows').figure(perRow).above(2),
    expected('indexed: the engine warns of it').figure('findings of the engine').above(0),
    expected('sharded: there are as many deleted rows, but each query meets a small part of them')
      .across(perRow, 'indexed', 'sharded')
      .across('worst query steps over', 'indexed', 'sharded')
      .holds(
        (plain, shards, worst, worstOfShards) => shards > plain / 2 && shards < plain * 2 && worstOfShards * 4 < worst,
        '{} and {} a row found; the worst query: {} and {}',
      ),
    ...['remembered', 'generations'].map((name) =>
      expected(`${name}: a sweep meets hardly any deleted rows`)
        .of(name, 'rows found', perRow)
        .holds((found, each) => found > 0 && each < 0.1, '{2} for each of {1} rows found'),
    ),
    expected('remembered: what is moved to a time in the past is never found')
      .across(kept, 'indexed', 'remembered')
      .holds((plain, remembered) => remembered > 4 * plain, 'kept for up to {} and {} minutes'),
    expected('generations: what is alive is written again, and what has expired is kept longer')
      .of('generations', 'entities written again')
      .across(kept, 'indexed', 'generations')
      .holds(
        (again, plain, generations) => again > 0 && generations > 1.5 * plain,
        '{} written again; kept for up to {} and {} minutes',
      ),
    expected('generations: nothing is kept for longer than three generations')
      .of('generations', kept, 'a generation')
      .holds((longest, generation) => longest < 3 * generation, '{} minutes, a generation of {} minutes'),
  ],
})
