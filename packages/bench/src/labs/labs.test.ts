/**
 * Every lab: what must be seen is seen with any seed, and a seed gives the same bytes twice.
 *
 * Here two seeds are run whole, and a short run twice. `npm run labs:seeds` (LAB_SEEDS=12) takes twelve seeds, and compares
 * whole runs; it takes half an hour.
 */
import { describe, expect, it } from 'vitest'
import { jsonReport } from '../report/json.ts'
import { runLab } from '../runner.ts'
import { type SettingValues, settingNames } from '../settings.ts'
import { labs } from './catalogue.ts'

const asked = process.env['LAB_SEEDS']
const seeds = Array.from({ length: Number(asked ?? 2) }, (_, i) => i + 1)
const patience = 300_000

/** A load short enough to run it twice; too short for what must be seen. */
const short: SettingValues = { 'ramp.minutes': 12, 'load.minutes': 1, 'load.seconds': 1, 'work.records': 2000 }

describe.each(labs.map((lab) => [lab.name, lab] as const))('%s', (_name, lab) => {
  it.each(seeds)(
    'shows what it must with seed %i',
    async (seed) => {
      const { expectations } = await runLab(lab, { seed })
      expect(expectations.filter(({ verdict }) => verdict !== 'holds')).toEqual([])
    },
    patience,
  )

  it(
    'gives the same bytes twice',
    async () => {
      const settings = asked === undefined ? short : {}
      const run = async (): Promise<string> => jsonReport([await runLab(lab, { seed: 77, settings })])
      const first = await run()
      expect((await run()) === first).toBe(true)
    },
    patience,
  )

  it('names arms, and in its expectations no others', () => {
    const names = lab.arms.map((arm) => arm.name)
    expect(new Set(names).size).toBe(names.length)
    expect(lab.expectations.flatMap(({ arms }) => arms).filter((name) => !names.includes(name))).toEqual([])
    expect(new Set(lab.expectations.map(({ says }) => says)).size).toBe(lab.expectations.length)
  })
})

it('every setting is read by a lab', () => {
  const unread = settingNames.filter((name) => labs.every((lab) => lab.settings[name] === undefined))
  expect(unread).toEqual([])
})
