/** Settings of what the labs store and how it changes: indexes, lists, work that is shared, entities that expire, quiet times and bursts. */
import type { Setting } from './setting.ts'

export type DataSettingName =
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

export const dataSettings: Readonly<Record<DataSettingName, Setting>> = {
  'expiry.perMinute': {
    value: 120,
    unit: 'entities',
    about: 'new entities a minute',
    least: 1,
    longer: 'more',
    source: 'ours',
  },
  'expiry.afterMinutes': {
    value: 5,
    unit: 'minutes',
    about:
      'mean time from the creation of an entity to its expiry; the time of each entity is random, 50 to 150 % of the mean',
    least: 1,
    longer: 'more',
    source: 'ours',
  },
  'expiry.sweepMinutes': {
    value: 1,
    unit: 'minutes',
    about: 'time between two sweeps that delete expired entities',
    least: 1,
    longer: 'less',
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
    longer: 'more',
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
    longer: 'more',
    source: 'ours: short, so that a run sees two of them',
  },
  'lull.minutes': {
    value: 20,
    unit: 'minutes',
    about: 'duration of the lull, a time of little traffic',
    least: 1,
    longer: 'more',
    source: 'ours: a night',
  },
  'lull.opsPerSecond': { value: 100, unit: '/s', about: 'operations during the lull', least: 1, source: 'ours' },
  'index.count': {
    value: 5,
    unit: 'indexes',
    about: 'maximum number of composite indexes of one kind',
    longer: 'more',
    most: 10,
    source: 'ours',
  },
  'index.values': {
    value: 32,
    unit: 'values',
    about: 'maximum number of values of one array property',
    longer: 'more',
    most: 320,
    source: 'ours',
  },
  'entity.bodyBytes': {
    value: 2000,
    unit: 'bytes',
    about: 'length of the unindexed text of an entity',
    longer: 'more',
    most: 50_000,
    source: 'ours',
  },
  'list.changes': {
    value: 8,
    unit: 'changes',
    about: 'number of additions and removals of each writer of a list',
    least: 8,
    longer: 'more',
    source: 'ours: each writer has one user that leaves and comes back at once',
  },
  'list.compactEveryMs': {
    value: 3000,
    unit: 'ms',
    about: 'mean pause of a client between two compactions of a list',
    least: 300,
    longer: 'less',
    source: 'ours',
  },
  'list.entriesMax': {
    value: 2000,
    unit: 'entries',
    about: 'maximum number of entries of a sub-list',
    least: 100,
    longer: 'less',
    source: 'ours: about eighty kilobytes',
  },
  'list.followers': {
    value: 200_000,
    unit: 'followers',
    about: 'number of followers of one user',
    least: 10,
    longer: 'more',
    most: 1_000_000,
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
    unit: '/s',
    about: 'rate of writes to one entity group, about twice the rate that its log can append',
    least: 1,
    longer: 'more',
    source: 'ours',
  },
  'burst.seconds': {
    value: 5,
    unit: 's',
    about: 'duration of the short load test',
    least: 1,
    longer: 'more',
    source: 'ours',
  },
  'burst.longSeconds': {
    value: 60,
    unit: 's',
    about: 'duration of the long load test',
    least: 1,
    longer: 'more',
    source: 'ours',
  },
  'work.records': {
    value: 20_000,
    unit: 'records',
    about: 'number of records that the workers share',
    least: 100,
    longer: 'more',
    source: 'ours',
  },
  'work.workers': { value: 8, unit: 'workers', about: 'number of workers', least: 2, longer: 'more', source: 'ours' },
}
