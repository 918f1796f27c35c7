/**
 * The history of the prompt: a file with one statement a line, oldest first.
 *
 * Each statement is appended at once, so that two open prompts lose nothing of each other. A prompt shortens the file when it opens. If the file
 * cannot be read or written, the prompt works without a history.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export const historyMax = 1000

/** Readable only by its user: queries contain data. */
const fileMode = 0o600

export class History {
  readonly #path: string
  /** Newest first. */
  readonly statements: readonly string[]
  #last: string | undefined

  constructor(path: string) {
    this.#path = path
    const lines = linesOf(path)
    const kept = lines.filter((line, i) => line !== lines[i - 1]).slice(-historyMax)
    if (kept.length < lines.length) quietly(() => writeFileSync(path, `${kept.join('\n')}\n`, { mode: fileMode }))
    this.statements = kept.toReversed()
    this.#last = kept.at(-1)
  }

  add(statement: string): void {
    const line = oneLine(statement)
    if (line === this.#last) return
    this.#last = line
    quietly(() => {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      appendFileSync(this.#path, `${line}\n`, { mode: fileMode })
    })
  }
}

/** The statement with spaces for line breaks, which GQL has only between tokens. */
export function oneLine(statement: string): string {
  return statement.trim().replace(/\s*\n\s*/g, ' ')
}

function linesOf(path: string): readonly string[] {
  let text = ''
  quietly(() => {
    text = readFileSync(path, 'utf8')
  })
  return text.split('\n').filter((line) => line !== '')
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The prompt works without a history.
  }
}
