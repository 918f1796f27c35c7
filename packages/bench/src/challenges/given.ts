/** The given programs of the challenges, and what they did. A page has both in its bundle. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ArmResult } from '../measure/recorder.ts'

export function givenProgram(name: string): string {
  return readFileSync(givenFile(name, 'solution.mjs'), 'utf8')
}

/** The figures and pictures of the given program of a challenge with the judge's first seed; `npm run golden` runs it and keeps it. */
export function keptGiven(name: string): ArmResult {
  return JSON.parse(readFileSync(givenFile(name, 'given.jsonl'), 'utf8'))
}

export function givenFile(name: string, file: 'solution.mjs' | 'given.jsonl'): string {
  return fileURLToPath(new URL(`../../challenges/${name}/${file}`, import.meta.url))
}
