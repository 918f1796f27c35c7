/** Settings for runs that only have to end: few samples, few writers, little data. Too short for what a lab must show. */
import type { Lab } from '../../src/lab.ts'
import type { SettingName, SettingValues } from '../../src/settings.ts'

const least: SettingValues = {
  'ramp.minutes': 3,
  'lull.minutes': 2,
  'shards.periodMinutes': 3,
  'load.minutes': 0.5,
  'load.seconds': 1,
  'load.samples': 16,
  'load.writersMax': 4,
  'work.records': 400,
  'list.followers': 1000,
  'ids.count': 128,
  'probe.count': 6,
  'burst.longSeconds': 10,
  'index.values': 8,
  'transaction.abandoned': 3,
  'replay.times': 20,
  'gateways.max': 2,
  'gateways.seconds': 0.1,
  'gateways.killedOf': 2,
}

/** Those of the lab's settings that are larger, made as small as in the table above. */
export function shortest(lab: Lab): SettingValues {
  return Object.fromEntries(
    Object.entries(least).filter(([name, value]) => value < (lab.settings[name as SettingName] ?? 0)),
  )
}
