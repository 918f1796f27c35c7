/** The command's access to the outside world, passed in so that a test can run a command in its own process. */
import { writeFileSync } from 'node:fs'
import { type InkWriter, plainWriter, terminalWriter } from '../report/ink.ts'

export interface Io {
  /** One line of the answer. */
  out(line: string): void
  /** Bytes of the answer as they are. */
  outRaw(text: string): void
  /** One line about the run. */
  err(line: string): void
  /** Writes coloured lines of the answer, or plain ones where the output has no colours. */
  ink(): InkWriter
  /** Shows one line of progress in place of the one before; without words it goes. */
  progress(words: string): void
  writeFile(path: string, text: string): void
  /** Milliseconds on a clock that does not go back. */
  now(): number
}

/** Where progress cannot replace itself, a line comes at most this often. */
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
