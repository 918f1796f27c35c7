/** Loads short enough to run many times; too short for what must be seen. */
import type { Lab } from '../../src/lab.ts'
import type { SettingName, SettingValues } from '../../src/settings.ts'

const short: SettingValues = {
  'ramp.minutes': 6,
  'lull.minutes': 5,
  'shards.periodMinutes': 10,
  'load.minutes': 1,
  'load.seconds': 1,
  'load.samples': 64,
  'load.writersMax': 16,
  'work.records': 2000,
  'list.followers': 5000,
  'gateways.max': 2,
  'gateways.seconds': 0.1,
  'gateways.killedOf': 2,
}

/** Those of the lab's settings that are longer, made short. */
export function shorter(lab: Lab): SettingValues {
  return Object.fromEntries(
    Object.entries(short).filter(([name, value]) => value < (lab.settings[name as SettingName] ?? 0)),
  )
}

/** Shorter still, for runs that only have to end: the fewest samples, few writers, little data. */
export function shortest(lab: Lab): SettingValues {
  const least: SettingValues = {
    ...short,
    'ramp.minutes': 3,
    'load.minutes': 0.5,
    'load.samples': 16,
    'load.writersMax': 4,
    'work.records': 400,
    'list.followers': 1000,
    'ids.count': 128,
    'probe.count': 6,
    'shards.periodMinutes': 3,
    'lull.minutes': 2,
    'burst.longSeconds': 10,
    'index.values': 8,
    'transaction.abandoned': 3,
  }
  return Object.fromEntries(
    Object.entries(least).filter(([name, value]) => value < (lab.settings[name as SettingName] ?? 0)),
  )
}
