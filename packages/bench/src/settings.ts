/**
 * Every capacity, threshold, service time and size of the labs by name, with its default, unit and source. A lab says which
 * it reads, and may have another default; `--set name=value` changes it for a run.
 *
 * Sources: known (a public source), believed, ours.
 */
import { tabletDefaults, tabletNotes } from '@sixtables/engine'

export interface Setting {
  readonly value: number
  readonly unit: string
  readonly about: string
  /** Where the value is from; default: ours. */
  readonly source?: string
  /** The least value that makes sense; default 0. */
  readonly least?: number | undefined
  /** The greatest; default: 1 for a share, ten times the default value where a run takes longer with more of it, else a hundred times. */
  readonly most?: number | undefined
  /** A run takes longer the more, or the less, it is; which of both depends on the lab. */
  readonly longer?: 'more' | 'less' | 'either' | undefined
}

/** Units of which there may be a part. */
const divisible: readonly string[] = ['ms', 's', 'minutes', 'share', '%', 'times', '/s']

export function mostOf({ value, unit, most, longer }: Setting): number {
  return most ?? (unit === 'share' ? 1 : (longer === 'more' || longer === 'either' ? 10 : 100) * value)
}

export function isWhole({ unit }: Setting): boolean {
  return !divisible.includes(unit)
}

type Bounds = readonly [least?: number, longer?: Setting['longer'], most?: number]

/** Default, unit and meaning of each; the least value, whether a run takes longer the more or the less it is, and the greatest. */
const ours = {
  'client.rpcMs': [4, 'ms', 'round-trip time between a client and the service, without the work itself', 0.4, 'less'],
  'client.retries': [
    5,
    'attempts',
    'maximum number of attempts of a transaction after the first one',
    0,
    undefined,
    100,
  ],
  'client.backoffMs': [
    50,
    'ms',
    'maximum pause before the first of these attempts; it doubles, and its length is random',
    1,
  ],
  'client.crashShare': [0.05, 'share', 'share of clients that crash between two steps of a job', 0, undefined, 0.9],
  'client.rememberMs': [2000, 'ms', 'time for which a writer caches a pointer that it has read'],
  'transaction.reads': [10, 'entities', 'entities that a long transaction reads one by one', 1, 'more'],
  'transaction.thinkMs': [100, 'ms', 'pause of a long transaction between two of its reads'],
  'transaction.abandoned': [
    20,
    'transactions',
    'number of transactions that their client abandons, one after the other',
    1,
    'more',
  ],
  'lock.timeoutMs': [2000, 'ms', 'wait for a lock after which the waiting call is aborted'],
  'apply.delayMs': [300, 'ms', 'delay from commit to apply, in arms that separate them'],
  'probe.count': [60, 'probes', 'random writes, each followed by one read', 6, 'more'],
  'probe.everyMs': [10, 'ms', 'interval between two reads until a reader sees a write', 1, 'less'],
  'ids.count': [4096, 'ids', 'automatic ids drawn in each arm', 1, 'more'],
  'ids.buckets': [64, 'buckets', 'equal parts of the id space, for the chi-square test', 2, undefined, 4096],
  'ranges.count': [200, 'ranges', 'random ranges compared with a model that remembers every id', 1, 'more'],
  'load.slotMs': [5000, 'ms', 'time over which one weighted operation is spread', 500, 'less', 30_000],
  'load.samples': [
    64,
    'operations',
    'operations in a slot that run in the engine at the highest rate; each stands for an equal part of the load',
    1,
    'more',
    2000,
  ],
  'load.writeShare': [0.1, 'share', 'share of operations that write; the others read'],
  'load.minutes': [20, 'minutes', 'duration of the load', 0.5, 'more'],
  'load.opsPerSecond': [50_000, '/s', 'operations offered', 1],
  'load.seconds': [20, 's', 'duration of the load for each number of writers', 1, 'more'],
  'load.writersMax': [100, 'writers', 'maximum number of writers', 1, 'more', 1000],
  'ramp.startOpsPerSecond': [500, '/s', 'operations at the start of a ramp', 1],
  'ramp.growthPercent': [50, '%', 'growth at each step of a ramp', 5, 'less', 200],
  'ramp.everyMinutes': [5, 'minutes', 'length of a step of a ramp', 1, 'either'],
  'ramp.minutes': [45, 'minutes', 'duration of the ramp', 1, 'more', 120],
  'replay.times': [100, 'times', 'the rate of a recording, multiplied', 0.01],
  'copies.count': [8, 'copies', 'number of replicas of a read entity, or of shards of a written one', 1, 'more'],
  'batch.size': [10, 'entities', 'number of entities that one transaction writes', 1, 'more', 500],
  'log.fastCommitMs': [50, 'ms', 'latency of the log in the arm with a faster log', 0, 'less'],
  'query.deadlineMs': [20, 'ms', 'deadline of a query, in arms where it has one', 1],
  'request.limitMs': [30_000, 'ms', 'time after which a request of an application is ended', 1000, undefined, 600_000],
  'request.callMs': [51, 'ms', 'time of a call for the next keys of a query, in those years', 5, 'less'],
  'delete.share': [0.75, 'share', 'share of the entities that are deleted'],
  'expiry.perMinute': [120, 'entities', 'new entities a minute', 1, 'more'],
  'expiry.afterMinutes': [
    5,
    'minutes',
    'mean time from the creation of an entity to its expiry; the time of each entity is random, 50 to 150 % of the mean',
    1,
    'more',
  ],
  'expiry.sweepMinutes': [1, 'minutes', 'time between two sweeps that delete expired entities', 1, 'less'],
  'expiry.generationMinutes': [
    4,
    'minutes',
    'length of a generation: the values of new entities begin with its number, followed by the expiry time',
    1,
  ],
  'expiry.shards': [8, 'shards', 'number of fixed prefixes before the expiry time, with a query for each', 1, 'more'],
  'expiry.endedShare': [
    0.02,
    'share',
    'share of entities that expire early: their expiry time is set to a time in the past',
  ],
  'shards.periodMinutes': [30, 'minutes', 'time after which the shards get a new time prefix', 1, 'more'],
  'lull.minutes': [20, 'minutes', 'duration of the lull, a time of little traffic', 1, 'more'],
  'lull.opsPerSecond': [100, '/s', 'operations during the lull', 1],
  'index.count': [5, 'indexes', 'maximum number of composite indexes of one kind', 0, 'more', 10],
  'index.values': [32, 'values', 'maximum number of values of one array property', 0, 'more', 320],
  'entity.bodyBytes': [2000, 'bytes', 'length of the unindexed text of an entity', 0, 'more', 50_000],
  'list.changes': [8, 'changes', 'number of additions and removals of each writer of a list', 8, 'more'],
  'list.compactEveryMs': [3000, 'ms', 'mean pause of a client between two compactions of a list', 300, 'less'],
  'list.entriesMax': [2000, 'entries', 'maximum number of entries of a sub-list', 100, 'less'],
  'list.followers': [200_000, 'followers', 'number of followers of one user', 10, 'more', 1_000_000],
  'list.leaveShare': [0.1, 'share', 'share of the followers that leave before a compaction', 0.001],
  'burst.opsPerSecond': [
    12,
    '/s',
    'rate of writes to one entity group, about twice the rate that its log can append',
    1,
    'more',
  ],
  'burst.seconds': [5, 's', 'duration of the short load test', 1, 'more'],
  'burst.longSeconds': [60, 's', 'duration of the long load test', 1, 'more'],
  'work.records': [20_000, 'records', 'number of records that the workers share', 100, 'more'],
  'work.workers': [8, 'workers', 'number of workers', 2, 'more'],
  'gateways.max': [8, 'gateways', 'maximum number of gateways; the others are 1, 2, 4, … below it', 2, 'more', 16],
  'gateways.clients': [
    16,
    'clients',
    'number of clients of each gateway, or of all gateways in the arm with the same clients; each waits for its answer',
    1,
    'more',
  ],
  'gateways.callMs': [1, 'ms', 'CPU time of one call in its gateway, which has one core', 0.1, 'less'],
  'gateways.clockRows': [
    0.5,
    '',
    'number of clock rows for each gateway in the arms with several; rounded down, and at least one in all',
    0,
    'more',
    1,
  ],
  'gateways.killedOf': [4, 'gateways', 'number of gateways of which one is killed', 2, 'more', 16],
  'gateways.seconds': [
    0.3,
    's',
    'duration of the load of puts for each number of gateways, after half as much to begin with',
    0.1,
    'more',
  ],
  'rows.callMs': [4, 'ms', 'mean round-trip time of a call from a gateway to Bigtable, without its work', 0.4, 'less'],
  'rows.conditionalMs': [
    5,
    'ms',
    'time of one conditional write of a row; other conditional writes of that row wait meanwhile',
    0.5,
    'less',
  ],
} as const

/** Where the defaults are from that have more to say than: ours. */
const sources: Partial<Readonly<Record<SettingName, string>>> = {
  'client.rpcMs': 'believed: within one data centre, through a front end',
  'client.retries': 'ours: client libraries try about as often',
  'client.backoffMs': 'ours: exponential backoff, as the error page asks for',
  'client.rememberMs': 'ours: a cache in an instance',
  'lock.timeoutMs': "measured: Google's Firestore emulator",
  'apply.delayMs': 'known: usually a few hundred milliseconds (articles of the App Engine years)',
  'ids.count': 'ours: 64 a bucket of the chi-square test',
  'load.slotMs': 'ours: a weight is a flow, never a burst',
  'load.samples': 'ours: enough samples of each tablet in a decision window',
  'ramp.startOpsPerSecond': 'known: best practices, ramping up traffic',
  'ramp.growthPercent': 'known: best practices, ramping up traffic',
  'ramp.everyMinutes': 'known: best practices, ramping up traffic',
  'log.fastCommitMs': 'ours: a third of the usual',
  'query.deadlineMs': 'ours: in production 60 s, over millions of rows',
  'request.limitMs': 'known: articles on sequence numbers in Datastore without a counter',
  'request.callMs': 'known: 100,000 keys took 17 s (the same articles), in calls of 300 keys',
  'expiry.endedShare': 'ours: users who log out',
  'shards.periodMinutes': 'ours: short, so that a run sees two of them',
  'lull.minutes': 'ours: a night',
  'list.changes': 'ours: each writer has one user that leaves and comes back at once',
  'list.entriesMax': 'ours: about eighty kilobytes',
  'list.followers': "known: Couchbase's manual 1.8, 9.2.5.4",
  'gateways.callMs': 'ours: a slow core',
  'rows.callMs': 'believed: single-digit milliseconds in one zone',
  'rows.conditionalMs': 'believed: 200 to 500 a second for one row',
}

/** Settings of the engine's tablets: their names in the engine, which has their defaults and meanings, and bounds as above. */
const ofEngine = {
  'server.count': ['servers', 1, 'more'],
  'server.opsPerSecond': ['opsPerSecond', 100],
  'server.queueMsMax': ['queueMsMax'],
  'server.serviceMs': ['serviceMs'],
  'log.commitMs': ['commitLatencyMs', 0, 'less'],
  'log.waitMsMax': ['groupWaitMsMax'],
  // More than the load below which two tablets are merged.
  'tablet.splitOpsPerSecond': ['splitOpsPerSecond', 201],
  // Above 1 a tablet is split wherever its load lies.
  'tablet.splitOneEndShare': ['splitOneEndShare', 0.5, undefined, 2],
  'tablet.windowMs': ['windowMs', 5000, undefined, 60_000],
  'tablet.decisionMs': ['decisionMs', 200, 'less', 60_000],
  'tablet.samplesMin': ['samplesMin', 1],
  'tablet.moveMsMin': ['moveMsMin'],
  'tablet.moveMsMax': ['moveMsMax'],
  'tablet.splitRestMs': ['splitRestMs'],
  'tablet.warmUpMs': ['warmUpMs'],
  'tablet.compactRestMs': ['compactRestMs'],
} as const

type EngineSettingName = (typeof ofEngine)[keyof typeof ofEngine][0]

export type SettingName = keyof typeof ofEngine | keyof typeof ours

const ownRows = Object.entries(ours) as [SettingName, readonly [number, string, string, ...Bounds]][]
const engineRows = Object.entries(ofEngine) as [SettingName, readonly [EngineSettingName, ...Bounds]][]

export const settings = Object.fromEntries([
  ...engineRows.map(([name, [engine, least, longer, most]]) => {
    const { what, unit, source } = tabletNotes[engine]
    return [name, { value: tabletDefaults[engine], unit, about: what, source, least, longer, most }]
  }),
  ...ownRows.map(([name, [value, unit, about, least, longer, most]]) => {
    return [name, { value, unit, about, source: sources[name], least, longer, most }]
  }),
]) as Readonly<Record<SettingName, Setting>>

/** The values that the engine's tablets are told, under the engine's names. */
export function engineTabletOptions(values: SettingValues): Partial<Record<EngineSettingName, number>> {
  const asked = engineRows.filter(([name]) => values[name] !== undefined)
  return Object.fromEntries(asked.map(([name, [engine]]) => [engine, values[name]]))
}

export const settingNames: readonly SettingName[] = Object.keys(settings) as SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name)
}

/** Values that a run starts from: the lab's own, with what was asked for on the command line. */
export type SettingValues = Partial<Readonly<Record<SettingName, number>>>

/** Settings with their usual defaults, for a lab that reads them. */
export function defaultsOf(...names: readonly SettingName[]): SettingValues {
  return Object.fromEntries(names.map((name) => [name, settings[name].value]))
}

/** A store with simulated servers whose tablets are no matter of the lab. */
export const serverSettings: SettingValues = defaultsOf(
  'server.count',
  'server.opsPerSecond',
  'server.serviceMs',
  'log.commitMs',
)
export const clientSettings: SettingValues = defaultsOf('client.rpcMs', 'client.retries', 'client.backoffMs')

/** All that the engine's servers and tablets are told. */
export const tabletSettingValues: SettingValues = defaultsOf(...engineRows.map(([name]) => name))
