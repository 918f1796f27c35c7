/** Settings of the engine's tablets: names on the command line, and names in the engine. */
import type { TabletSettings } from '@sixtables/engine'

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
