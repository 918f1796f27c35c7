/**
 * Plays a recording on virtual time against simulated tablets, at a multiple of its rate.
 *
 *   recording ── timeline: again and again ──▶ slots ── samples, each a flow of rate × times ──▶ engine ──▶ heat, refusals, findings
 *
 * A recording of 100 calls a second at `times` 10 offers 1,000 a second, however few calls are really run: their weights add up.
 * Calls keep the order of the recording, and a pass continues where the one before ended (passes.ts). The only randomness is the session's:
 * the same seed and recording give the same result.
 */
import type { Key } from '@sixtables/engine'
import type { ArmSession } from '../session.ts'
import { defaultsOf, type SettingValues, tabletSettingValues } from '../settings.ts'
import { succeeds } from '../sim/client.ts'
import { wordsOfPath } from '../sim/keys.ts'
import { type Load, offer } from '../sim/load.ts'
import { type Ramp, rampedOpsPerSecond, rampOfSettings } from '../sim/ramp.ts'
import type { Store } from '../sim/store.ts'
import { CallOutcomes } from './call-outcomes.ts'
import { type FindingsSeen, findingLines, noteFindings, notPlayedLines, passLines } from './notes.ts'
import { Passes } from './passes.ts'
import { isPlayed, Player } from './played-call.ts'
import type { RecordedCall, Recording } from './read-recording.ts'
import { Timeline } from './timeline.ts'

export const replaySettings: SettingValues = {
  ...tabletSettingValues,
  ...defaultsOf('replay.times', 'load.slotMs', 'load.samples', 'load.minutes'),
  ...defaultsOf('ramp.startOpsPerSecond', 'ramp.growthPercent', 'ramp.everyMinutes'),
}

/** @param isRamped - whether the load starts at 500 calls a second and grows by half every five minutes to the full rate */
export async function replay(session: ArmSession, recording: Recording, isRamped: boolean): Promise<void> {
  const { record } = session
  const calls = recording.calls.filter(isPlayed)
  if (calls.length === 0) throw new Error('the recording has no call that reads or writes entities')
  const passes = new Passes(calls)
  const recorded = await playedOnce(session, calls, passes)
  const store = await session.open({ simulate: true })
  const player = new Player(store, session.random)
  await store.alone(() => fill(store, player, calls, passes))
  const timeline = new Timeline(calls)
  const [outcomes, findings]: [CallOutcomes, FindingsSeen] = [new CallOutcomes(), new Map()]
  const played: Played = { store, player, timeline, passes, isRamped, outcomes, findings }
  const load = loadOf(session, played)
  const watch = await offer(session, store, load, watchedTables, Math.max(15, session.setting('load.slotMs') / 1000))

  const settled = watch.settled(settledShare * session.setting('load.minutes') * 60)
  record.figure('recorded calls', recording.calls.length, '')
  record.figure('not played', recording.calls.length - calls.length + recording.lost, '')
  record.figure('recorded', timeline.perSecond, '/s')
  // The last part of the load may have more busy seconds than the mean: its share of the total is compared with what is offered on average.
  const offered = timeline.perSecond * session.setting('replay.times')
  const refusedShare = settled.refused / (settled.offered || 1)
  record.figure('offered', offered, '/s')
  record.figure('served', (1 - refusedShare) * offered, '/s')
  record.figure('refused at the full rate', refusedShare * 100, '%')
  record.figure('refused of all', watch.refusedShare() * 100, '%')
  record.figure('p50', settled.p50Ms, 'ms')
  record.figure('p99', settled.p99Ms, 'ms')
  for (const table of watchedTables) {
    const { tablets, busiestShare } = watch.tableAt(table)
    record.figure(`${table}: tablets`, tablets, '')
    record.figure(`${table}: busiest`, busiestShare * 100, '% of the load')
  }
  record.text('findings', findingLines(recorded, findings))
  record.text('refused', outcomes.refusedLines())
  record.text('further passes', passLines(passes, (load.seconds * 1000) / timeline.lengthMs))
  const unplayed = notPlayedLines(recording)
  if (unplayed.length > 0) record.text('not played', unplayed)
  const failed = outcomes.failedLines()
  if (failed.length > 0) record.text('failed otherwise', failed)
  watch.draw(
    record,
    watchedTables.filter((table) => table === 'Entities' || watch.tableAt(table).total > 0),
  )
}

const watchedTables = ['Entities', 'EntitiesByPropertyAsc'] as const
/** The part of the time at full rate, at its end, over which means are taken. */
const settledShare = 0.25

interface Played {
  readonly store: Store
  readonly player: Player
  readonly timeline: Timeline
  readonly passes: Passes
  readonly isRamped: boolean
  readonly outcomes: CallOutcomes
  readonly findings: FindingsSeen
}

/** Pause between two reports of findings: under overload the engine sees less of a hot key than before. */
const findingsEveryMs = 60_000

function loadOf(session: ArmSession, played: Played): Load {
  const { store, player, timeline, passes, isRamped, outcomes, findings } = played
  const slotMs = session.setting('load.slotMs')
  const times = session.setting('replay.times')
  const full = timeline.perSecond * times
  const ramp = rampOfSettings(session)
  const shareAt = (seconds: number): number => (isRamped ? Math.min(1, rampedOpsPerSecond(ramp, seconds) / full) : 1)
  const slotOf = (ms: number): number => Math.floor(ms / slotMs) * slotMs
  const begunMs = store.nowMs
  let lookedAtMs = begunMs
  const look = (): void => {
    if (store.nowMs < lookedAtMs + findingsEveryMs) return
    lookedAtMs = store.nowMs
    noteFindings(store, findings)
  }
  return {
    isInOrder: true,
    seconds: (isRamped ? rampSeconds(ramp, full) : 0) + session.setting('load.minutes') * 60,
    opsPerSecondAt: (seconds) => {
      const from = slotOf(seconds * 1000)
      return (timeline.count(from, from + slotMs) * 1000 * times * shareAt(seconds)) / slotMs
    },
    next: (_n, share) => {
      look()
      const from = slotOf(store.nowMs - begunMs)
      const turn = timeline.at(from, from + slotMs, share)
      return {
        work: async (context) => {
          if (turn === undefined) return
          const call = passes.at(turn.call, turn.pass)
          const asked = context()
          await outcomes.noted(call, asked.weight, () => player.play(call, asked))
        },
      }
    },
  }
}

function rampSeconds({ startOpsPerSecond, growthPercent, everyMinutes }: Ramp, full: number): number {
  const steps = Math.ceil(Math.log(full / startOpsPerSecond) / Math.log(1 + growthPercent / 100))
  return Math.max(0, steps) * everyMinutes * 60
}

/** Maximum number of calls that are played for the recording's own findings. */
const playedOnceMax = 20_000

/** The findings of the recording itself: its calls played once at their own rate. */
async function playedOnce(session: ArmSession, calls: readonly RecordedCall[], passes: Passes): Promise<FindingsSeen> {
  const store = await session.open({ simulate: true })
  const player = new Player(store, session.random)
  const findings: FindingsSeen = new Map()
  const outcomes = new CallOutcomes()
  await store.alone(() => fill(store, player, calls, passes))
  const begunMs = store.nowMs - (calls[0]?.ms ?? 0)
  await store.alone(async () => {
    for (const call of calls.slice(0, playedOnceMax)) {
      await store.sleep(Math.max(0, begunMs + call.ms - store.nowMs))
      await succeeds(() => outcomes.noted(call, 1, () => player.play(call, store.context())))
    }
  })
  noteFindings(store, findings)
  await session.close()
  return findings
}

/** Maximum number of keys that are filled before the replay. */
const filledMax = 20_000
const fillSize = 500
/** Pause between two such commits, long enough for one server. */
const fillPauseMs = 500

/** Stores the entities that are read, updated or deleted and that the recording does not write: they existed before it. */
async function fill(store: Store, player: Player, calls: readonly RecordedCall[], passes: Passes): Promise<void> {
  const databases = new Map<string, Map<string, Key>>()
  let filled = 0
  for (const { keys, mutations } of calls) {
    const updated = mutations.filter(({ operation }) => operation === 'update' || operation === 'delete')
    for (const key of [...keys, ...updated.map((one) => one.key)]) {
      const { projectId, databaseId, namespaceId } = key.partition
      const database = JSON.stringify([projectId, databaseId])
      const found = databases.get(database) ?? new Map<string, Key>()
      databases.set(database, found)
      const words = `${namespaceId} ${wordsOfPath(key.path)}`
      if (filled >= filledMax || found.has(words) || passes.isWritten(key)) continue
      found.set(words, key)
      filled++
    }
  }
  for (const keys of databases.values()) {
    const all = [...keys.values()]
    for (let from = 0; from < all.length; from += fillSize) {
      await player.fill(all.slice(from, from + fillSize))
      await store.sleep(fillPauseMs)
    }
  }
}
