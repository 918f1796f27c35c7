/** The command's access to the outside world, passed in so that a test can run a command in its own process. */
import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type InkWriter, plainWriter, terminalWriter } from '../report/ink.ts'
import { UsageError, wordsOf } from './errors.ts'

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

/** Checks that results can be written before the labs run, which may take minutes. */
export function checkFolders(files: readonly (string | undefined)[]): void {
  for (const file of files) {
    if (file === undefined || existsSync(dirname(file))) continue
    throw new UsageError(`${file} cannot be written: there is no folder ${dirname(file)}`)
  }
}

/** Writes to a file. @throws UsageError if it cannot be written */
export function writeOrRefuse(io: Io, path: string, text: string): void {
  try {
    io.writeFile(path, text)
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${wordsOf(error)}`)
  }
}

/** The same; `-` is the standard output. */
export function writeData(io: Io, path: string, text: string): void {
  if (path === '-') io.outRaw(text)
  else writeOrRefuse(io, path, text)
}
