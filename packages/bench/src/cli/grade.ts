/** `sixtables-lab challenge grade`: judges the programs of a class and writes a table, one line for each folder. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { judgeFolder, markFile } from '../challenges/folder.ts'
import { inWords } from '../lab.ts'
import type { ArmResult, Figure } from '../measure/recorder.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { checkFolders, writeOrRefuse } from './run.ts'

export interface GradeFlags {
  readonly folders: readonly string[]
  readonly json: string | undefined
  readonly csv: string | undefined
}

/** A line of the table. */
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

/** @returns 0 when every folder was judged, passed or not; 2 when a folder holds no challenge */
export async function gradeFolders({ folders, json, csv }: GradeFlags, io: Io): Promise<number> {
  checkFolders([json, csv])
  if (json === '-' && csv === '-') throw new UsageError('only one of --json and --csv can go to the standard output')
  const grades: Grade[] = []
  let isWhole = true
  for (const folder of folders.flatMap(programFolders)) {
    io.progress(`${folder} …`)
    const grade = await gradeOf(folder, io)
    if (grade.challenge === '') isWhole = false
    grades.push(grade)
    io.progress('')
    if (json !== '-' && csv !== '-') io.out(lineOf(grade))
  }
  const files = [
    [json, `${JSON.stringify(grades, null, 2)}\n`],
    [csv, csvOf(grades)],
  ] as const
  for (const [file, text] of files) {
    if (file === '-') io.outRaw(text)
    else if (file !== undefined) writeOrRefuse(io, file, text)
  }
  return isWhole ? 0 : 2
}

/** The folder itself if it holds a challenge, or those of its subfolders that do. @throws UsageError when there is none */
function programFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) throw new UsageError(`there is no folder ${folder}`)
  if (existsSync(join(folder, markFile)) || !statSync(folder).isDirectory()) return [folder]
  const inside = readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name))
    .filter((one) => statSync(one).isDirectory())
  return inside.length === 0 ? [folder] : inside.flatMap(programFolders)
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
    if (!(error instanceof UsageError)) throw error
    return { name: folder, challenge: '', passed: false, sentence: error.message, figures: [], seconds: 0 }
  }
}

function lineOf({ name, challenge, passed, sentence, seconds }: Grade): string {
  const verdict = challenge === '' ? 'NOT JUDGED' : passed ? 'passed' : 'FAILED'
  return [name, challenge, verdict, `${inWords(seconds)} s`, sentence].filter((one) => one !== '').join('  ')
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
