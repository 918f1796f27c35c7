/** A result as lines: the question, each arm's figures side by side, what the arms drew and wrote, and the verdicts. */
import { inWords } from '../lab.ts'
import type { ArmResult, Figure } from '../measure/recorder.ts'
import type { JudgedExpectation, LabResult } from '../runner.ts'
import type { InkLine } from './ink.ts'
import { drawChart, drawHeatmap } from './picture.ts'

const columnsMax = 118

export function terminalReport(result: LabResult): InkLine[] {
  return [
    [{ text: `${result.lab}: ${result.title}`, colour: 15 }, `   seed ${result.seed}`],
    ...wrapped(result.question, 2),
    [],
    ...figureTable(result.arms),
    ...result.arms.flatMap(armPictures),
    [],
    ...result.expectations.flatMap(verdictLines),
    [result.passed ? `${result.lab}: passed` : { text: `${result.lab}: FAILED`, colour: 203 }],
  ]
}

/** What a page of the documents shows of a run: the figures, and what some arms wrote and drew. */
export function pageExcerpt(result: LabResult, arms: readonly string[]): InkLine[] {
  const shown = result.arms.filter(({ name }) => arms.includes(name))
  return [...figureTable(result.arms), ...shown.flatMap((arm) => armPictures({ ...arm, charts: [] }))]
}

/** What the page keeps folded until the reader has a prediction. */
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

function armPictures(arm: ArmResult): InkLine[] {
  if (arm.texts.length + arm.charts.length + arm.heatmaps.length === 0) return []
  return [
    [],
    [{ text: arm.name, colour: 15 }, `: ${arm.about}`],
    ...arm.texts.flatMap((block): InkLine[] => [
      [`  ${block.title}`],
      ...block.lines.map((line): InkLine => [`    ${line}`]),
    ]),
    ...arm.heatmaps.flatMap(drawHeatmap),
    ...arm.charts.flatMap(drawChart),
  ]
}

/** Arms as rows where that fits the width, else as columns, else one below the other. */
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

/** The first column to the left, all others to the right. */
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
