/**
 * The history of the prompt: a file with one statement a line, oldest first.
 *
 * Statements are appended as they come, so that prompts beside one another keep one another's; the file is cut when a prompt opens.
 *
 * H1  A file that cannot be read or written costs the history alone.                                         history-file.test.ts
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export const historyMax = 1000

/** Readable by its user alone: queries hold data. */
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

  /** A statement like the last one is not kept again. */
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

/** GQL has no line breaks within tokens, so that a blank does as well. */
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
    // No history is better than no prompt (H1).
  }
}
