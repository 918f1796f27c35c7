/**
 * challenge/CH2: the given program of each challenge fails, right programs pass and wrong ones fail. They lie here, outside of what a
 * learner gets: `challenges/NAME/right-….mjs` and `wrong-….mjs`, each with its idea in its first line. Some build on another one, or on the
 * given program. Two of each with one seed and a load that is shorter than the short one; all of them with the whole load and all seeds by
 * `npm run test:deep`, which also runs every given program again; `npm run golden` keeps what it did.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { challenges } from '../src/challenges/catalogue.ts'
import { givenFile, keptGiven } from '../src/challenges/given.ts'
import { type Judgement, judge, judgeSeeds, runProgram } from '../src/challenges/judge.ts'
import { Stage } from '../src/challenges/stage.ts'
import { figureOf } from '../src/lab.ts'

const isRewrite = process.env['GOLDEN'] === 'rewrite'
const seeds = isDeep ? judgeSeeds : judgeSeeds.slice(0, 1)
const timeout = 600_000

/** Judged by `npm test`, too: of each challenge two right programs and two wrong ones. */
const judgedAlways: Readonly<Record<string, readonly string[]>> = {
  'page-ten-thousand': ['right-cursor', 'right-keyset', 'wrong-next-missing', 'wrong-invented'],
  'customer-keys': ['right-reversed', 'right-multiplied', 'wrong-exit', 'wrong-memory'],
  'invoice-numbers': ['right-blocks', 'right-allocated', 'wrong-counter-in-memory', 'wrong-buffer'],
  'event-time': ['right-joined-property', 'right-names', 'wrong-time-first', 'wrong-memory'],
  'like-button': ['right-gathered', 'right-counters', 'wrong-buffer', 'wrong-200-counters'],
  'follower-list': ['right-children', 'right-entities', 'wrong-never-unfollows', 'wrong-memory'],
  'expire-a-million': ['right-mark', 'right-generation', 'wrong-only-hides', 'wrong-deletes-all'],
  'move-the-kind': ['right-hash', 'right-together', 'wrong-no-copy', 'wrong-memory'],
}

const folderOf = (name: string): string => fileURLToPath(new URL(`challenges/${name}/`, import.meta.url))

/** In the short load of `move-the-kind` tablets learn too late what B gets, so that a right program is refused, too. */
const isShort = (name: string, begin: 'right' | 'wrong'): boolean =>
  !isDeep && (begin === 'wrong' || name !== 'move-the-kind')

/** The programs of a challenge whose names begin so. */
function programs(name: string, begin: 'right' | 'wrong'): readonly string[] {
  const found = readdirSync(folderOf(name))
    .filter((file) => file.startsWith(`${begin}-`) && file.endsWith('.mjs'))
    .toSorted()
  expect(found.length).toBeGreaterThanOrEqual(5)
  if (isDeep) return found
  const some = found.filter((file) => judgedAlways[name]?.includes(file.slice(0, -'.mjs'.length)))
  expect(some).toHaveLength(2)
  return some
}

const failures = ({ fault, results }: Judgement): unknown =>
  fault ?? results.flatMap(({ expectations }) => expectations.filter(({ verdict }) => verdict === 'fails'))

describe.each(challenges)('$name', (challenge) => {
  const { name, goals } = challenge

  it('has a given program that fails, with a picture of its heat', () => {
    const given = keptGiven(name)
    expect(Object.entries(goals).filter(([figure, { holds }]) => !holds(figureOf(given, figure)))).not.toEqual([])
    expect(given.heatmaps.length).toBeGreaterThan(0)
  })

  // The others take long.
  if (isDeep || isRewrite || name === 'invoice-numbers')
    it('has the golden figures of its given program', { timeout }, async () => {
      const { arm, fault } = await runProgram(challenge, givenFile(name, 'solution.mjs'), judgeSeeds[0] ?? 0)
      expect(fault).toBeUndefined()
      const given = { ...arm, name: 'given', about: 'the program as it was given' }
      if (isRewrite) writeFileSync(givenFile(name, 'given.jsonl'), `${JSON.stringify(given)}\n`)
      expect(keptGiven(name)).toEqual(given)
    })

  describe('judged', () => {
    // A small part of the short load, and one restart during it: calls and processes take most of the time. Numbers of invoices, judged by
    // their rate, need half of it.
    beforeEach(() => {
      if (isDeep) return
      vi.spyOn(Stage.prototype, 'share', 'get').mockReturnValue(name === 'invoice-numbers' ? 0.1 : 0.03)
      vi.spyOn(Stage.prototype, 'restarts', 'get').mockReturnValue(1)
    })

    it.each(programs(name, 'right'))('passes %s', { timeout }, async (file) => {
      const options = { seeds, isShort: isShort(name, 'right') }
      expect(failures(await judge(challenge, folderOf(name) + file, undefined, options))).toEqual([])
    })

    it.each(programs(name, 'wrong'))('fails %s', { timeout }, async (file) => {
      const path = folderOf(name) + file
      const limits = file.includes('loop') ? { cpuSeconds: 1 } : {}
      const judgement = await judge(challenge, path, undefined, {
        seeds,
        isShort: isShort(name, 'wrong'),
        limits,
      })
      expect(judgement.passed).toBe(false)
      // The second line of a wrong program is what the judge has to say of it.
      const wanted = readFileSync(path, 'utf8').split('\n')[1]?.slice(3) ?? ''
      expect(judgement.fault ?? JSON.stringify(failures(judgement))).toContain(wanted)
      // It fails several goals, and the hint is of the one that comes first.
      const told = Object.values(goals).find(({ says }) => says === wanted)
      if (file === 'wrong-memory.mjs') expect(judgement.hint).toBe(told?.hint)
    })
  })
})
