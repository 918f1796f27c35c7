/**
 * The 500/50/5 rule: at most 500 operations a second at first, then half as many more every five minutes: 500, 750, 1,125, …
 *
 * Known: best practices, "ramping up traffic"; after 90 minutes that is 500 × 1.5^18 ≈ 740,000 a second.
 */
import type { ArmSession } from '../session.ts'
import { defaultsOf, type SettingValues } from '../settings.ts'
import type { Load } from './load.ts'

export interface Ramp {
  readonly startOpsPerSecond: number
  readonly growthPercent: number
  readonly everyMinutes: number
}

export function rampedOpsPerSecond(ramp: Ramp, seconds: number): number {
  const steps = Math.floor(seconds / (ramp.everyMinutes * 60))
  return ramp.startOpsPerSecond * (1 + ramp.growthPercent / 100) ** steps
}

/** Steps of the rule from 500 to 740,000 operations a second. */
const ruleSteps = 18

/**
 * The same growth over any duration, for loads in real time: the share of the full rate after a share of the time. The first share
 * is never less than 500 ÷ 740,000.
 */
export function rampedShare(growthPercent: number, share: number): number {
  const growth = 1 + growthPercent / 100
  const steps = Math.ceil((ruleSteps * Math.log(1.5)) / Math.log(growth))
  return growth ** (Math.min(steps, Math.floor(share * (steps + 1))) - steps)
}

export function rampOfSettings(session: ArmSession): Ramp {
  return {
    startOpsPerSecond: session.setting('ramp.startOpsPerSecond'),
    growthPercent: session.setting('ramp.growthPercent'),
    everyMinutes: session.setting('ramp.everyMinutes'),
  }
}

/** Duration and rates of a load with the ramp of the settings. */
export function ramped(session: ArmSession): Pick<Load, 'seconds' | 'opsPerSecondAt'> {
  const ramp = rampOfSettings(session)
  const seconds = session.setting('ramp.minutes') * 60
  return { seconds, opsPerSecondAt: (at) => rampedOpsPerSecond(ramp, at) }
}

export function rampOf(session: ArmSession, next: Load['next']): Load {
  return { ...ramped(session), next }
}

/** The settings that {@link rampOf} and {@link offer} read. */
export const rampSettings: SettingValues = defaultsOf(
  'ramp.startOpsPerSecond',
  'ramp.growthPercent',
  'ramp.everyMinutes',
  'ramp.minutes',
  'load.slotMs',
  'load.samples',
)
