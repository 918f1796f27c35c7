/**
 * Judges a program of a challenge: with one seed after the other, until one fails. The given program's figures stand beside, as they are kept.
 *
 *   seed ──▶ Stage: store and time here, the program in processes of its own ──▶ figures, or a fault ──▶ verdict
 *
 * - The verdict is a function of program and seed, and is reached in this process alone.
 * J2  However the program ends, it has not passed and one sentence says why.                       test/judge.test.ts
 */
import { figureOf, inWords } from '../lab.ts'
import type { ArmResult } from '../measure/recorder.ts'
import type { JudgedExpectation, LabResult } from '../runner.ts'
import { ArmSession } from '../session.ts'
import type { SettingValues } from '../settings.ts'
import { armYours, type Challenge } from './challenge.ts'
import { ProgramFault, RefusedCall } from './fault.ts'
import { type ProcessLimits, type ProgramSource, processLimits } from './program-process.ts'
import { Stage } from './stage.ts'

/** Seeds of the judge; a program that is right for one of them alone is not right. */
export const judgeSeeds: readonly number[] = [20_011, 4_093, 7_919]

export interface JudgeOptions {
  /** Default: all of the judge's; for a command, which takes several times as long, the first one. */
  readonly seeds?: readonly number[]
  readonly limits?: Partial<ProcessLimits>
  /** Whether the load is the short one; default: for a command alone, whose calls take real time. */
  readonly isShort?: boolean
  readonly onProgress?: (share: number) => void
  readonly onOutput?: (text: string) => void
}

export interface Judgement {
  readonly passed: boolean
  /** How the program ended before the judge was done: one sentence. */
  readonly fault?: string
  /** Chosen by the first goal that failed. */
  readonly hint?: string
  /** One for each seed that was run; the last one is the first that failed, or of the last seed. */
  readonly results: readonly LabResult[]
}

/** @param given - what the given program did with the first seed */
export async function judge(
  challenge: Challenge,
  program: ProgramSource,
  given: ArmResult | undefined,
  options: JudgeOptions = {},
): Promise<Judgement> {
  const { seeds = typeof program === 'string' ? judgeSeeds : judgeSeeds.slice(0, 1), onProgress } = options
  const results: LabResult[] = []
  for (const [i, seed] of seeds.entries()) {
    const told = (share: number): void => onProgress?.((i + share) / seeds.length)
    const { arm, fault } = await runProgram(challenge, program, seed, { ...options, onProgress: told })
    const arms = given === undefined || i > 0 ? [arm] : [given, arm]
    const result = resultOf(challenge, seed, arms, verdictsOf(challenge.goals, arm, fault))
    results.push(result)
    if (fault !== undefined) return { passed: false, fault, results }
    const failed = Object.values(challenge.goals).find((_, goal) => result.expectations[goal]?.verdict === 'fails')
    if (failed !== undefined) return { passed: false, hint: failed.hint, results }
  }
  return { passed: true, results }
}

/** Runs a program with one seed; the same program and seed give the same figures. @returns these, and the fault that ended it */
export async function runProgram(
  challenge: Challenge,
  program: ProgramSource,
  seed: number,
  { limits, isShort = typeof program !== 'string', onProgress, onOutput }: JudgeOptions = {},
): Promise<{ readonly arm: ArmResult; readonly fault: string | undefined }> {
  const { name, functions } = challenge
  const settings = isShort ? shortSettings(challenge) : challenge.settings
  const session = new ArmSession({ arm: name, seed, settings, onProgress })
  const stage = new Stage(session, {
    functions,
    isShort,
    source: program,
    limits: { ...processLimits, ...limits },
    onOutput: (text) => onOutput?.(text),
  })
  let fault: string | undefined
  try {
    await challenge.run(stage)
  } catch (error) {
    if (!(error instanceof ProgramFault || error instanceof RefusedCall)) throw error
    fault = error.message
  } finally {
    await stage.tell()
    stage.close()
    await session.close()
  }
  return { arm: session.record.result(armYours, 'your program'), fault }
}

/** A ramp has few operations in a slot already: in the short load the slots are longer. */
function shortSettings({ settings, shortSlotMs }: Challenge): SettingValues {
  const slotMs = settings['load.slotMs']
  return slotMs === undefined ? settings : { ...settings, 'load.slotMs': shortSlotMs ?? slotMs * 2 }
}

function verdictsOf(
  goals: Challenge['goals'],
  arm: ArmResult,
  fault: string | undefined,
): readonly JudgedExpectation[] {
  if (fault !== undefined) return [{ says: 'the program runs to the end', verdict: 'fails', found: fault }]
  return Object.entries(goals).map(([figure, { says, holds }]) => {
    const value = figureOf(arm, figure)
    const unit = arm.figures.find((one) => one.name === figure)?.unit ?? ''
    const found = `${figure}: ${inWords(value)}${unit === '' ? '' : ` ${unit}`}`
    return { says, verdict: holds(value) ? 'holds' : 'fails', found }
  })
}

function resultOf(
  { name, title, task, lab, settings }: Challenge,
  seed: number,
  arms: readonly ArmResult[],
  expectations: readonly JudgedExpectation[],
): LabResult {
  return {
    ...{ lab: name, title, seed, settings, arms, expectations },
    question: task,
    predict: 'Which figures of the given program are bad, and what will your change do to each?',
    idea: `The lab ${lab} explains the effect.`,
    exercises: [],
    today: '',
    sources: [],
    passed: expectations.every(({ verdict }) => verdict === 'holds'),
  }
}
