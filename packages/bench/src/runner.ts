/**
 * One lab, one seed, one result.
 *
 * - The result is a function of the lab, the seed, the settings and the arms chosen; nothing of the machine is in it.
 * - An arm that the store refuses, such as one with settings beyond its capacity, or that has nothing to measure has no figures: that it
 *   ends early is a verdict, and those that need it are skipped. Any other error of an arm ends the run.
 */
import { DatastoreError } from '@sixtables/engine'
import { type Expectation, type Lab, type LabTexts, numbersInWords, textsOf } from './lab.ts'
import { type ArmResult, Unmeasured } from './measure/recorder.ts'
import { ArmSession, type SessionOptions } from './session.ts'
import type { SettingName, SettingValues } from './settings.ts'

export interface RunOptions {
  readonly seed: number
  /** Names of the arms to run; default: all. */
  readonly arms?: readonly string[] | undefined
  /** In place of the lab's own. */
  readonly settings?: SettingValues
  /** Told which arm runs and how far it is, from 0 to 1. */
  readonly onProgress?: ((arm: string, share: number) => void) | undefined
  /** For tests alone, which break an engine to see that a lab notices. */
  readonly engine?: SessionOptions['engine']
  readonly hook?: SessionOptions['hook']
}

export interface JudgedExpectation {
  readonly says: string
  /** `skipped`: an arm that it needs was not run. */
  readonly verdict: 'holds' | 'fails' | 'skipped'
  readonly found: string
}

export interface LabResult extends LabTexts {
  readonly lab: string
  readonly seed: number
  readonly settings: SettingValues
  readonly arms: readonly ArmResult[]
  readonly expectations: readonly JudgedExpectation[]
  /** `undefined`, and absent in JSON: nothing was expected. */
  readonly passed: boolean | undefined
}

export async function runLab(lab: Lab, options: RunOptions): Promise<LabResult> {
  const { seed, onProgress } = options
  const values = settingsOf(lab, options.settings ?? {})
  const arms: ArmResult[] = []
  const endedEarly: JudgedExpectation[] = []
  for (const arm of lab.arms) {
    if (options.arms !== undefined && !options.arms.includes(arm.name)) continue
    onProgress?.(arm.name, 0)
    const session = new ArmSession({
      arm: arm.name,
      seed,
      settings: values,
      engine: options.engine,
      hook: options.hook,
      onProgress: (share) => onProgress?.(arm.name, share),
    })
    try {
      await arm.run(session)
      arms.push(session.record.result(arm.name, arm.about))
    } catch (error) {
      const isRefused = error instanceof DatastoreError
      if (!isRefused && !(error instanceof Unmeasured)) throw error
      const found = isRefused ? `${error.code}: ${error.message}` : error.message
      endedEarly.push({ says: `${arm.name}: runs to its end`, verdict: 'fails', found })
    } finally {
      await session.close()
    }
  }
  const expectations = [...endedEarly, ...lab.expectations.map((expectation) => judged(expectation, arms))]
  return {
    lab: lab.name,
    ...textsOf(lab),
    seed,
    settings: values,
    arms,
    expectations,
    passed: expectations.length === 0 ? undefined : expectations.every(({ verdict }) => verdict !== 'fails'),
  }
}

/** The lab's settings with those of the run, in the lab's order. */
function settingsOf(lab: Lab, asked: SettingValues): SettingValues {
  const entries = Object.entries(lab.settings) as [SettingName, number][]
  return Object.fromEntries(entries.map(([name, own]) => [name, asked[name] ?? own]))
}

export function judged(expectation: Expectation, arms: readonly ArmResult[]): JudgedExpectation {
  const { says } = expectation
  const absent = expectation.arms.filter((name) => !arms.some((arm) => arm.name === name))
  if (absent.length > 0) return { says, verdict: 'skipped', found: `not judged without ${absent.join(', ')}` }
  const { holds, found } = expectation.judge((name) => {
    const arm = arms.find((one) => one.name === name)
    if (arm === undefined || !expectation.arms.includes(name))
      throw new Error(`"${says}" does not name the arm ${name}`)
    return arm
  })
  return { says, verdict: holds ? 'holds' : 'fails', found: numbersInWords(found) }
}
