/**
 * The room of an expectation: how far one figure of a run has to move, as a part of it, before the verdict turns.
 *
 *   served 0.95 of 8 × as many, bound 0.85 of it     room 0.1: with a tenth less it fails
 *
 * Figures that are the same with every seed count for nothing: nothing moves them. Nor does a figure whose verdict turns with any move, up or
 * down, since that is a count which is exact.
 */
import type { Expectation } from '../../src/lab.ts'
import type { ArmResult } from '../../src/measure/recorder.ts'
import type { LabResult } from '../../src/runner.ts'

export interface Room {
  readonly says: string
  /** 0 to 1; 1 when no move of a figure by its own size turns the verdict. */
  readonly room: number
  readonly seed: number
  /** The figure that is closest to a bound. */
  readonly figure: string
}

const steps: readonly number[] = [0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 0.99]

/** @param runs - of one lab with several seeds, in each of which every expectation held */
export function roomsOf(expectations: readonly Expectation[], runs: readonly LabResult[]): readonly Room[] {
  return expectations.map((expectation) => {
    const rooms = runs.flatMap((run) =>
      expectation.arms.flatMap((arm) =>
        varying(arm, runs).map((figure): Room => {
          const room = roomOfFigure(expectation, run.arms, arm, figure)
          return { says: expectation.says, room, seed: run.seed, figure: `${arm}: ${figure}` }
        }),
      ),
    )
    const none = { says: expectation.says, room: 1, seed: 0, figure: 'none varies' }
    return rooms.reduce((least, one) => (one.room < least.room ? one : least), none)
  })
}

/** Figures of an arm that are not the same in all runs. */
function varying(arm: string, runs: readonly LabResult[]): readonly string[] {
  const values = new Map<string, Set<number>>()
  for (const { arms } of runs)
    for (const { name, value } of arms.find((one) => one.name === arm)?.figures ?? [])
      values.set(name, (values.get(name) ?? new Set()).add(value))
  return [...values].flatMap(([name, { size }]) => (size > 1 ? [name] : []))
}

function roomOfFigure({ judge }: Expectation, arms: readonly ArmResult[], arm: string, figure: string): number {
  const holds = (part: number): boolean =>
    judge((name) => {
      const found = arms.find((one) => one.name === name) as ArmResult
      const moved = found.figures.map((one) => (one.name === figure ? { ...one, value: one.value * (1 + part) } : one))
      return name === arm ? { ...found, figures: moved } : found
    }).holds
  if (!holds(1e-6) && !holds(-1e-6)) return 1
  return steps.find((part) => !holds(part) || !holds(-part)) ?? 1
}
