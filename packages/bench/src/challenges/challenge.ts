/**
 * A challenge: a small program with a bad design, the load it gets, and what a good one must reach.
 *
 *   program, in processes of its own ── its calls ──▶ run() in the judge's process: store, time, load ──▶ figures ──▶ goals
 *
 * The given program and the learner's run with the same seed and the same measure; the given one's figures are kept (given.ts).
 *
 * - Figures are measured outside of the program: by the engine, by the meter of {@link Db}, and by asking for what was stored.
 * CH2  The given program fails and right programs pass, with every seed.                      test/challenges.test.ts
 */
import type { findingAdvice } from '@sixtables/engine'
import type { Lab } from '../lab.ts'
import { defaultsOf, type SettingValues, tabletSettingValues } from '../settings.ts'
import type { ProgramFunction } from './program-process.ts'
import type { Stage } from './stage.ts'

export interface Challenge {
  /** As on the command line, and as its folder in `challenges/`. */
  readonly name: string
  readonly title: string
  /** How long a learner needs, believed. */
  readonly minutes: number
  /** The task in a few sentences: what the program does, and what is wrong. */
  readonly task: string
  /** The lab that explains it. */
  readonly lab: string
  readonly functions: readonly ProgramFunction[]
  readonly settings: Lab['settings']
  /** `load.slotMs` of the short load; default: twice as long as in the settings. */
  readonly shortSlotMs?: number
  /** Runs the program of a stage under load, and records what came of it. */
  run(stage: Stage): Promise<void>
  /** By the figures that they bound. */
  readonly goals: Readonly<Record<string, Goal>>
  /** Findings of a watched server that mean the design is still bad. */
  readonly findings: readonly (keyof typeof findingAdvice)[]
}

/** A bound on a figure. */
export interface Goal {
  /** The goal, in the present tense. */
  readonly says: string
  readonly holds: (value: number) => boolean
  readonly hint: string
}

export const armYours = 'yours'

export const challengeSettings: SettingValues = { ...tabletSettingValues, ...defaultsOf('client.rpcMs') }

export function atMost(says: string, most: number, hint: string): Goal {
  return { says, holds: (value) => value <= most, hint }
}

/** Nothing of the kind may be counted. */
export function none(says: string, hint: string): Goal {
  return atMost(says, 0, hint)
}

export function atLeast(says: string, least: number, hint: string): Goal {
  return { says, holds: (value) => value >= least, hint }
}
