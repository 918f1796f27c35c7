/**
 * Every capacity, threshold, service time and size of the labs by name, with its default, unit and source. A lab says which
 * it reads, and may have another default; `--set name=value` changes it for a run.
 *
 * Settings of the engine's tablets (servers, queues, splits, the log's latency) have the engine's own default here, and
 * its own note of where that is from. Sources: known (a public source), believed, ours.
 */
import { tabletDefaults, tabletNotes } from '@sixtables/engine'
import { type EngineSettingName, engineNames, type TabletSettingName } from './engine-settings.ts'
import { type GatewaySettingName, gatewaySettings } from './gateway-settings.ts'
import type { Setting } from './setting.ts'

export type SettingName =
  | TabletSettingName
  | GatewaySettingName
  | 'client.rpcMs'
  | 'client.retries'
  | 'client.backoffMs'
  | 'client.crashShare'
  | 'client.rememberMs'
  | 'transaction.reads'
  | 'transaction.thinkMs'
  | 'transaction.abandoned'
  | 'lock.timeoutMs'
  | 'apply.delayMs'
  | 'probe.count'
  | 'probe.everyMs'
  | 'ids.count'
  | 'ids.buckets'
  | 'ranges.count'
  | 'load.slotMs'
  | 'load.samples'
  | 'load.minutes'
  | 'load.writeShare'
  | 'load.opsPerSecond'
  | 'load.seconds'
  | 'load.writersMax'
  | 'ramp.startOpsPerSecond'
  | 'ramp.growthPercent'
  | 'ramp.everyMinutes'
  | 'ramp.minutes'
  | 'replay.times'
  | 'copies.count'
  | 'batch.size'
  | 'log.fastCommitMs'
  | 'delete.share'
  | 'expiry.perMinute'
  | 'expiry.afterMinutes'
  | 'expiry.sweepMinutes'
  | 'expiry.generationMinutes'
  | 'expiry.shards'
  | 'expiry.endedShare'
  | 'shards.periodMinutes'
  | 'lull.minutes'
  | 'lull.opsPerSecond'
  | 'index.count'
  | 'index.values'
  | 'entity.bodyBytes'
  | 'list.changes'
  | 'list.compactEveryMs'
  | 'list.entriesMax'
  | 'list.followers'
  | 'list.leaveShare'
  | 'burst.opsPerSecond'
  | 'burst.seconds'
  | 'burst.longSeconds'
  | 'work.records'
  | 'work.workers'

const ours: Readonly<Record<Exclude<SettingName, TabletSettingName | GatewaySettingName>, Setting>> = {
  'client.rpcMs': {
    value: 4,
    unit: 'ms',
    about: 'round-trip time between a client and the service, without the work itself',
    least: 0.1,
    source: 'believed: within one data centre, through a front end',
  },
  'client.retries': {
    value: 5,
    unit: 'attempts',
    about: 'maximum number of attempts of a transaction after the first one',
    source: 'ours: client libraries try about as often',
  },
  'client.backoffMs': {
    value: 50,
    unit: 'ms',
    about: 'maximum pause before the first of these attempts; it doubles, and its length is random',
    source: 'ours: exponential backoff, as the error page asks for',
  },
  'client.crashShare': {
    value: 0.05,
    unit: 'share',
    about: 'share of clients that crash between two steps of a job',
    source: 'ours',
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
    source: 'ours',
  },
  'transaction.thinkMs': {
    value: 100,
    unit: 'ms',
    about: 'pause of a long transaction between two of its reads',
    source: 'ours',
  },
  'transaction.abandoned': {
    value: 20,
    unit: 'transactions',
    about: 'number of transactions that their client abandons, one after the other',
    least: 1,
    source: 'ours',
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
    source: 'ours',
  },
  'probe.everyMs': {
    value: 10,
    unit: 'ms',
    about: 'interval between two reads until a reader sees a write',
    least: 1,
    source: 'ours',
  },
  'ids.count': {
    value: 4096,
    unit: 'ids',
    about: 'automatic ids drawn in each arm',
    least: 1,
    source: 'ours: 64 a bucket of the chi-square test',
  },
  'ids.buckets': {
    value: 64,
    unit: 'buckets',
    about: 'equal parts of the id space, for the chi-square test',
    least: 2,
    source: 'ours',
  },
  'ranges.count': {
    value: 200,
    unit: 'ranges',
    about: 'random ranges compared with a model that remembers every id',
    least: 1,
    source: 'ours',
  },
  'load.slotMs': {
    value: 5000,
    unit: 'ms',
    about: 'time over which one weighted operation is spread',
    least: 200,
    source: 'ours: a weight is a flow, never a burst',
  },
  'load.samples': {
    value: 64,
    unit: 'operations',
    about: 'operations in a slot that run in the engine at the highest rate; each stands for an equal part of the load',
    least: 1,
    source: 'ours: enough samples of each tablet in a decision window',
  },
  'load.writeShare': {
    value: 0.1,
    unit: 'share',
    about: 'share of operations that write; the others read',
    source: 'ours',
  },
  'load.minutes': { value: 20, unit: 'minutes', about: 'duration of the load', least: 0.5, source: 'ours' },
  'load.opsPerSecond': { value: 50_000, unit: 'a second', about: 'operations offered', least: 1, source: 'ours' },
  'load.seconds': {
    value: 20,
    unit: 's',
    about: 'duration of the load for each number of writers',
    least: 1,
    source: 'ours',
  },
  'load.writersMax': { value: 100, unit: 'writers', about: 'maximum number of writers', least: 1, source: 'ours' },
  'ramp.startOpsPerSecond': {
    value: 500,
    unit: 'a second',
    about: 'operations at the start of a ramp',
    least: 1,
    source: 'known: best practices, ramping up traffic',
  },
  'ramp.growthPercent': {
    value: 50,
    unit: '%',
    about: 'growth at each step of a ramp',
    source: 'known: best practices, ramping up traffic',
  },
  'ramp.everyMinutes': {
    value: 5,
    unit: 'minutes',
    about: 'length of a step of a ramp',
    least: 0.1,
    source: 'known: best practices, ramping up traffic',
  },
  'ramp.minutes': { value: 45, unit: 'minutes', about: 'duration of the ramp', least: 1, source: 'ours' },
  'replay.times': {
    value: 100,
    unit: 'times',
    about: 'the rate of a recording, multiplied',
    least: 0.01,
    source: 'ours',
  },
  'copies.count': {
    value: 8,
    unit: 'copies',
    about: 'number of replicas of a read entity, or of shards of a written one',
    least: 1,
    source: 'ours',
  },
  'batch.size': {
    value: 10,
    unit: 'entities',
    about: 'number of entities that one transaction writes',
    least: 1,
    source: 'ours',
  },
  'log.fastCommitMs': {
    value: 50,
    unit: 'ms',
    about: 'latency of the log in the arm with a faster log',
    source: 'ours: a third of the usual',
  },
  'delete.share': { value: 0.75, unit: 'share', about: 'share of the entities that are deleted', source: 'ours' },
  'expiry.perMinute': { value: 120, unit: 'entities', about: 'new entities a minute', least: 1, source: 'ours' },
  'expiry.afterMinutes': {
    value: 5,
    unit: 'minutes',
    about:
      'mean time from the creation of an entity to its expiry; the time of each entity is random, 50 to 150 % of the mean',
    least: 1,
    source: 'ours',
  },
  'expiry.sweepMinutes': {
    value: 1,
    unit: 'minutes',
    about: 'time between two sweeps that delete expired entities',
    least: 1,
    source: 'ours',
  },
  'expiry.generationMinutes': {
    value: 4,
    unit: 'minutes',
    about: 'length of a generation: the values of new entities begin with its number, followed by the expiry time',
    least: 1,
    source: 'ours',
  },
  'expiry.shards': {
    value: 8,
    unit: 'shards',
    about: 'number of fixed prefixes before the expiry time, with a query for each',
    least: 1,
    source: 'ours',
  },
  'expiry.endedShare': {
    value: 0.02,
    unit: 'share',
    about: 'share of entities that expire early: their expiry time is set to a time in the past',
    source: 'ours: users who log out',
  },
  'shards.periodMinutes': {
    value: 30,
    unit: 'minutes',
    about: 'time after which the shards get a new time prefix',
    least: 1,
    source: 'ours: short, so that a run sees two of them',
  },
  'lull.minutes': {
    value: 20,
    unit: 'minutes',
    about: 'duration of the lull, a time of little traffic',
    least: 1,
    source: 'ours: a night',
  },
  'lull.opsPerSecond': { value: 100, unit: 'a second', about: 'operations during the lull', least: 1, source: 'ours' },
  'index.count': {
    value: 5,
    unit: 'indexes',
    about: 'maximum number of composite indexes of one kind',
    source: 'ours',
  },
  'index.values': {
    value: 32,
    unit: 'values',
    about: 'maximum number of values of one array property',
    source: 'ours',
  },
  'entity.bodyBytes': {
    value: 2000,
    unit: 'bytes',
    about: 'length of the unindexed text of an entity',
    source: 'ours',
  },
  'list.changes': {
    value: 8,
    unit: 'changes',
    about: 'number of additions and removals of each writer of a list',
    least: 8,
    source: 'ours: each writer has one user that leaves and comes back at once',
  },
  'list.compactEveryMs': {
    value: 3000,
    unit: 'ms',
    about: 'mean pause of a client between two compactions of a list',
    least: 1,
    source: 'ours',
  },
  'list.entriesMax': {
    value: 2000,
    unit: 'entries',
    about: 'maximum number of entries of a sub-list',
    least: 1,
    source: 'ours: about eighty kilobytes',
  },
  'list.followers': {
    value: 200_000,
    unit: 'followers',
    about: 'number of followers of one user',
    least: 10,
    source: "known: Couchbase's manual 1.8, 9.2.5.4",
  },
  'list.leaveShare': {
    value: 0.1,
    unit: 'share',
    about: 'share of the followers that leave before a compaction',
    least: 0.001,
    source: 'ours',
  },
  'burst.opsPerSecond': {
    value: 12,
    unit: 'a second',
    about: 'rate of writes to one entity group, about twice the rate that its log can append',
    least: 1,
    source: 'ours',
  },
  'burst.seconds': { value: 5, unit: 's', about: 'duration of the short load test', least: 1, source: 'ours' },
  'burst.longSeconds': { value: 60, unit: 's', about: 'duration of the long load test', least: 1, source: 'ours' },
  'work.records': {
    value: 20_000,
    unit: 'records',
    about: 'number of records that the workers share',
    least: 100,
    source: 'ours',
  },
  'work.workers': { value: 8, unit: 'workers', about: 'number of workers', least: 2, source: 'ours' },
}

export const settings: Readonly<Record<SettingName, Setting>> = {
  ...(Object.fromEntries(
    Object.entries(engineNames).map(([name, engineName]) => {
      const { what, unit, source } = tabletNotes[engineName]
      return [name, { value: tabletDefaults[engineName], unit, about: what, source }]
    }),
  ) as Record<TabletSettingName, Setting>),
  ...ours,
  ...gatewaySettings,
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

/** All that the engine's servers and tablets are told. */
export const tabletSettingValues: SettingValues = defaultsOf(...(Object.keys(engineNames) as TabletSettingName[]))

/** Those of the values that the engine's tablets are told, under the engine's names. */
export function engineTabletOptions(values: SettingValues): Partial<Record<EngineSettingName, number>> {
  const options: Partial<Record<EngineSettingName, number>> = {}
  for (const [name, engineName] of Object.entries(engineNames) as [TabletSettingName, EngineSettingName][]) {
    const value = values[name]
    if (value !== undefined) options[engineName] = value
  }
  return options
}
