/** Settings of the engine's tablets: names on the command line, and names in the engine. */
import type { TabletSettings } from '@sixtables/engine'
import type { Setting } from './setting.ts'

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

export type EngineSettingName = {
  [Name in keyof TabletSettings]: TabletSettings[Name] extends number ? Name : never
}[keyof TabletSettings]

/** Bounds of those that cannot have any value. */
export const tabletBounds: Partial<Readonly<Record<TabletSettingName, Pick<Setting, 'least' | 'most' | 'longer'>>>> = {
  'server.count': { least: 1, longer: 'more' },
  'server.opsPerSecond': { least: 100 },
  'log.commitMs': { longer: 'less' },
  // More than the load below which two tablets are merged.
  'tablet.splitOpsPerSecond': { least: 201 },
  // Above 1 a tablet is split wherever its load lies.
  'tablet.splitOneEndShare': { least: 0.5, most: 2 },
  'tablet.windowMs': { least: 5000, most: 60_000 },
  'tablet.decisionMs': { least: 200, most: 60_000, longer: 'less' },
  'tablet.samplesMin': { least: 1 },
}

export const engineNames: Readonly<Record<TabletSettingName, EngineSettingName>> = {
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
