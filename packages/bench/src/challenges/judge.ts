/** Judges a program of a challenge: with each seed beside the given program, until one seed fails. */
import { pathToFileURL } from 'node:url'
import { UsageError } from '../cli/errors.ts'
import { type LabResult, runLab } from '../runner.ts'
import { type Challenge, labOf, Program } from './challenge.ts'

/** Seeds of the judge; a program that is right for one of them alone is not right. */
const judgeSeeds = [20_011, 7, 4_093]

export interface JudgeOptions {
  /** How many of the judge's seeds; default: all. */
  readonly seeds?: number
  readonly onProgress?: (arm: string, share: number) => void
}

/**
 * Runs both programs and compares the learner's figures with the goals.
 *
 * @returns a result for each seed that was run; the last one is the first that failed, or of the last seed
 */
export async function judge(
  challenge: Challenge,
  programs: { readonly given: Program; readonly yours: Program },
  { seeds = judgeSeeds.length, onProgress }: JudgeOptions = {},
): Promise<readonly LabResult[]> {
  const results: LabResult[] = []
  for (const [i, seed] of judgeSeeds.slice(0, seeds).entries()) {
    // The given program is drawn once, for comparison.
    const arms = i === 0 ? undefined : ['yours']
    const result = await runLab(labOf(challenge, programs), { seed, arms, onProgress })
    results.push(result)
    if (!result.passed) break
  }
  return results
}

/**
 * The program of a file.
 *
 * @throws UsageError when the file is missing, is no module or lacks a function of the challenge
 */
export async function loadProgram(path: string | URL, { name, functions }: Challenge): Promise<Program> {
  const url = typeof path === 'string' ? pathToFileURL(path) : path
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(url.href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw new UsageError(`${url.pathname} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
  const program = new Program(module)
  const missing = functions.filter((one) => !program.has(one))
  if (missing.length > 0) {
    throw new UsageError(
      `${url.pathname} must export ${missing.join(', ')}: the challenge ${name} calls ${functions.join(', ')}`,
    )
  }
  return program
}
