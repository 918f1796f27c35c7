/**
 * Every capacity, threshold, service time and size of the labs by name, with its default, unit and source. A lab says which
 * it reads, and may have another default; `--set name=value` changes it for a run.
 *
 * Sources: known (a public source), believed, ours.
 */
import { type DataSettingName, dataSettings } from './data-settings.ts'
import { type TabletSettingName, tabletSettings } from './engine-settings.ts'
import type { Setting } from './setting.ts'

const ours = {
  'client.rpcMs': {
    value: 4,
    unit: 'ms',
    about: 'round-trip time between a client and the service, without the work itself',
    least: 0.4,
    longer: 'less',
    source: 'believed: within one data centre, through a front end',
  },
  'client.retries': {
    value: 5,
    unit: 'attempts',
    about: 'maximum number of attempts of a transaction after the first one',
    most: 100,
    source: 'ours: client libraries try about as often',
  },
  'client.backoffMs': {
    value: 50,
    unit: 'ms',
    about: 'maximum pause before the first of these attempts; it doubles, and its length is random',
    least: 1,
    source: 'ours: exponential backoff, as the error page asks for',
  },
  'client.crashShare': {
    value: 0.05,
    unit: 'share',
    about: 'share of clients that crash between two steps of a job',
    most: 0.9,
  },
  'client.rememberMs': {
    value: 2000,
    unit: 'ms',
    about: 'time for which a writer caches a pointer that it has read',
    source: 'ours: a cache in an instance',
  },
  'transaction.reads': {
    value: 10,
    unit: 'entities',
    about: 'entities that a long transaction reads one by one',
    least: 1,
    longer: 'more',
  },
  'transaction.thinkMs': {
    value: 100,
    unit: 'ms',
    about: 'pause of a long transaction between two of its reads',
  },
  'transaction.abandoned': {
    value: 20,
    unit: 'transactions',
    about: 'number of transactions that their client abandons, one after the other',
    least: 1,
    longer: 'more',
  },
  'lock.timeoutMs': {
    value: 2000,
    unit: 'ms',
    about: 'wait for a lock after which the waiting call is aborted',
    source: "measured: Google's Firestore emulator",
  },
  'apply.delayMs': {
    value: 300,
    unit: 'ms',
    about: 'delay from commit to apply, in arms that separate them',
    source: 'known: usually a few hundred milliseconds (articles of the App Engine years)',
  },
  'probe.count': {
    value: 60,
    unit: 'probes',
    about: 'random writes, each followed by one read',
    least: 6,
    longer: 'more',
  },
  'probe.everyMs': {
    value: 10,
    unit: 'ms',
    about: 'interval between two reads until a reader sees a write',
    least: 1,
    longer: 'less',
  },
  'ids.count': {
    value: 4096,
    unit: 'ids',
    about: 'automatic ids drawn in each arm',
    least: 1,
    longer: 'more',
    source: 'ours: 64 a bucket of the chi-square test',
  },
  'ids.buckets': {
    value: 64,
    unit: 'buckets',
    about: 'equal parts of the id space, for the chi-square test',
    least: 2,
    most: 4096,
  },
  'ranges.count': {
    value: 200,
    unit: 'ranges',
    about: 'random ranges compared with a model that remembers every id',
    least: 1,
    longer: 'more',
  },
  'load.slotMs': {
    value: 5000,
    unit: 'ms',
    about: 'time over which one weighted operation is spread',
    least: 500,
    longer: 'less',
    most: 30_000,
    source: 'ours: a weight is a flow, never a burst',
  },
  'load.samples': {
    value: 64,
    unit: 'operations',
    about: 'operations in a slot that run in the engine at the highest rate; each stands for an equal part of the load',
    least: 1,
    longer: 'more',
    most: 2000,
    source: 'ours: enough samples of each tablet in a decision window',
  },
  'load.writeShare': {
    value: 0.1,
    unit: 'share',
    about: 'share of operations that write; the others read',
  },
  'load.minutes': {
    value: 20,
    unit: 'minutes',
    about: 'duration of the load',
    least: 0.5,
    longer: 'more',
  },
  'load.opsPerSecond': { value: 50_000, unit: '/s', about: 'operations offered', least: 1 },
  'load.seconds': {
    value: 20,
    unit: 's',
    about: 'duration of the load for each number of writers',
    least: 1,
    longer: 'more',
  },
  'load.writersMax': {
    value: 100,
    unit: 'writers',
    about: 'maximum number of writers',
    least: 1,
    longer: 'more',
    most: 1000,
  },
  'ramp.startOpsPerSecond': {
    value: 500,
    unit: '/s',
    about: 'operations at the start of a ramp',
    least: 1,
    source: 'known: best practices, ramping up traffic',
  },
  'ramp.growthPercent': {
    value: 50,
    unit: '%',
    about: 'growth at each step of a ramp',
    longer: 'less',
    most: 200,
    least: 5,
    source: 'known: best practices, ramping up traffic',
  },
  'ramp.everyMinutes': {
    value: 5,
    unit: 'minutes',
    about: 'length of a step of a ramp',
    least: 1,
    longer: 'either',
    source: 'known: best practices, ramping up traffic',
  },
  'ramp.minutes': {
    value: 45,
    unit: 'minutes',
    about: 'duration of the ramp',
    least: 1,
    longer: 'more',
    most: 120,
  },
  'replay.times': {
    value: 100,
    unit: 'times',
    about: 'the rate of a recording, multiplied',
    least: 0.01,
  },
  'copies.count': {
    value: 8,
    unit: 'copies',
    about: 'number of replicas of a read entity, or of shards of a written one',
    least: 1,
    longer: 'more',
  },
  'batch.size': {
    value: 10,
    unit: 'entities',
    about: 'number of entities that one transaction writes',
    least: 1,
    longer: 'more',
    most: 500,
  },
  'log.fastCommitMs': {
    value: 50,
    unit: 'ms',
    about: 'latency of the log in the arm with a faster log',
    longer: 'less',
    source: 'ours: a third of the usual',
  },
  'query.deadlineMs': {
    value: 20,
    unit: 'ms',
    about: 'deadline of a query, in arms where it has one',
    least: 1,
    source: 'ours: in production 60 s, over millions of rows',
  },
  'request.limitMs': {
    value: 30_000,
    unit: 'ms',
    about: 'time after which a request of an application is ended',
    least: 1000,
    most: 600000,
    source: 'known: articles on sequence numbers in Datastore without a counter',
  },
  'request.callMs': {
    value: 51,
    unit: 'ms',
    about: 'time of a call for the next keys of a query, in those years',
    least: 5,
    longer: 'less',
    source: 'known: 100,000 keys took 17 s (the same articles), in calls of 300 keys',
  },
  'delete.share': { value: 0.75, unit: 'share', about: 'share of the entities that are deleted' },
} as const

export type SettingName = TabletSettingName | DataSettingName | keyof typeof ours

export const settings: Readonly<Record<SettingName, Setting>> = {
  ...tabletSettings,
  ...ours,
  ...dataSettings,
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
/** Clients that retry. */
export const clientSettings: SettingValues = defaultsOf('client.rpcMs', 'client.retries', 'client.backoffMs')

/** All that the engine's servers and tablets are told. */
export const tabletSettingValues: SettingValues = defaultsOf(...(Object.keys(tabletSettings) as TabletSettingName[]))
