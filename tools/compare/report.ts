/** What a run prints: the classes with their counts, and each unexplained difference with its smallest request. */
import { classes } from './classes/index.ts'
import { show } from './leaves.ts'
import type { Outcome, Unexplained } from './run.ts'

export function report(outcomes: readonly Outcome[]): string {
  const lines: string[] = []
  for (const { mode, cases, steps, answered, counts, unexplained, unexplainedKinds } of outcomes) {
    const differing = [...counts.values()].reduce((sum, count) => sum + count, 0)
    lines.push(
      '',
      `--mode ${mode}: ${cases} cases, ${steps} requests (${answered} answered OK by both), ${differing} classified differences`,
    )
    for (const one of classes) {
      const { name, what } = one
      if (one[mode] !== undefined)
        lines.push(`  ${String(counts.get(name) ?? 0).padStart(6)}  ${name.padEnd(34)} ${what}`)
    }
    for (const [kind, count] of unexplainedKinds) lines.push(`  ${String(count).padStart(6)}  UNEXPLAINED ${kind}`)
    for (const one of unexplained) lines.push('', ...example(one))
  }
  return `${lines.join('\n')}\n`
}

function example({ area, place, seed, difference }: Unexplained): string[] {
  const { mode, step, index, aspect, path, ours, theirs, case: itsCase, ourAnswers, theirAnswers } = difference
  const lines = [
    `UNEXPLAINED in ${mode} mode: ${step.method}, ${aspect}${path.length === 0 ? '' : ` at ${path.join('.')}`}   (--seed ${seed} --area ${area}, case ${place})`,
  ]
  for (const [i, { method, request }] of itsCase.steps.slice(0, index + 1).entries()) {
    lines.push(`  ${i}. ${method} ${show(request)}`)
  }
  lines.push(`  ours:   ${show(ours)}`, `  theirs: ${show(theirs)}`)
  const [mine, other] = [ourAnswers[index], theirAnswers[index]]
  if (aspect === 'code') lines.push(`  ours says:   ${mine?.message}`, `  theirs says: ${other?.message}`)
  else lines.push(`  our answer:   ${show(mine?.body)}`, `  their answer: ${show(other?.body)}`)
  return lines
}

export function reportJson(outcomes: readonly Outcome[]): string {
  const plain = outcomes.map(({ mode, cases, steps, answered, counts, unexplained }) => ({
    mode,
    cases,
    requests: steps,
    answered,
    classes: Object.fromEntries(counts),
    unexplained: unexplained.map(({ area, place, seed, difference }) => ({
      area,
      case: place,
      seed,
      method: difference.step.method,
      aspect: difference.aspect,
      path: difference.path.join('.'),
      ours: difference.ours,
      theirs: difference.theirs,
      steps: difference.case.steps.slice(0, difference.index + 1),
    })),
  }))
  return show(plain)
}
