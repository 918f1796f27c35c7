/** Settings of the engine's tablets: names on the command line, names in the engine, and bounds of those that cannot have any value. */
import { type TabletSettings, tabletDefaults, tabletNotes } from '@sixtables/engine'
import type { Setting } from './setting.ts'

export type EngineSettingName = {
  [Name in keyof TabletSettings]: TabletSettings[Name] extends number ? Name : never
}[keyof TabletSettings]

interface Row extends Pick<Setting, 'least' | 'most' | 'longer'> {
  readonly engine: EngineSettingName
}

const table = {
  'server.count': { engine: 'servers', least: 1, longer: 'more' },
  'server.opsPerSecond': { engine: 'opsPerSecond', least: 100 },
  'server.queueMsMax': { engine: 'queueMsMax' },
  'server.serviceMs': { engine: 'serviceMs' },
  'log.commitMs': { engine: 'commitLatencyMs', longer: 'less' },
  'log.waitMsMax': { engine: 'groupWaitMsMax' },
  // More than the load below which two tablets are merged.
  'tablet.splitOpsPerSecond': { engine: 'splitOpsPerSecond', least: 201 },
  // Above 1 a tablet is split wherever its load lies.
  'tablet.splitOneEndShare': { engine: 'splitOneEndShare', least: 0.5, most: 2 },
  'tablet.windowMs': { engine: 'windowMs', least: 5000, most: 60_000 },
  'tablet.decisionMs': { engine: 'decisionMs', least: 200, most: 60_000, longer: 'less' },
  'tablet.samplesMin': { engine: 'samplesMin', least: 1 },
  'tablet.moveMsMin': { engine: 'moveMsMin' },
  'tablet.moveMsMax': { engine: 'moveMsMax' },
  'tablet.splitRestMs': { engine: 'splitRestMs' },
  'tablet.warmUpMs': { engine: 'warmUpMs' },
  'tablet.compactRestMs': { engine: 'compactRestMs' },
} as const

export type TabletSettingName = keyof typeof table

const rows = Object.entries(table) as [TabletSettingName, Row][]

/** Each with the engine's own default, and its own note of where that is from. */
export const tabletSettings: Readonly<Record<TabletSettingName, Setting>> = Object.fromEntries(
  rows.map(([name, { engine, ...bounds }]) => {
    const { what, unit, source } = tabletNotes[engine]
    return [name, { value: tabletDefaults[engine], unit, about: what, source, ...bounds }]
  }),
) as Record<TabletSettingName, Setting>

/** Those of the values that the engine's tablets are told, under the engine's names. */
export function engineTabletOptions(
  values: Partial<Readonly<Record<TabletSettingName, number>>>,
): Partial<Record<EngineSettingName, number>> {
  const asked = rows.filter(([name]) => values[name] !== undefined)
  return Object.fromEntries(asked.map(([name, { engine }]) => [engine, values[name]]))
}
