/**
 * Every capacity, threshold, service time and size of the labs by name, with its default, unit and source. A lab says which
 * it reads, and may have another default; `--set name=value` changes it for a run.
 *
 * Sources: known (a public source), believed, ours. Where the engine has a default of its own, it is taken from there.
 */
export interface Setting {
  readonly value: number
  readonly unit: string
  readonly about: string
  readonly source: string
}

export type SettingName =
  | 'apply.delayMs'
  | 'probe.count'
  | 'probe.everyMs'
  | 'ids.count'
  | 'ids.buckets'
  | 'ranges.count'

export const settings: Readonly<Record<SettingName, Setting>> = {
  'apply.delayMs': {
    value: 300,
    unit: 'ms',
    about: 'from commit to apply where the lab wants them apart',
    source: 'known: "usually a few hundred milliseconds" (articles of the App Engine years)',
  },
  'probe.count': {
    value: 60,
    unit: 'probes',
    about: 'random writes, each followed by one read',
    source: 'ours',
  },
  'probe.everyMs': {
    value: 10,
    unit: 'ms',
    about: 'how often a reader asks again until it sees a write',
    source: 'ours',
  },
  'ids.count': {
    value: 4096,
    unit: 'ids',
    about: 'automatic ids drawn in each arm',
    source: 'ours: 64 a bucket of the chi-square test',
  },
  'ids.buckets': {
    value: 64,
    unit: 'buckets',
    about: 'equal parts of the id space, for the chi-square test',
    source: 'ours',
  },
  'ranges.count': {
    value: 200,
    unit: 'ranges',
    about: 'random ranges compared with a model that remembers every id',
    source: 'ours',
  },
}

export const settingNames: readonly SettingName[] = Object.keys(settings) as SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name)
}

/** Values that a run starts from: the lab's own, with what was asked for on the command line. */
export type SettingValues = Partial<Readonly<Record<SettingName, number>>>
