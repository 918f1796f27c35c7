/**
 * What every lab is held to: what must be seen is seen, a seed gives the same bytes twice, and its page has the lab's texts and prints what a
 * run prints (lab-page.ts).
 *
 *   npm run labs:docs    (LABS_DOCS=rewrite)  writes the printed parts of the pages anew; the diff is the review
 *   npm run labs:seeds   (LAB_SEEDS=50)       fifty seeds, the room to every bound (room.ts), and whole runs compared; takes hours.
 *                                             With LAB_SEEDS_SHORT=1 the seeds run with the short loads of fault-suite.ts, under the same bounds
 *
 * The whole run of a dear lab is left to `npm run test:deep` and `npm run labs:docs`: `npm test` has a short one (fault-suite.ts), and
 * compares the texts of the page alone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import type { Lab, PageTexts } from '../../src/lab.ts'
import { jsonReport } from '../../src/report/json.ts'
import { type LabResult, runLab } from '../../src/runner.ts'
import type { SettingValues } from '../../src/settings.ts'
import { withRuns } from './lab-page.ts'
import { roomsOf } from './room.ts'
import { shortest } from './short.ts'

const asked = process.env['LAB_SEEDS'] ?? (isDeep ? '50' : undefined)
const isShort = process.env['LAB_SEEDS_SHORT'] !== undefined
/** With any seed a figure may move by so much before a verdict turns. */
const roomMin = 0.03
const runsAsPrinted = 'shows what it must, and its page prints what a run prints'
const patience = 300_000
const generator: string = '../../scripts/generate.mjs'

/**
 * @param firstRun - gives the run of all arms with seed 1 and the lab's own settings
 * @param isDear - whether that run takes many seconds
 * @param short - settings of a short load
 */
export function suiteOf(lab: Lab, firstRun: () => Promise<LabResult>, isDear: boolean, short: SettingValues): void {
  const isRewritten = process.env['LABS_DOCS'] === 'rewrite'
  const page = pageOf(lab)

  describe(lab.name, () => {
    it('has the texts of its page', async () => {
      const { pageTexts } = (await import(generator)) as { pageTexts: (page: string) => PageTexts }
      const { title, question, predict, exercises, today, sources } = lab
      const own = { title, question, predict, exercises, today, sources }
      expect(own, 'npm run setup takes them from there').toEqual(pageTexts(readFileSync(page, 'utf8')))
    })

    // A run of many seconds is for npm run test:deep.
    it.skipIf(isDear && !isDeep && !isRewritten)(runsAsPrinted, { timeout: patience }, async () => {
      const result = await firstRun()
      expect(unmet(result)).toEqual([])
      const text = readFileSync(page, 'utf8')
      const current = withRuns(text, result)
      if (isRewritten) writeFileSync(page, current)
      else expect(text, 'npm run labs:docs writes the pages anew').toBe(current)
    })

    const seeds = Array.from({ length: Number(asked ?? 1) - 1 }, (_, i) => i + 2)
    if (seeds.length > 0) {
      const runs: LabResult[] = []
      it.each(seeds)('shows what it must with seed %i', { timeout: patience }, async (seed) => {
        const run = await runLab(lab, { seed, settings: isShort ? short : {} })
        runs.push(run)
        expect(unmet(run)).toEqual([])
      })

      it('has room to every bound with each of these seeds', () => {
        const rooms = [...roomsOf(lab.expectations, runs)].sort((a, b) => a.room - b.room)
        const [least] = rooms
        console.info(`${lab.name}: ${least?.room} of ${least?.figure} with seed ${least?.seed}, for: ${least?.says}`)
        expect(rooms.filter(({ room }) => room < roomMin)).toEqual([])
      })
    }

    it('gives the same bytes twice', { timeout: patience }, async () => {
      // All arms have what could differ: the clock, chance, and the engine.
      const [arm] = lab.arms
      const options = asked === undefined && arm !== undefined ? { settings: shortest(lab), arms: [arm.name] } : {}
      const run = (): Promise<LabResult> => runLab(lab, { seed: 77, ...options })
      const first = await run()
      expect(jsonReport([first]) === jsonReport([await run()])).toBe(true)
      if (asked !== undefined) expect(unmet(first)).toEqual([])
    })

    it('has two or three exercises, each with its answer, and sources', () => {
      expect(lab.exercises.length === 2 || lab.exercises.length === 3).toBe(true)
      const texts = lab.exercises.flatMap(({ ask, answer }) => [ask, answer])
      expect([lab.question, lab.predict, lab.today, ...texts, ...lab.sources].filter((one) => one.length < 10)).toEqual(
        [],
      )
      expect(lab.sources.length).toBeGreaterThan(0)
    })

    it('names arms, and in its expectations no others', () => {
      const names = lab.arms.map((arm) => arm.name)
      expect(new Set(names).size).toBe(names.length)
      expect(lab.expectations.flatMap(({ arms }) => arms).filter((name) => !names.includes(name))).toEqual([])
      expect(new Set(lab.expectations.map(({ says }) => says)).size).toBe(lab.expectations.length)
    })
  })
}

function unmet({ expectations }: LabResult): unknown {
  return expectations.filter(({ verdict }) => verdict !== 'holds')
}

function pageOf(lab: Lab): string {
  return fileURLToPath(new URL(`../../../../docs/labs/${lab.name}.md`, import.meta.url))
}
