/**
 * A learner's folder: the task, the program to change, and the name of the challenge.
 *
 *   README.md        the task (readme.ts)
 *   solution.mjs     the program, at first the given one; or solution.py, … in another language (starters.ts)
 *   challenge.json   {"challenge": "customer-keys"}, with "command": "python3 solution.py" in another language
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { makeFolder } from '@sixtables/engine'
import { named, UsageError, wordsOf } from '../cli/errors.ts'
import { challenges } from './catalogue.ts'
import type { Challenge } from './challenge.ts'
import { givenProgram, keptGiven } from './given.ts'
import { type Judgement, type JudgeOptions, judge } from './judge.ts'
import type { ProgramSource } from './program-process.ts'
import { readmeOf } from './readme.ts'
import { languageOf, starterOf } from './starters.ts'

export const markFile = 'challenge.json'
/** A program in JavaScript on simulated time. */
const simulatedFile = 'solution.mjs'

/**
 * Puts the task and the given program into a folder.
 *
 * @param called - the folder as its README.md names it
 * @param languageName - default: a program in JavaScript on simulated time
 * @returns the program's file
 * @throws UsageError when there is no such challenge or language, or the folder holds a program already or cannot be written
 */
export async function layOutChallenge(
  name: string,
  target: string,
  called: string,
  languageName?: string,
): Promise<string> {
  const challenge = challengeOf(name)
  const language = languageName === undefined ? undefined : languageOf(languageName)
  const given = givenProgram(name)
  const files = language === undefined ? ([[simulatedFile, given]] as const) : starterOf(challenge, language)
  const [[program] = ['']] = files
  const there = [simulatedFile, program].map((file) => join(target, file)).find((file) => existsSync(file))
  if (there !== undefined)
    throw new UsageError(`${there} is there already; name another folder, or delete it to start anew`)
  const mark = { challenge: name, command: language?.command }
  const readme = readmeOf(challenge, called, language && { language, given })
  try {
    await makeFolder(target)
    for (const [file, text] of files) writeFileSync(join(target, file), text)
    writeFileSync(join(target, 'README.md'), readme)
    writeFileSync(join(target, markFile), `${JSON.stringify(mark)}\n`)
  } catch (error) {
    throw new UsageError(`${target} cannot be written: ${wordsOf(error)}`)
  }
  return program
}

export interface FolderOptions extends JudgeOptions {
  /** Runs the program, in place of the command of {@link markFile}. Then a target may be the name of a challenge, too. */
  readonly command?: string | undefined
}

/** Judges the program in a folder. @throws UsageError when the folder is none of a challenge */
export async function judgeFolder(
  target: string,
  { command, ...options }: FolderOptions = {},
): Promise<Judgement & { readonly challenge: Challenge }> {
  const isFolder = existsSync(join(target, markFile))
  const { challenge, program } =
    command === undefined
      ? folderOf(target)
      : { challenge: challengeAt(target), program: { command, folder: resolve(isFolder ? target : '.') } }
  if (typeof program === 'string' && !existsSync(program))
    throw new UsageError(
      `there is no program ${program}; one in another language needs its command in ${markFile}, such as "command": "python3 solution.py"`,
    )
  // Without a listener this signal opens Node's debugger, in which a program could print the verdict that it likes.
  if (process.listenerCount('SIGUSR1') === 0) process.on('SIGUSR1', () => {})
  return { challenge, ...(await judge(challenge, program, keptGiven(challenge.name), options)) }
}

/** The challenge that a target names: a learner's folder, or the name itself. @throws UsageError */
export function challengeAt(target: string): Challenge {
  return existsSync(join(target, markFile)) ? folderOf(target).challenge : challengeOf(target)
}

const challengeOf = (name: string): Challenge => named(challenges, 'challenge', name)

interface Folder {
  readonly challenge: Challenge
  readonly program: ProgramSource
}

function folderOf(target: string): Folder {
  const folder = basename(target) === simulatedFile ? resolve(target, '..') : resolve(target)
  const mark = join(folder, markFile)
  if (!existsSync(mark)) {
    throw new UsageError(
      `${folder} is no folder of a challenge: it has no ${markFile}; sixtables-lab challenge start NAME makes one`,
    )
  }
  let [name, command]: unknown[] = []
  try {
    const found = JSON.parse(readFileSync(mark, 'utf8')) as { challenge?: unknown; command?: unknown } | null
    ;[name, command] = [found?.challenge, found?.command]
  } catch (error) {
    throw new UsageError(`${mark} is no JSON: ${wordsOf(error)}`)
  }
  if (typeof name !== 'string')
    throw new UsageError(`${mark} names no challenge; write {"challenge": "${challenges[0]?.name}"}`)
  if (command !== undefined && (typeof command !== 'string' || command === ''))
    throw new UsageError(`the command in ${mark} is no text; write one such as "command": "python3 solution.py"`)
  const program = command === undefined ? join(folder, simulatedFile) : { command, folder }
  return { challenge: challengeOf(name), program }
}
