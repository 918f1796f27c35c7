/** The sections below the heat: the hottest tablets, entity groups under contention, findings. */
import type { Finding, GroupReport, TabletReport, TabletsReport } from '@sixtables/engine'
import { columns } from '../../framework/print.ts'
import { cut, type Ink, ink, type Line, line, wrap } from './line.ts'
import { bytes, count, percent, rate } from './units.ts'

/** A title and at most `rows` tablets, hottest first, each with remarks. */
export function tabletLines(
  { tablets, atMs, simulated, counted }: TabletsReport,
  width: number,
  rows: number,
): readonly Line[] {
  const hottest = [...tablets].sort((a, b) => load(b) - load(a) || b.rows - a.rows).slice(0, rows)
  if (hottest.length === 0) return []
  const rangeWidth = Math.max(16, width - (simulated ? 84 : 76))
  const cells = hottest.map((tablet) => [
    `  ${tablet.table}`,
    cut(rangeInWords(tablet), rangeWidth).padEnd(rangeWidth),
    rate(tablet.readsPerSecond).padStart(7),
    rate(tablet.writesPerSecond).padStart(8),
    percent(tablet.loadShare).padStart(6),
    ...(counted ? [count(tablet.rows).padStart(6), bytes(tablet.bytes).padStart(8)] : []),
    ...(simulated ? [String(tablet.server).padStart(6)] : []),
  ])
  const head = [
    'Hottest tablets',
    'range',
    'reads/s',
    'writes/s',
    ' share',
    ...(counted ? ['  rows', '    size'] : []),
    ...(simulated ? ['server'] : []),
  ]
  const [title = '', ...lines] = columns([head, ...cells])
  const shown: Line[] = [line(ink('title', title))]
  for (const [i, tablet] of hottest.entries()) {
    shown.push(line(lines[i] ?? ''))
    for (const [mark, words] of notesOf(tablet, atMs)) shown.push(line(ink(mark, `    ${words}`)))
  }
  return shown.slice(0, rows + 1)
}

function notesOf(tablet: TabletReport, atMs: number): readonly (readonly [Ink, string])[] {
  const { unavailableUntilMs, splitRefusal, tombstones, rows } = tablet
  const notes: (readonly [Ink, string])[] = []
  if (unavailableUntilMs !== undefined && unavailableUntilMs > atMs)
    notes.push(['warning', 'it moves: calls on it fail'])
  if (splitRefusal !== undefined) notes.push(['bad', `no split helps: ${splitRefusal.words}`])
  if (tombstones > rows) notes.push(['warning', `${count(tombstones)} tombstones that scans wade through`])
  return notes
}

function load({ readsPerSecond, writesPerSecond }: TabletReport): number {
  return readsPerSecond + writesPerSecond
}

function rangeInWords({ start, end }: TabletReport): string {
  if (start === '' && end === '') return 'all rows'
  return `${start || 'the start'} … ${end || 'the end'}`
}

/** Groups with waiting or conflicting commits; a group that is only busy is visible in the heat. */
export function contended(groups: readonly GroupReport[]): readonly GroupReport[] {
  return groups.filter(({ conflictsPerSecond, waitsPerSecond }) => conflictsPerSecond + waitsPerSecond > 0)
}

export function groupLines(groups: readonly GroupReport[], rows: number): readonly Line[] {
  if (groups.length === 0 || rows <= 0) return []
  const cells = groups
    .slice(0, rows)
    .map((group) => [
      `  ${cut(group.group, 40)}`,
      rate(group.commitsPerSecond).padStart(9),
      rate(group.conflictsPerSecond).padStart(11),
      rate(group.waitsPerSecond).padStart(7),
    ])
  const [title = '', ...lines] = columns([
    ['Entity groups under contention', 'commits/s', 'conflicts/s', 'waits/s'],
    ...cells,
  ])
  return [line(ink('title', title)), ...lines.map((text) => line(text))]
}

/** A title and findings in at most `height` lines; a finding that does not fit is left out whole. */
export function findingLines(findings: readonly Finding[], width: number, height: number): readonly Line[] {
  if (findings.length === 0 || height < 2) return []
  const lines: Line[] = [line(ink('title', `Findings (${findings.length})`))]
  for (const { words, remedy, lab, evidence } of findings) {
    const text = [...wrap(words, width - 4), ...wrap(evidence.join('; '), width - 4)]
    const advice = wrap(`${remedy} Lab: ${lab}.`, width - 4)
    if (lines.length + text.length + advice.length > height) {
      if (lines.length === 1 && height >= 2) lines.push(line(ink('warning', '  ! '), words))
      break
    }
    text.forEach((part, i) => {
      lines.push(line(ink('warning', i === 0 ? '  ! ' : '    '), part))
    })
    for (const part of advice) lines.push(line(ink('faint', `    ${part}`)))
  }
  return lines
}
