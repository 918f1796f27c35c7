/**
 * Plays a recording on virtual time against simulated tablets, at a multiple of its rate.
 *
 *   recording ── timeline: again and again ──▶ slots ── samples, each a flow of rate × times ──▶ engine ──▶ heat, refusals, findings
 *
 * RY1  What is offered in a slot is the number of its recorded calls times the multiple, whatever the number of samples (load/LD1).
 * RY2  A replay draws from the session's chance alone: the same seed and recording give the same result.
 */
import { DatastoreError, type Finding, type TableId } from '@sixtables/engine'
import type { ArmSession } from '../session.ts'
import { defaultsOf, type SettingValues, tabletSettingValues } from '../settings.ts'
import { isTransient } from '../sim/client.ts'
import { type Load, offer } from '../sim/load.ts'
import { type Ramp, rampedOpsPerSecond } from '../sim/ramp.ts'
import type { Store } from '../sim/store.ts'
import { Watch } from '../sim/watch.ts'
import { isPlayed, Player } from './played-call.ts'
import type { RecordedCall, RecordedKey, Recording } from './read-recording.ts'
import { Timeline } from './timeline.ts'

export const replaySettings: SettingValues = {
  ...tabletSettingValues,
  ...defaultsOf('replay.times', 'load.slotMs', 'load.samples', 'load.minutes'),
  ...defaultsOf('ramp.startOpsPerSecond', 'ramp.growthPercent', 'ramp.everyMinutes'),
}

/** @param isRamped - the rate grows from 500 calls a second by half every five minutes, before the time at full rate */
export async function replay(session: ArmSession, recording: Recording, isRamped: boolean): Promise<void> {
  const { record } = session
  const calls = recording.calls.filter(isPlayed)
  if (calls.length === 0) throw new Error('the recording has no call that reads or writes entities')
  const store = await session.open({ simulate: true })
  const player = new Player(store, session.random)
  await store.together([fill(store, player, calls)])
  const timeline = new Timeline(calls)
  const [failures, findings] = [new Map<string, number>(), new Map<string, Finding>()]
  const load = loadOf(session, { store, player, timeline, isRamped, failures, findings })
  const watch = new Watch(watchedTables, Math.max(15, session.setting('load.slotMs') / 1000))
  await offer(session, store, load, watch)

  const settled = watch.settled(settledShare * session.setting('load.minutes') * 60)
  record.figure('recorded calls', recording.calls.length, '')
  record.figure('not played', recording.calls.length - calls.length + recording.lost, '')
  record.figure('recorded', timeline.perSecond, '/s')
  // A recording has busy seconds and idle ones, which the end of the load may have more of: of what is offered on the whole, as large a part.
  const offered = timeline.perSecond * session.setting('replay.times')
  const [served, refused] = [settled.served, settled.refused].map((rate) => (rate / (settled.offered || 1)) * offered)
  record.figure('offered', offered, '/s')
  record.figure('served', served ?? 0, '/s')
  record.figure('refused', refused ?? 0, '/s')
  record.figure('refused of all', watch.refusedShare() * 100, '%')
  record.figure('p50', settled.p50Ms, 'ms')
  record.figure('p99', settled.p99Ms, 'ms')
  for (const table of ['Entities', 'EntitiesByPropertyAsc'] as const) {
    const { tablets, busiestShare } = watch.tableAtEnd(table)
    record.figure(`${table}: tablets`, tablets, '')
    record.figure(`${table}: busiest`, busiestShare * 100, '% of the load')
  }
  record.text('findings', findingLines([...findings.values()]))
  if (failures.size > 0) record.text('failed otherwise', failureLines(failures))
  watch.drawHeat(record, store, 'Entities')
  if (watch.tableAtEnd('EntitiesByPropertyAsc').total > 0) watch.drawHeat(record, store, 'EntitiesByPropertyAsc')
  watch.draw(record)
}

const watchedTables: readonly TableId[] = ['Entities', 'EntitiesByPropertyAsc']
/** The end of the time at full rate, over which means are taken. */
const settledShare = 0.25

interface Played {
  readonly store: Store
  readonly player: Player
  readonly timeline: Timeline
  readonly isRamped: boolean
  /** Failed calls by message, for reasons other than load. */
  readonly failures: Map<string, number>
  /** By kind and subject: the findings that the engine had at some time. */
  readonly findings: Map<string, Finding>
}

/** Between two looks at the findings: under overload the engine sees less of a hot key than before. */
const findingsEveryMs = 60_000

function loadOf(session: ArmSession, { store, player, timeline, isRamped, failures, findings }: Played): Load {
  const slotMs = session.setting('load.slotMs')
  const times = session.setting('replay.times')
  const full = timeline.perSecond * times
  const ramp: Ramp = {
    startOpsPerSecond: session.setting('ramp.startOpsPerSecond'),
    growthPercent: session.setting('ramp.growthPercent'),
    everyMinutes: session.setting('ramp.everyMinutes'),
  }
  const shareAt = (seconds: number): number => (isRamped ? Math.min(1, rampedOpsPerSecond(ramp, seconds) / full) : 1)
  const slotOf = (ms: number): number => Math.floor(ms / slotMs) * slotMs
  const begunMs = store.nowMs
  let lookedAtMs = begunMs
  const look = (): void => {
    if (store.nowMs < lookedAtMs + findingsEveryMs) return
    lookedAtMs = store.nowMs
    for (const one of store.engine.findings()) findings.set(`${one.kind} ${one.subject}`, one)
  }
  return {
    seconds: (isRamped ? rampSeconds(ramp, full) : 0) + session.setting('load.minutes') * 60,
    opsPerSecondAt: (seconds) => {
      const from = slotOf(seconds * 1000)
      return (timeline.count(from, from + slotMs) * 1000 * times * shareAt(seconds)) / slotMs
    },
    next: (_n, share) => {
      look()
      const from = slotOf(store.nowMs - begunMs)
      const call = timeline.at(from, from + slotMs, share)
      return {
        work: async (context) => {
          if (call !== undefined) await orNoted(player.play(call, context()), failures)
        },
      }
    },
  }
}

/** Until a ramp reaches a rate. */
function rampSeconds({ startOpsPerSecond, growthPercent, everyMinutes }: Ramp, full: number): number {
  const steps = Math.ceil(Math.log(full / startOpsPerSecond) / Math.log(1 + growthPercent / 100))
  return Math.max(0, steps) * everyMinutes * 60
}

/** Refusals for load are counted by the load; other errors do not end the replay. */
async function orNoted(work: Promise<void>, failures: Map<string, number>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof DatastoreError) || isTransient(error)) throw error
    const words = `${error.code}: ${error.message}`
    if (failures.has(words) || failures.size < failuresMax) failures.set(words, (failures.get(words) ?? 0) + 1)
  }
}

const failuresMax = 5

/** Keys that are filled before, at most; and so many with one commit. */
const filledMax = 20_000
const fillSize = 500
/** Between two such commits: slowly enough for one server. */
const fillPauseMs = 500

/** Entities under the keys that are read or written: what they are overwritten with comes from the recording. */
async function fill(store: Store, player: Player, calls: readonly RecordedCall[]): Promise<void> {
  const databases = new Map<string, { readonly call: RecordedCall; readonly keys: Map<string, RecordedKey> }>()
  let filled = 0
  for (const call of calls) {
    const name = JSON.stringify([call.project, call.database])
    const found = databases.get(name) ?? { call, keys: new Map<string, RecordedKey>() }
    databases.set(name, found)
    const updated = call.mutations.filter(({ operation }) => operation === 'update' || operation === 'delete')
    for (const key of [...call.keys, ...updated.map((one) => one.key)]) {
      const words = JSON.stringify([key.namespace, key.path.map(({ kind, id, name }) => [kind, `${id}`, name])])
      if (filled >= filledMax || found.keys.has(words)) continue
      found.keys.set(words, key)
      filled++
    }
  }
  for (const { call, keys } of databases.values()) {
    const all = [...keys.values()]
    for (let from = 0; from < all.length; from += fillSize) {
      await player.fill(call, all.slice(from, from + fillSize))
      await store.sleep(fillPauseMs)
    }
  }
}

function findingLines(findings: readonly Finding[]): readonly string[] {
  if (findings.length === 0) return ['none']
  return findings.flatMap(({ kind, words, lab }) => [`${kind}: ${words}`, `  see the lab ${lab}`])
}

function failureLines(failures: ReadonlyMap<string, number>): readonly string[] {
  return [...failures].map(([words, count]) => `${count} × ${words}`)
}
