/** The tasks of the labs that need no folder and no process: what there is, and a run of one lab. A page in a browser has these alone. */

import { challenges } from '../challenges/catalogue.ts'
import { armYours } from '../challenges/challenge.ts'
import { keptGiven } from '../challenges/given.ts'
import { type Judgement, judge } from '../challenges/judge.ts'
import { askedSettings, checkArms } from '../cli/asked.ts'
import { named, UsageError } from '../cli/errors.ts'
import { labs } from '../labs/catalogue.ts'
import { type DrawableResult, drawable } from '../report/comparison.ts'
import { runLab } from '../runner.ts'
import { catalogue } from './catalogue.ts'

export type PlainTask =
  | { readonly type: 'catalogue' }
  | {
      readonly type: 'run'
      readonly lab: string
      readonly seed: number
      /** Default: all. */
      readonly arms?: readonly string[] | undefined
      /** Settings by name; others keep the lab's own value. */
      readonly settings?: Readonly<Record<string, number>> | undefined
    }

export interface Progress {
  readonly arm: string
  readonly share: number
}

/** Shortest pause between progress messages: a lab makes progress at each step, but a reader looks only a few times a second. */
const progressEveryMs = 100

/** Passes on so much of the progress as a reader sees. */
export function seldom(tell: (progress: Progress) => void): (arm: string, share: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  let toldArm = ''
  return (arm, share) => {
    const now = performance.now()
    if (arm === toldArm && now < toldAt + progressEveryMs) return
    toldAt = now
    toldArm = arm
    tell({ arm, share })
  }
}

/** @throws UsageError for an impossible task */
export async function doTask(task: PlainTask, onProgress: (arm: string, share: number) => void): Promise<unknown> {
  if (task.type === 'catalogue') return catalogue()
  const lab = named(labs, 'lab', task.lab)
  const { seed, arms } = task
  checkArms(arms, [lab])
  const set = Object.entries(task.settings ?? {}).map(([name, value]) => `${name}=${value}`)
  return drawable(await runLab(lab, { seed, arms, settings: askedSettings(set, [lab]), onProgress }))
}

/** A program that a page judges, where programs are texts. */
export interface ProgramTask {
  readonly challenge: string
  readonly program: string
}

/** A judgement with its pictures. */
export interface PageJudgement extends Omit<Judgement, 'results'> {
  readonly results: readonly DrawableResult[]
}

/** Real seconds that a page's program may take for what one message of the judge starts. */
const pageSeconds = 10

/** @throws UsageError for an unknown challenge */
export async function judgeProgram(
  { challenge: name, program }: ProgramTask,
  onProgress: (arm: string, share: number) => void,
  onOutput: (text: string) => void,
): Promise<PageJudgement> {
  const challenge = challenges.find((one) => one.name === name)
  if (challenge === undefined) throw new UsageError(`there is no challenge ${name}`)
  const { results, ...verdict } = await judge(challenge, program, keptGiven(name), {
    limits: { wallSeconds: pageSeconds },
    onProgress: (share) => onProgress(armYours, share),
    onOutput,
  })
  return { ...verdict, results: results.map(drawable) }
}

/** The reason why a task is impossible; absent for other errors. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof UsageError ? error.message : undefined
}
