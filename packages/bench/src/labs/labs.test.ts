/**
 * Every lab on a few seeds: what must be seen is seen, and a seed gives the same bytes twice.
 *
 * LAB_SEEDS=20 runs as many seeds (`npm run labs:seeds`); two without it, since a whole run takes long.
 */
import { describe, expect, it } from 'vitest'
import { jsonReport } from '../report/json.ts'
import { runLab } from '../runner.ts'
import { settingNames } from '../settings.ts'
import { labs } from './catalogue.ts'

const seeds = Array.from({ length: Number(process.env['LAB_SEEDS'] ?? 2) }, (_, i) => i + 1)
const patience = 120_000

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
      const run = async (): Promise<string> => jsonReport([await runLab(lab, { seed: 77 })])
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
