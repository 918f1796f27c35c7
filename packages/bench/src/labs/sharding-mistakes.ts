/**
 * Ways to shard what is written hotly, and how the tablets bear a new time prefix or a quiet night.
 *
 *   time-prefix    period-1-7f3a, period-2-7f3a    a new period begins in a range that has never been split
 *   time-gradual   the same, but the new period takes over step by step
 *   hot-only       shards of a few hot pages       few rows: what is cold and small is merged
 *   all-sharded    shards of all pages             many rows: they stay apart by their size
 */
import type { Key } from '@sixtables/engine'
import { armsOf, defineLab, type Expectation, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { integer, type Put, unindexed, upsert } from '../sim/entities.ts'
import { nameAt } from '../sim/keys.ts'
import { type Load, offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampedOpsPerSecond, rampOf, rampOfSettings, rampSettings } from '../sim/ramp.ts'

const kind = 'Visits'

/** Shards of all pages together; of the hot ones in the arm that shards only these. */
const shards = 65_536
const hotPages = 4
const shardsOfHotPage = 16
/** Share of the operations that are for pages which are not hot, and their number. */
const coldShare = 0.02
const coldPages = 1000

interface Draw {
  readonly share: number
  readonly random: () => number
  readonly seconds: number
  readonly periodSeconds: number
  /** Part of the operations that a new period has taken over by then, 0 to 1. */
  movedAt(secondsInPeriod: number): number
}

interface Scheme {
  /** Whether the load is quiet for a while; else it goes on, and periods change. */
  readonly hasLull: boolean
  nameOf(draw: Draw): string
}

const evenly = (share: number): string => nameAt(Math.floor(share * shards) / shards)

const schemes: Ways<Scheme> = {
  'time-prefix': {
    about: 'a period, then the shard; every write goes to the new period at once',
    hasLull: false,
    nameOf: ({ share, seconds, periodSeconds }) => `period-${Math.floor(seconds / periodSeconds)}-${evenly(share)}`,
  },
  'time-gradual': {
    about: 'the same; a new period takes over step by step',
    hasLull: false,
    nameOf: ({ share, random, seconds, periodSeconds, movedAt }) => {
      const period = Math.floor(seconds / periodSeconds)
      const isMoved = period === 0 || random() < movedAt(seconds % periodSeconds)
      return `period-${isMoved ? period : period - 1}-${evenly(share)}`
    },
  },
  'hot-only': {
    about: 'the shards of four hot pages; the other pages are not sharded',
    hasLull: true,
    nameOf: ({ share, random }) => {
      if (random() < coldShare) return `page-${Math.floor(share * coldPages)}`
      const shard = Math.floor(share * hotPages * shardsOfHotPage)
      return `hot-${Math.floor(shard / shardsOfHotPage)}-${(shard % shardsOfHotPage).toString(16)}`
    },
  },
  'all-sharded': {
    about: 'the shards of all pages, behind a hash',
    hasLull: true,
    nameOf: ({ share }) => evenly(share),
  },
}

const put = (key: Key): Put => upsert(key, { visits: unindexed(integer(1)) })

/** So long after a change, what is refused is counted. */
const afterSeconds = 180

async function run(session: ArmSession, scheme: Scheme): Promise<void> {
  const { record, random } = session
  const store = await session.open({ simulate: true })
  const periodSeconds = session.setting('shards.periodMinutes') * 60
  const ramp = rampOfSettings(session)
  const next: Load['next'] = (_n, share) => {
    const seconds = store.nowMs / 1000
    const movedAt = (at: number): number => rampedOpsPerSecond(ramp, at) / full
    const draw = { share, random: () => random.next(), seconds, periodSeconds, movedAt }
    return { put: put(store.key({ kind, name: scheme.nameOf(draw) })) }
  }
  const ramped = rampOf(session, next)
  const full = ramped.opsPerSecondAt(ramped.seconds)
  const load = scheme.hasLull ? withLull(session, ramped, full) : held(ramped, full, 2 * periodSeconds + backSeconds)
  const changes = scheme.hasLull ? [load.seconds - backSeconds] : [periodSeconds, 2 * periodSeconds]
  const watch = await offer(session, store, load, ['Entities'])

  const atFull = watch.tableAt('Entities', ramped.seconds + heldSeconds)
  const atChange = watch.tableAt('Entities', changes.at(-1) ?? 0)
  const after = changes.map((at) => watch.busiestShare('Entities', at, at + afterSeconds))
  const refused = changes.map((at) => watch.refusedShare(at, at + afterSeconds))
  record.figure('full traffic', full, '/s')
  record.figure('tablets at full traffic', atFull.tablets)
  record.figure('tablets at the last change', atChange.tablets)
  record.figure('hottest tablet before', atFull.busiestShare * 100, '% of the load')
  record.figure('hottest tablet after, least', Math.min(...after) * 100, '% of the load')
  record.figure('hottest tablet after, most', Math.max(...after) * 100, '% of the load')
  record.figure('refused before', watch.refusedShare(0, changes[0]) * 100, '%')
  record.figure('refused after, least', Math.min(...refused) * 100, '%')
  record.figure('refused after, most', Math.max(...refused) * 100, '%')
  watch.draw(record, ['Entities'])
}

/** Full traffic before a lull, and after it. */
const heldSeconds = 300
const backSeconds = 300

function held(ramped: Load, full: number, seconds: number): Load {
  return { ...ramped, seconds, opsPerSecondAt: (at) => (at < ramped.seconds ? ramped.opsPerSecondAt(at) : full) }
}

function withLull(session: ArmSession, ramped: Load, full: number): Load {
  const from = ramped.seconds + heldSeconds
  const until = from + session.setting('lull.minutes') * 60
  const day = held(ramped, full, until + backSeconds)
  const lull = session.setting('lull.opsPerSecond')
  return { ...day, opsPerSecondAt: (at) => (at >= from && at < until ? lull : day.opsPerSecondAt(at)) }
}

/** Tablets at full traffic and after the quiet time, and what is refused when the traffic is back, percent. */
function overNight(
  says: string,
  arm: string,
  holds: (full: number, left: number, refused: number) => boolean,
): Expectation {
  return expected(says)
    .of(arm, 'tablets at full traffic', 'tablets at the last change', 'refused after, most')
    .holds(holds, '{} tablets, then {}; {} % refused')
}

export const shardingMistakes: Lab = defineLab({
  name: 'sharding-mistakes',
  idea:
    'Splits belong to key ranges. A new time prefix is a range without splits, however well the shards behind it are spread: ' +
    'it begins in one tablet, again and again. And neighbours that are cold and small are merged: what has few rows is one tablet ' +
    'again after every quiet night, what has many rows stays apart by its size.',
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    ...defaultsOf('shards.periodMinutes', 'lull.minutes', 'lull.opsPerSecond'),
    'ramp.startOpsPerSecond': 2000,
    'ramp.minutes': 25,
    'load.slotMs': 15_000,
    'load.samples': 24,
    'tablet.samplesMin': 16,
  },
  arms: armsOf(schemes, run, (wire, scheme) => {
    const begun = wire.client.nowMs()
    const periodSeconds = wire.seconds / 2
    return openLoop(wire, () => {
      const draw = {
        share: wire.random.next(),
        random: () => wire.random.next(),
        seconds: (wire.client.nowMs() - begun) / 1000,
        periodSeconds,
        movedAt: (at: number) => Math.min(1, at / periodSeconds),
      }
      return put(wire.client.key({ kind, name: scheme.nameOf(draw) }))
    })
  }),
  expectations: [
    expected('time-prefix: a new period begins in one range that was never split, and is refused in part, each time')
      .of('time-prefix', 'refused after, least')
      .holds((least) => least > 25, 'at least {} % refused in the three minutes after each change'),
    expected('time-prefix: one tablet has several times the load of the hottest one before')
      .of('time-prefix', 'hottest tablet before', 'hottest tablet after, least')
      .holds((before, after) => after > 2.5 * before, '{} % before, at least {} % after'),
    expected('time-gradual: a period that takes over step by step is served')
      .of('time-gradual', 'refused after, most')
      .holds((most) => most < 5, 'at most {} % refused'),
    overNight(
      'hot-only: its tablets are merged in the quiet time, and the next day begins with refusals',
      'hot-only',
      (full, left, refused) => left * 2 < full && refused > 5,
    ),
    overNight(
      'all-sharded: its tablets stay apart, and the next day is served at once',
      'all-sharded',
      (full, left, refused) => left > 0.6 * full && refused < 1,
    ),
  ],
})
