/**
 * challenge/CH2: the given program of each challenge fails, and a reference program passes. The reference programs lie here, outside
 * of what a learner gets. One seed of the judge; all of them with LAB_SEEDS set (`npm run labs:seeds`).
 */
import { describe, expect, it } from 'vitest'
import { challenges } from '../src/challenges/catalogue.ts'
import { Program } from '../src/challenges/challenge.ts'
import { judge, loadProgram } from '../src/challenges/judge.ts'
import { figureOf } from '../src/lab.ts'

const file = (path: string): URL => new URL(path, import.meta.url)
const seeds = process.env['LAB_SEEDS'] === undefined ? { seeds: 1 } : {}

describe.each(challenges)('$name', (challenge) => {
  it('fails with the given program, and passes with a good one', { timeout: 300_000 }, async () => {
    const given = await loadProgram(file(`../challenges/${challenge.name}/solution.mjs`), challenge)
    const reference = await loadProgram(file(`challenges/${challenge.name}.mjs`), challenge)
    const results = await judge(challenge, { given, yours: reference }, seeds)
    expect(results.flatMap(({ expectations }) => expectations.filter(({ verdict }) => verdict !== 'holds'))).toEqual([])
    const before = results[0]?.arms.find(({ name }) => name === 'given')
    if (before === undefined) throw new Error('the given program was not run')
    expect(challenge.goals.filter(({ figure, holds }) => !holds(figureOf(before, figure)))).not.toEqual([])
    expect(before.heatmaps.length).toBeGreaterThan(0)
  })
})

it('ends with a program that asks the store nothing, and asks it for numbers as it has answered them', async () => {
  const challenge = challenges.find(({ name }) => name === 'invoice-numbers')
  if (challenge === undefined) throw new Error('there is no such challenge')
  const types = new Set<string>()
  let last = 0
  const invoices = new Map<unknown, unknown>()
  const program = new Program({
    createInvoice: (_db: unknown, invoice: unknown) => {
      invoices.set(++last, invoice)
      return last
    },
    findInvoice: (_db: unknown, number: unknown) => {
      types.add(typeof number)
      return invoices.get(number)
    },
  })
  await judge(challenge, { given: program, yours: program }, { seeds: 1 })
  expect([...types]).toEqual(['number'])
})
