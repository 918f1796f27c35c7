/** The claims of README.md that a script can check: the output of its program, and of the command after it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './tools.mjs'

/** @returns the program of README.md, its output, and the rows that it writes */
export function readReadme() {
  const text = readFileSync(join(root, 'README.md'), 'utf8')
  const [program, printed, rows] = [...text.matchAll(/```(?:js|text)\n([\s\S]*?)```/g)].map((match) => match[1])
  return { program, printed, rows }
}

/** Replaces the versions and times of a run by fixed ones. */
export function withoutTimes(text) {
  return text.replace(/\b\d{16}\b/g, '<version>').replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
}
