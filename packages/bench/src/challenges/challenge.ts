/**
 * A challenge: a small program with a bad design, the load it gets, and what a good one must reach.
 *
 *   program (solution.mjs) ── its functions ──▶ run() calls them under simulated load ──▶ figures, heat ──▶ expectations
 *
 * Judging runs the given program and the learner's one as two arms of a lab, over seeds that are not shown. The expectations look at the
 * learner's arm alone; the given one stands beside it for comparison.
 *
 * CH1  Figures are measured from outside of the program: by the engine, by the meter of {@link Db}, and by asking for what was stored.
 * CH2  The given program fails and the reference program passes, with every seed.            test/challenges.test.ts
 */
import type { findingAdvice } from '@sixtables/engine'
import { type Expectation, figureOf, inWords, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'

/** A program that is judged: the functions of its module. */
export class Program {
  readonly #functions: Readonly<Record<string, unknown>>

  /** @param functions - the exports of a module */
  constructor(functions: Readonly<Record<string, unknown>>) {
    this.#functions = functions
  }

  has(name: string): boolean {
    return typeof this.#functions[name] === 'function'
  }

  /** Calls a function that the program exports; what it throws comes out of here. */
  async call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const found = this.#functions[name]
    if (typeof found !== 'function') throw new Error(`the program exports no function ${name}`)
    return await found(...args)
  }
}

export interface Challenge {
  /** As on the command line, and as its folder in `challenges/`. */
  readonly name: string
  readonly title: string
  /** How long a learner needs, believed. */
  readonly minutes: number
  /** The task in a few sentences: what the program does, and what is wrong. */
  readonly task: string
  /** One hint, given with a verdict that fails. */
  readonly hint: string
  /** The lab that explains it. */
  readonly lab: string
  /** The functions that a program must export. */
  readonly functions: readonly string[]
  readonly settings: Lab['settings']
  /** Runs a program under load, and records what came of it. */
  run(session: ArmSession, program: Program): Promise<void>
  readonly goals: readonly Goal[]
  /** Findings of a watched server that mean the design is still bad. */
  readonly findings: readonly (keyof typeof findingAdvice)[]
}

/** A bound on a figure. */
export interface Goal {
  /** The goal, in the present tense. */
  readonly says: string
  readonly figure: string
  readonly holds: (value: number) => boolean
}

export const armGiven = 'given'
export const armYours = 'yours'

export function atMost(says: string, figure: string, most: number): Goal {
  return { says, figure, holds: (value) => value <= most }
}

export function atLeast(says: string, figure: string, least: number): Goal {
  return { says, figure, holds: (value) => value >= least }
}

/** The challenge as a lab whose arms are the two programs. */
export function labOf(challenge: Challenge, programs: { readonly given: Program; readonly yours: Program }): Lab {
  const { name, title, task, hint, lab, settings, goals } = challenge
  return {
    name,
    title,
    question: task,
    predict: 'Which figures of the given program are bad, and what will your change do to each?',
    idea: `The lab ${lab} explains the effect.`,
    exercises: [],
    today: '',
    sources: [hint],
    settings,
    arms: [
      {
        name: armGiven,
        about: 'the program as it was given',
        run: (session) => challenge.run(session, programs.given),
      },
      { name: armYours, about: 'your program', run: (session) => challenge.run(session, programs.yours) },
    ],
    expectations: goals.map(expectationOf),
  }
}

function expectationOf({ says, figure, holds }: Goal): Expectation {
  return {
    says,
    arms: [armYours],
    judge: (of) => {
      const yours = of(armYours)
      const value = figureOf(yours, figure)
      const unit = yours.figures.find((one) => one.name === figure)?.unit ?? ''
      return { holds: holds(value), found: `${figure}: ${inWords(value)}${unit === '' ? '' : ` ${unit}`}` }
    },
  }
}
