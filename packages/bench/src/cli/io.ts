/** The command's access to the outside world, passed in so that a test can run a command in its own process. */
import { writeFileSync } from 'node:fs'
import { type InkWriter, plainWriter, terminalWriter } from '../report/ink.ts'

export interface Io {
  /** One line of the answer. */
  out(line: string): void
  /** Text of the answer, without a line break added. */
  outRaw(text: string): void
  /** One line about the run. */
  err(line: string): void
  /** A writer of coloured lines, or of plain ones where the output has no colours. */
  ink(): InkWriter
  /** Replaces the line of progress; empty text removes it. */
  progress(words: string): void
  writeFile(path: string, text: string): void
  /** Milliseconds of a monotonic clock. */
  now(): number
}

/** Shortest pause between lines of progress where a line cannot replace the one before. */
const progressEveryMs = 5000
let lastProgress = Number.NEGATIVE_INFINITY

export const processIo: Io = {
  out: (line) => void process.stdout.write(`${line}\n`),
  outRaw: (text) => void process.stdout.write(text),
  err: (line) => void process.stderr.write(`${line}\n`),
  ink() {
    const coloured = process.stdout.isTTY && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb'
    return coloured ? terminalWriter(process.stdout) : plainWriter((line) => process.stdout.write(`${line}\n`))
  },
  progress(words) {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${words}`)
      return
    }
    const now = performance.now()
    if (words === '' || now < lastProgress + progressEveryMs) return
    lastProgress = now
    process.stderr.write(`${words}\n`)
  },
  writeFile: (path, text) => writeFileSync(path, text),
  now: () => performance.now(),
}
