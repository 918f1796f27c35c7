/**
 * Every capacity, threshold, service time and size of the labs by name, with its default, unit and source. A lab says which
 * it reads, and may have another default; `--set name=value` changes it for a run.
 *
 * What the engine's tablets can be told (servers, queues, splits, the log's latency) has the engine's own default here, and
 * its own note of where that is from. Sources: known (a public source), believed, ours.
 */
import { type TabletSettings, tabletDefaults, tabletNotes } from '@sixtables/engine'

export interface Setting {
  readonly value: number
  readonly unit: string
  readonly about: string
  readonly source: string
  /** The least value that makes sense; default 0. */
  readonly least?: number
}

/** Settings of the engine's tablets, and what they are called there. */
export type TabletSettingName =
  | 'server.count'
  | 'server.opsPerSecond'
  | 'server.queueMsMax'
  | 'server.serviceMs'
  | 'log.commitMs'
  | 'log.waitMsMax'
  | 'tablet.splitOpsPerSecond'
  | 'tablet.splitOneEndShare'
  | 'tablet.windowMs'
  | 'tablet.decisionMs'
  | 'tablet.samplesMin'
  | 'tablet.moveMsMin'
  | 'tablet.moveMsMax'
  | 'tablet.splitRestMs'
  | 'tablet.warmUpMs'
  | 'tablet.compactRestMs'

export type SettingName =
  | TabletSettingName
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

type EngineSettingName = {
  [Name in keyof TabletSettings]: TabletSettings[Name] extends number ? Name : never
}[keyof TabletSettings]

const engineNames: Readonly<Record<TabletSettingName, EngineSettingName>> = {
  'server.count': 'servers',
  'server.opsPerSecond': 'opsPerSecond',
  'server.queueMsMax': 'queueMsMax',
  'server.serviceMs': 'serviceMs',
  'log.commitMs': 'commitLatencyMs',
  'log.waitMsMax': 'groupWaitMsMax',
  'tablet.splitOpsPerSecond': 'splitOpsPerSecond',
  'tablet.splitOneEndShare': 'splitOneEndShare',
  'tablet.windowMs': 'windowMs',
  'tablet.decisionMs': 'decisionMs',
  'tablet.samplesMin': 'samplesMin',
  'tablet.moveMsMin': 'moveMsMin',
  'tablet.moveMsMax': 'moveMsMax',
  'tablet.splitRestMs': 'splitRestMs',
  'tablet.warmUpMs': 'warmUpMs',
  'tablet.compactRestMs': 'compactRestMs',
}

const ours: Readonly<Record<Exclude<SettingName, TabletSettingName>, Setting>> = {
  'client.rpcMs': {
    value: 4,
    unit: 'ms',
    about: 'from a client to the service and back, without the work itself',
    least: 0.1,
    source: 'believed: within one data centre, through a front end',
  },
  'client.retries': {
    value: 5,
    unit: 'attempts',
    about: 'attempts after the first one before a client gives a transaction up',
    source: 'ours: client libraries try about as often',
  },
  'client.backoffMs': {
    value: 50,
    unit: 'ms',
    about: 'pause before the first of these attempts, at most; it doubles, and its length is drawn',
    source: 'ours: exponential backoff, as the error page asks for',
  },
  'client.crashShare': {
    value: 0.05,
    unit: 'share',
    about: 'clients that go away between two steps of a job',
    source: 'ours',
  },
  'client.rememberMs': {
    value: 2000,
    unit: 'ms',
    about: 'how long a writer goes by what it has read of a pointer',
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
    about: 'transactions that fail in their client, one after the other',
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
    about: 'from commit to apply where the lab wants them apart',
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
    about: 'how often a reader asks again until it sees a write',
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
    about: 'time over which one simulated operation of weight is spread',
    least: 200,
    source: 'ours: a weight is a flow, never a burst',
  },
  'load.samples': {
    value: 64,
    unit: 'operations',
    about: 'operations a slot that go through the engine at the greatest rate; each stands for its part of all',
    least: 1,
    source: 'ours: enough samples of each tablet in a decision window',
  },
  'load.writeShare': { value: 0.1, unit: 'share', about: 'operations that write; the others read', source: 'ours' },
  'load.minutes': { value: 20, unit: 'minutes', about: 'how long the load is offered', least: 0.5, source: 'ours' },
  'load.opsPerSecond': { value: 50_000, unit: 'a second', about: 'operations offered', least: 1, source: 'ours' },
  'load.seconds': {
    value: 20,
    unit: 's',
    about: 'how long writers write, at each number of them',
    least: 1,
    source: 'ours',
  },
  'load.writersMax': { value: 100, unit: 'writers', about: 'the greatest number of writers', least: 1, source: 'ours' },
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
  'ramp.minutes': { value: 45, unit: 'minutes', about: 'how long the ramp goes on', least: 1, source: 'ours' },
  'copies.count': {
    value: 8,
    unit: 'copies',
    about: 'replicas of an entity that is read, shards of one that is written',
    least: 1,
    source: 'ours',
  },
  'batch.size': {
    value: 10,
    unit: 'entities',
    about: 'entities that one transaction writes together',
    least: 1,
    source: 'ours',
  },
  'log.fastCommitMs': {
    value: 50,
    unit: 'ms',
    about: "the log's latency where the lab asks what a faster log would change",
    source: 'ours: a third of the usual',
  },
  'delete.share': { value: 0.75, unit: 'share', about: 'entities that are deleted, of all', source: 'ours' },
  'expiry.perMinute': { value: 120, unit: 'entities', about: 'new entities a minute', least: 1, source: 'ours' },
  'expiry.afterMinutes': {
    value: 5,
    unit: 'minutes',
    about: 'mean time from the creation of an entity to its expiry; half to one and a half of it is drawn',
    least: 1,
    source: 'ours',
  },
  'expiry.sweepMinutes': {
    value: 1,
    unit: 'minutes',
    about: 'time between two sweeps that delete what has expired',
    least: 1,
    source: 'ours',
  },
  'expiry.generationMinutes': {
    value: 4,
    unit: 'minutes',
    about: 'length of a generation: new entities have its number in front of their expiry time',
    least: 1,
    source: 'ours',
  },
  'expiry.shards': {
    value: 8,
    unit: 'shards',
    about: 'fixed prefixes in front of the expiry time, with a query for each',
    least: 1,
    source: 'ours',
  },
  'expiry.endedShare': {
    value: 0.02,
    unit: 'share',
    about: 'entities whose expiry time is moved to a moment in the past before they expire',
    source: 'ours: users who log out',
  },
  'shards.periodMinutes': {
    value: 30,
    unit: 'minutes',
    about: 'time after which the shards have a new time prefix',
    least: 1,
    source: 'ours: short, so that a run sees two of them',
  },
  'lull.minutes': { value: 20, unit: 'minutes', about: 'time of little traffic', least: 1, source: 'ours: a night' },
  'lull.opsPerSecond': { value: 100, unit: 'a second', about: 'operations in that time', least: 1, source: 'ours' },
  'index.count': { value: 5, unit: 'indexes', about: 'composite indexes of one kind, at most', source: 'ours' },
  'index.values': { value: 32, unit: 'values', about: 'values of one array property, at most', source: 'ours' },
  'entity.bodyBytes': {
    value: 2000,
    unit: 'bytes',
    about: "length of an entity's text that no index has",
    source: 'ours',
  },
  'list.changes': {
    value: 8,
    unit: 'changes',
    about: 'additions and removals that each writer of a list makes',
    least: 8,
    source: 'ours: each writer has one user who leaves and comes back at once',
  },
  'list.compactEveryMs': {
    value: 3000,
    unit: 'ms',
    about: 'pause of a client between two compactions of a list, on average',
    least: 1,
    source: 'ours',
  },
  'list.entriesMax': {
    value: 2000,
    unit: 'entries',
    about: 'entries of a sub-list, at most',
    least: 1,
    source: 'ours: about eighty kilobytes',
  },
  'list.followers': {
    value: 200_000,
    unit: 'followers',
    about: 'followers of one user',
    least: 10,
    source: "known: Couchbase's manual 1.8, 9.2.5.4",
  },
  'list.leaveShare': {
    value: 0.1,
    unit: 'share',
    about: 'followers who leave before a compaction',
    least: 0.001,
    source: 'ours',
  },
  'burst.opsPerSecond': {
    value: 12,
    unit: 'a second',
    about: 'writes to one entity group, about twice what its log takes',
    least: 1,
    source: 'ours',
  },
  'burst.seconds': { value: 5, unit: 's', about: 'how long a short load test writes', least: 1, source: 'ours' },
  'burst.longSeconds': { value: 60, unit: 's', about: 'how long the long one writes', least: 1, source: 'ours' },
  'work.records': {
    value: 20_000,
    unit: 'records',
    about: 'records that workers divide among themselves',
    least: 100,
    source: 'ours',
  },
  'work.workers': { value: 8, unit: 'workers', about: 'workers that divide them', least: 2, source: 'ours' },
}

export const settings: Readonly<Record<SettingName, Setting>> = {
  ...(Object.fromEntries(
    Object.entries(engineNames).map(([name, engineName]) => {
      const { what, unit, source } = tabletNotes[engineName]
      return [name, { value: tabletDefaults[engineName], unit, about: what, source }]
    }),
  ) as Record<TabletSettingName, Setting>),
  ...ours,
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
