/**
 * The claims of README.md that a machine can hold: its program prints what it shows, and so does the command after it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './tools.mjs'

/** @returns the program, what it prints, and the rows that it leaves, as README.md has them */
export function readReadme() {
  const text = readFileSync(join(root, 'README.md'), 'utf8')
  const [program, printed, rows] = [...text.matchAll(/```(?:js|text)\n([\s\S]*?)```/g)].map((match) => match[1])
  return { program, printed, rows }
}

/** Versions and times of a run, made the same in all runs. */
export function withoutTimes(text) {
  return text.replace(/\b\d{16}\b/g, '<version>').replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
}
