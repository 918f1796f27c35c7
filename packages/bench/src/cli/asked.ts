/** The arms and settings that a run asks for, checked. */
import type { Lab } from '../lab.ts'
import {
  isSettingName,
  isWhole,
  mostOf,
  type SettingName,
  type SettingValues,
  settingNames,
  settings,
} from '../settings.ts'
import { advice, named, UsageError } from './errors.ts'

/** @throws UsageError for an arm that no chosen lab has */
export function checkArms(arms: readonly string[] | undefined, chosen: readonly Lab[]): void {
  const known = chosen.flatMap((lab) => lab.arms)
  for (const arm of arms ?? []) named(known, 'arm', arm)
}

/** The values of `--set`. Each name must be a setting of a chosen lab. */
export function askedSettings(set: readonly string[], chosen: readonly Lab[]): SettingValues {
  const read = settingNames.filter((name) => chosen.some((lab) => lab.settings[name] !== undefined))
  const values: Partial<Record<SettingName, number>> = {}
  for (const words of set) {
    const at = words.indexOf('=')
    const name = at < 0 ? words : words.slice(0, at)
    if (!isSettingName(name)) {
      throw new UsageError(`there is no setting ${name}; ${advice(name, settingNames)}`)
    }
    if (!read.includes(name)) {
      const near = read.length === 0 ? 'it has none' : `it reads ${read.join(', ')}`
      throw new UsageError(`${chosen.map((lab) => lab.name).join(', ')} does not read ${name}; ${near}`)
    }
    const value = Number(words.slice(at + 1))
    if (at < 0 || words.slice(at + 1).trim() === '' || !Number.isFinite(value) || value < 0) {
      throw new UsageError(`write --set ${name}=number, with a number of 0 or more; got ${words}`)
    }
    const setting = settings[name]
    const { least = 0, unit } = setting
    if (value < least) throw new UsageError(`${name} is ${least} ${unit} or more, not ${value}`)
    if (value > mostOf(setting)) throw new UsageError(`${name} is ${mostOf(setting)} ${unit} or less, not ${value}`)
    if (isWhole(setting) && !Number.isInteger(value))
      throw new UsageError(`${name} is a whole number of ${unit}, not ${value}`)
    values[name] = value
  }
  return values
}
