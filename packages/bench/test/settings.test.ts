/**
 * No setting that `--set` takes ends a lab with an error: each at its bounds, with loads that are short.
 *
 *   npm run test:deep -- bench/test/settings     (SIXTABLES_DEEP) all settings of all labs, an hour on a busy machine; without it the refusals alone
 */
import { describe, expect, it } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { askedSettings } from '../src/cli/asked.ts'
import { slowSettings } from '../src/cli/run.ts'
import { labs } from '../src/labs/catalogue.ts'
import { runLab } from '../src/runner.ts'
import { isWhole, mostOf, type SettingName, type SettingValues, settingNames, settings } from '../src/settings.ts'
import { shortest } from './support/short.ts'

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

  const runs = readers.flatMap((lab) => [least, most].map((value) => ({ lab, value, of: lab.name })))
  if (!isDeep) return
  it.each(runs)('of $value ends $of with verdicts', { timeout: 1_800_000 }, async ({ lab, value }) => {
    const { expectations } = await runLab(lab, {
      seed: 1,
      settings: { ...shortest(lab), [name as SettingName]: value },
    })
    const words = expectations.map(({ says, found }) => `${says}: ${found}`)
    expect(words.filter((one) => /NaN|Infinity|undefined|Error|[0-9a-f]{24}/.test(one))).toEqual([])
    expect(expectations.filter(({ found }) => found === '')).toEqual([])
  })
})

it.each(labs)('$name: its exercises ask for settings within their bounds', (lab) => {
  const texts = lab.exercises.flatMap(({ ask, answer }) => [ask, answer]).join(' ')
  const asked = [...texts.matchAll(/--set ([\w.]+=[\d.]*\d)/g)].map(([, words = '']) => words)
  expect(() => askedSettings(asked, [lab])).not.toThrow()
})

it('a value that makes a run several times as long is told before', () => {
  const told = (words: string, of = 'migrate-keys'): readonly string[] =>
    slowSettings(
      askedSettings([words], labs),
      labs.filter(({ name }) => name === of),
    )
  expect(told('work.records=2399')).toEqual([])
  expect(told('work.records=2400')).toEqual([
    'work.records=2400 makes migrate-keys longer than its own 1200 records: the run may take minutes',
  ])
  expect(told('work.records=200000', 'counting')).toHaveLength(1)
  expect(told('load.slotMs=3200')).toHaveLength(1)
  expect([told('ramp.everyMinutes=1'), told('ramp.everyMinutes=50')].flat()).toHaveLength(2)
  expect(told('apply.delayMs=0')).toEqual([])
})

it('a lab of one writer is run as one of some and of all', async () => {
  const [lab] = labs.filter(({ name }) => name === 'sequence-numbers')
  if (lab === undefined) expect.fail('there is no such lab')
  const settings = { ...shortest(lab), 'load.writersMax': 1 }
  const { arms } = await runLab(lab, { seed: 1, arms: ['put-unique'], settings })
  expect(arms[0]?.figures.filter(({ name }) => name.startsWith('commits that lost'))).toHaveLength(3)
})
