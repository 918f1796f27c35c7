/**
 * No setting that `--set` takes ends a lab with an error: each at its bounds, with loads that are short.
 *
 *   npm run test:deep -- bench/test/settings     (SIXTABLES_DEEP) all settings of all labs; without it the refusals alone
 */
import { describe, expect, it } from 'vitest'
import { askedSettings } from '../src/cli/run.ts'
import { labs } from '../src/labs/catalogue.ts'
import { runLab } from '../src/runner.ts'
import { isWhole, mostOf } from '../src/setting.ts'
import { type SettingName, type SettingValues, settingNames, settings } from '../src/settings.ts'
import { shorter } from './support/short.ts'

describe.each(settingNames)('%s', (name) => {
  const readers = labs.filter((lab) => lab.settings[name] !== undefined)
  const setting = settings[name]
  const { least = 0 } = setting
  const most = mostOf(setting)
  const ask = (value: number): SettingValues => askedSettings([`${name}=${value}`], readers)

  it('is taken within its bounds, and refused beyond', () => {
    expect([ask(least)[name], ask(most)[name]]).toEqual([least, most])
    expect(() => ask(most * 1.01 + 1)).toThrow(`${name} is ${most} ${setting.unit} or less, not `)
    if (least > 0) expect(() => ask(least / 2)).toThrow(`${name} is ${least} ${setting.unit} or more, not `)
    if (isWhole(setting)) expect(() => ask(least + 0.5)).toThrow(`${name} is a whole number of ${setting.unit}, not `)
  })

  it('is within its bounds in each lab', () => {
    for (const { settings: own } of readers)
      expect([least <= (own[name] ?? 0), (own[name] ?? 0) <= most]).toEqual([true, true])
  })

  const bounds = [...(setting.longer === 'less' ? [] : [least]), ...(setting.longer === 'more' ? [] : [most])]
  const runs = readers.flatMap((lab) => bounds.map((value) => ({ lab, value, of: lab.name })))
  if (process.env['SIXTABLES_DEEP'] === undefined) return
  it.each(runs)('of $value runs $of', { timeout: 600_000 }, async ({ lab, value }) => {
    await runLab(lab, { seed: 1, settings: { ...shorter(lab), [name as SettingName]: value } })
  })
})
