/**
 * A run: cases from a seed, played on both servers of a mode, and what came of them.
 *
 * R1  The same seed and number of cases give the same cases.
 * R2  Cases are played several at a time; each has its project, so that they do not meet.
 */
import fc from 'fast-check'
import type { Case, Mode } from './case.ts'
import { classOf } from './classes/index.ts'
import { type Difference, differencesOf } from './difference.ts'
import { type Area, type AreaCases, areasOf } from './generate/index.ts'
import { playOn, type Server } from './server.ts'

/** How many cases are under way at one time. */
const together = 4
const shrinkMs = 20_000

export interface Pair {
  readonly mode: Mode
  readonly ours: Server
  readonly theirs: Server
}

export interface Unexplained {
  readonly area: Area
  /** Where the case stands in the run: `--seed`, `--area` and this play it again. */
  readonly place: number
  readonly seed: number
  readonly difference: Difference
}

export type Outcome = Awaited<ReturnType<typeof compare>>

export interface RunOptions {
  readonly seed: number
  /** Cases of a mode, over all areas. */
  readonly runs: number
  readonly area?: Area | undefined
  readonly say: (line: string) => void
}

let projects = 0
/** Emulators that were not started by us may have what an earlier run left. */
const run = `c${Date.now().toString(36)}`

async function play({ mode, ours, theirs }: Pair, one: Case) {
  const project = `${run}-${projects++}`
  const [ourAnswers, theirAnswers] = await Promise.all([playOn(ours, project, one), playOn(theirs, project, one)])
  const answered = ourAnswers.filter(({ code }, i) => code === 'OK' && theirAnswers[i]?.code === 'OK').length
  return { differences: differencesOf({ mode, case: one, ourAnswers, theirAnswers }), answered }
}

/** What an unexplained difference is about, so that many like it are shown once. */
function kindOf({ case: { row }, step: { method }, aspect, ours, theirs }: Difference): string {
  const what = row === undefined ? method : `${method}, ${row.input}`
  return `${what}, ${aspect}${aspect === 'code' ? ` ${ours} / ${theirs}` : ''}`
}

export async function compare(pair: Pair, { seed, runs, area, say }: RunOptions) {
  // How often each class was seen, and each kind of difference without one; and the smallest example of each of these.
  const counts = new Map<string, number>()
  const unexplainedKinds = new Map<string, number>()
  const unexplained: Unexplained[] = []
  // Steps count as answered that both answered OK.
  let [cases, steps, answered] = [0, 0, 0]
  const areas = Object.entries<AreaCases>(areasOf(pair.mode)) as [Area, AreaCases][]
  const chosen = areas.filter(([name]) => area === undefined || name === area)
  const shares = chosen.reduce((sum, [, { share = 0 }]) => sum + share, 0)
  for (const [itsArea, { share = 0, cases: arbitrary, all }] of chosen) {
    const startedAt = Date.now()
    const count = Math.max(1, Math.round((runs * share) / shares))
    const list = all ?? fc.sample(arbitrary, { seed, numRuns: count })
    const found: { place: number; difference: Difference }[] = []
    const queue = list.entries()
    const worker = async (): Promise<void> => {
      for (const [place, one] of queue) {
        const played = await play(pair, one)
        answered += played.answered
        for (const difference of played.differences) {
          const name = classOf(difference)?.name
          if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
          else found.push({ place, difference })
        }
      }
    }
    await Promise.all(Array.from({ length: together }, worker))
    cases += list.length
    steps += list.reduce((sum, one) => sum + one.steps.length, 0)
    say(
      `${pair.mode}: ${itsArea}: ${list.length} cases in ${((Date.now() - startedAt) / 1000).toFixed(1)} s, ${found.length} unexplained`,
    )
    for (const { place, difference } of found.sort((a, b) => a.place - b.place)) {
      const kind = kindOf(difference)
      const shown = `${itsArea}: ${kind}`
      const before = unexplainedKinds.get(shown) ?? 0
      unexplainedKinds.set(shown, before + 1)
      // One of each kind is made smaller and shown.
      if (before > 0) continue
      const small = all === undefined ? await shrink(pair, arbitrary, { seed, place, kind }) : undefined
      unexplained.push({ area: itsArea, place, seed, difference: small ?? difference })
    }
  }
  return { mode: pair.mode, cases, steps, answered, counts, unexplainedKinds, unexplained }
}

/** The smallest case that still shows this kind of difference without a class. */
async function shrink(
  pair: Pair,
  arbitrary: fc.Arbitrary<Case>,
  { seed, place, kind }: { readonly seed: number; readonly place: number; readonly kind: string },
): Promise<Difference | undefined> {
  let smallest: Difference | undefined
  const property = fc.asyncProperty(arbitrary, async (one) => {
    const { differences } = await play(pair, one)
    const same = differences.find((difference) => kindOf(difference) === kind && classOf(difference) === undefined)
    if (same !== undefined) smallest = same
    return same === undefined
  })
  await fc.check(property, { seed, path: String(place), numRuns: 1, interruptAfterTimeLimit: shrinkMs })
  return smallest
}
