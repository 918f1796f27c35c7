/**
 * A lab's run as lines: the question with a request for a prediction before it; the arms' figures side by side, their texts and pictures,
 * and the verdicts after it.
 */
import { inWords, type Lab } from '../lab.ts'
import type { ArmResult, Figure } from '../measure/recorder.ts'
import type { JudgedExpectation, LabResult } from '../runner.ts'
import { compared } from './comparison.ts'
import type { InkLine } from './ink.ts'
import { drawChart, drawFlows, drawHeatmaps } from './picture.ts'

const columnsMax = 118

export function terminalHead({ name, title, question, predict }: Lab, seed: number): InkLine[] {
  return [
    [{ text: `${name}: ${title}`, colour: 15 }, `   seed ${seed}`],
    ...wrapped(question, 2),
    ...wrapped(`Predict: ${predict}`, 2),
    [],
  ]
}

export function terminalReport(result: LabResult): InkLine[] {
  return [
    ...figureTable(result.arms),
    ...pictures(result.arms, result.arms, 'with charts'),
    [],
    ...result.expectations.flatMap(verdictLines),
    [outcome(result)],
  ]
}

function outcome({ lab, passed }: LabResult): InkLine[number] {
  if (passed === undefined) return `${lab}: nothing was judged`
  return passed ? `${lab}: passed` : { text: `${lab}: FAILED`, colour: 203 }
}

/** The part of a run on the lab's documentation page: figures, and texts and plots of some arms. */
export function pageExcerpt(result: LabResult, arms: readonly string[]): InkLine[] {
  const shown = result.arms.filter(({ name }) => arms.includes(name))
  return [...figureTable(result.arms), ...pictures(result.arms, shown, 'without')]
}

/** The verdicts; the page folds them until the reader has a prediction. */
export function verdictExcerpt(result: LabResult): InkLine[] {
  return [...result.expectations.flatMap(verdictLines), [`${result.lab}: ${result.passed ? 'passed' : 'FAILED'}`]]
}

function verdictLines({ verdict, says, found }: JudgedExpectation): InkLine[] {
  const mark = {
    holds: { text: 'holds  ', colour: 77 },
    fails: { text: 'FAILS  ', colour: 203 },
    skipped: { text: 'skipped', colour: 244 },
  }[verdict]
  return [
    ['  ', mark, `  ${says}`],
    ['           ', { text: found, colour: 244 }],
  ]
}

function pictures(
  arms: readonly ArmResult[],
  shown: readonly ArmResult[],
  charts: 'with charts' | 'without',
): InkLine[] {
  const names = shown.map(({ name }) => name)
  const all = compared(arms)
  const drawn = [
    ...all.flows.flatMap((flows) => drawFlows(flows, names)),
    ...all.heatmaps.flatMap((heatmaps) => drawHeatmaps(heatmaps, names)),
    ...(charts === 'without' ? [] : all.charts.flatMap(drawChart)),
  ]
  return [...shown.flatMap(armTexts), ...(drawn.length === 0 ? [] : [[], ...drawn])]
}

function armTexts({ name, about, texts }: ArmResult): InkLine[] {
  if (texts.length === 0) return []
  const blocks = texts.flatMap(({ title, lines }): InkLine[] => [
    [`  ${title}`],
    ...lines.map((line): InkLine => [`    ${line}`]),
  ])
  return [[], [{ text: name, colour: 15 }, `: ${about}`], ...blocks]
}

/** A table with arms as rows if that fits the width, else as columns, else one below the other. */
function figureTable(arms: readonly ArmResult[]): InkLine[] {
  const heads = new Map<string, Figure>()
  for (const arm of arms) for (const figure of arm.figures) heads.set(figure.name, figure)
  const cell = (arm: ArmResult, name: string): string => {
    const figure = arm.figures.find((one) => one.name === name)
    return figure === undefined ? '' : inWords(figure.value)
  }
  const title = ({ name, unit }: Figure): string => (unit === '' ? name : `${name} (${unit})`)
  const byArm = [
    ['', ...[...heads.values()].map(title)],
    ...arms.map((arm) => [arm.name, ...[...heads.keys()].map((name) => cell(arm, name))]),
  ]
  const byFigure = (byArm[0] ?? []).map((_, column) => byArm.map((row) => row[column] ?? ''))
  for (const table of [byArm, byFigure]) {
    const lines = aligned(table)
    if (lines.every((line) => line.length + 2 <= columnsMax)) return lines.map((line) => [`  ${line}`])
  }
  return arms.flatMap((arm): InkLine[] => [
    [`  ${arm.name}`],
    ...aligned(arm.figures.map((figure) => [title(figure), inWords(figure.value)])).map(
      (line): InkLine => [`    ${line}`],
    ),
  ])
}

/** Aligns the first column to the left, all others to the right. */
function aligned(table: readonly (readonly string[])[]): string[] {
  const widths = (table[0] ?? []).map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)))
  return table.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('   ')
      .trimEnd(),
  )
}

function wrapped(words: string, indent: number): InkLine[] {
  const lines: string[] = []
  let line = ''
  for (const word of words.split(' ')) {
    if (line.length + word.length + 1 + indent > columnsMax) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => [`${' '.repeat(indent)}${one}`])
}
