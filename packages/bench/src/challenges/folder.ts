/**
 * A learner's folder: the task, the program to change, and the name of the challenge.
 *
 *   README.md        the task (readme.ts)
 *   solution.mjs     the program, at first the given one
 *   challenge.json   {"challenge": "customer-keys"}
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { advice } from '../cli/advice.ts'
import { UsageError } from '../cli/errors.ts'
import type { ArmResult } from '../measure/recorder.ts'
import { challenges } from './catalogue.ts'
import type { Challenge } from './challenge.ts'
import { type Judgement, type JudgeOptions, judge } from './judge.ts'
import { readmeOf } from './readme.ts'

export const markFile = 'challenge.json'

/**
 * Puts the task and the given program into a folder.
 *
 * @param called - the folder as its README.md names it
 * @throws UsageError when there is no such challenge, or the folder holds a program already
 */
export function layOutChallenge(name: string, target: string, called: string): void {
  const challenge = challengeOf(name)
  const program = join(target, 'solution.mjs')
  if (existsSync(program))
    throw new UsageError(`${program} is there already; name another folder, or delete it to start anew`)
  mkdirSync(target, { recursive: true })
  cpSync(givenFile(name, 'solution.mjs'), program)
  writeFileSync(join(target, 'README.md'), readmeOf(challenge, called))
  writeFileSync(join(target, markFile), `${JSON.stringify({ challenge: name })}\n`)
}

/** Judges the program in a folder. @throws UsageError when the folder is none of a challenge */
export async function judgeFolder(
  target: string,
  options: JudgeOptions = {},
): Promise<Judgement & { readonly challenge: Challenge }> {
  const { challenge, program } = folderOf(target)
  if (!existsSync(program)) throw new UsageError(`there is no program ${program}`)
  return { challenge, ...(await judge(challenge, program, keptGiven(challenge.name), options)) }
}

/** The figures and pictures of the given program of a challenge with the judge's first seed; `npm run golden` runs it and keeps it. */
export function keptGiven(name: string): ArmResult {
  return JSON.parse(readFileSync(givenFile(name, 'given.jsonl'), 'utf8'))
}

/** The challenge that a target names: a learner's folder, or the name itself. @throws UsageError */
export function challengeAt(target: string): Challenge {
  return existsSync(join(target, markFile)) ? folderOf(target).challenge : challengeOf(target)
}

function challengeOf(name: string): Challenge {
  const found = challenges.find((one) => one.name === name)
  if (found !== undefined) return found
  const names = challenges.map((one) => one.name)
  throw new UsageError(`there is no challenge ${name}; ${advice(name, names)}`)
}

function folderOf(target: string): { readonly challenge: Challenge; readonly program: string } {
  const folder = basename(target) === 'solution.mjs' ? resolve(target, '..') : resolve(target)
  const mark = join(folder, markFile)
  if (!existsSync(mark)) {
    throw new UsageError(
      `${folder} is no folder of a challenge: it has no ${markFile}; sixtables-lab challenge start NAME makes one`,
    )
  }
  let name: unknown
  try {
    name = (JSON.parse(readFileSync(mark, 'utf8')) as { challenge?: unknown }).challenge
  } catch (error) {
    throw new UsageError(`${mark} is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (typeof name !== 'string')
    throw new UsageError(`${mark} names no challenge; write {"challenge": "${challenges[0]?.name}"}`)
  return { challenge: challengeOf(name), program: join(folder, 'solution.mjs') }
}

/** A file of the package: the given program, or what it did. */
export function givenFile(name: string, file: 'solution.mjs' | 'given.jsonl'): string {
  return fileURLToPath(new URL(`../../challenges/${name}/${file}`, import.meta.url))
}
