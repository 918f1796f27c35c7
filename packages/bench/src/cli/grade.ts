/** `sixtables-lab challenge grade`: judges the programs of a class and writes a table, one line for each folder. */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { judgeFolder, markFile } from '../challenges/folder.ts'
import { inWords } from '../lab.ts'
import type { ArmResult, Figure } from '../measure/recorder.ts'
import { UsageError } from './errors.ts'
import { checkFolders, type Io, writeOrRefuse } from './io.ts'

export interface GradeFlags {
  readonly folders: readonly string[]
  readonly json?: string | undefined
  readonly csv?: string | undefined
}

export interface Grade {
  readonly name: string
  /** Empty for a folder without a challenge. */
  readonly challenge: string
  readonly passed: boolean
  /** The missed goals with their figures, or the reason why the program ended. */
  readonly sentence: string
  /** Figures of the last seed. */
  readonly figures: readonly Figure[]
  /** Seconds of real time. */
  readonly seconds: number
}

/** @returns 0 when every folder was judged, passed or not; 2 when one of them could not be */
export async function gradeFolders({ folders, json, csv }: GradeFlags, io: Io): Promise<number> {
  checkFolders([json, csv])
  if (json === '-' && csv === '-') throw new UsageError('only one of --json and --csv can go to the standard output')
  const isTable = json === '-' || csv === '-'
  const missing = folders.find((folder) => !existsSync(folder))
  if (missing !== undefined) throw new UsageError(`there is no folder ${missing}`)
  const seen = new Set<string>()
  const all = folders.flatMap((folder) => programFolders(folder, seen))
  const grades: Grade[] = []
  for (const folder of all) {
    io.progress(`${folder} (${grades.length + 1} of ${all.length}) …`)
    const grade = await gradeOf(folder, io)
    grades.push(grade)
    io.progress('')
    if (!isTable) io.out(lineOf(grade))
    // With each program, so that a run that is interrupted leaves the table of what it has judged.
    if (json !== undefined && json !== '-') writeOrRefuse(io, json, jsonOf(grades))
    if (csv !== undefined && csv !== '-') writeOrRefuse(io, csv, csvOf(grades))
  }
  if (isTable) io.outRaw(json === '-' ? jsonOf(grades) : csvOf(grades))
  return grades.every(({ challenge }) => challenge !== '') ? 0 : 2
}

/** The folder itself if it holds a program, or those of its subfolders that do; each real folder once, as links may lead back. */
function programFolders(folder: string, seen: Set<string>): readonly string[] {
  if (!isFolder(folder)) return [folder]
  if (seen.size === seen.add(realpathSync(folder)).size) return []
  const names = readdirSync(folder).toSorted()
  if (names.some((name) => name === markFile || name.startsWith('solution.'))) return [folder]
  const inside = names
    .filter((name) => !/^(?:\.|node_modules$|__)/.test(name))
    .map((name) => join(folder, name))
    .filter((one) => isFolder(one) || !existsSync(one))
  return inside.length === 0 ? [folder] : inside.flatMap((one) => programFolders(one, seen))
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

async function gradeOf(folder: string, io: Io): Promise<Grade> {
  const begun = io.now()
  try {
    const { challenge, passed, fault, results } = await judgeFolder(folder)
    const last = results.at(-1)
    const missed = last?.expectations.filter(({ verdict }) => verdict === 'fails') ?? []
    const sentence = passed
      ? ''
      : (fault ?? `Missed: ${missed.map(({ says, found }) => `${says} (${found})`).join('; ')}.`)
    const arm: ArmResult | undefined = last?.arms.at(-1)
    const seconds = Math.round((io.now() - begun) / 100) / 10
    return { name: folder, challenge: challenge.name, passed, sentence, figures: arm?.figures ?? [], seconds }
  } catch (error) {
    // One folder keeps no other one from being judged.
    const sentence = error instanceof UsageError ? error.message : `the judge failed: ${String(error)}`
    return { name: folder, challenge: '', passed: false, sentence, figures: [], seconds: 0 }
  }
}

function lineOf({ name, challenge, passed, sentence, seconds }: Grade): string {
  const verdict = challenge === '' ? 'NOT JUDGED' : passed ? 'passed' : 'FAILED'
  return [name, challenge, verdict, `${inWords(seconds)} s`, sentence].filter((one) => one !== '').join('  ')
}

function jsonOf(grades: readonly Grade[]): string {
  return `${JSON.stringify(grades, null, 2)}\n`
}

function csvOf(grades: readonly Grade[]): string {
  const rows = grades.map(({ name, challenge, passed, sentence, figures, seconds }) => [
    ...[name, challenge, String(passed), String(seconds), sentence],
    figures.map((figure) => `${figure.name}: ${figure.value} ${figure.unit}`.trim()).join('; '),
  ])
  return [['name', 'challenge', 'passed', 'seconds', 'sentence', 'figures'], ...rows]
    .map((row) => `${row.map(cell).join(',')}\r\n`)
    .join('')
}

/** A CSV cell, quoted if necessary. An apostrophe before `=`, `+`, … keeps spreadsheets from computing it as a formula. */
function cell(words: string): string {
  const safe = /^[=+\-@\t\r]/.test(words) ? `'${words}` : words
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
