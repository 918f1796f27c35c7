/**
 * The prompt of `sixtables gql`: reads lines through node:readline and runs statements one after the other, with each answer between two
 * prompts. A statement that fails prints its error; the prompt continues.
 *
 *   line ──StatementReader──▶ queue ──run──▶ answer, then the next prompt
 */

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import { completionsAt, type KnownNames } from '../../../gql/complete.ts'
import type { Io, Terminal } from '../../framework/command.ts'
import { OperationError, UsageError } from '../../framework/errors.ts'
import { commands, type Entry, markedPlace, StatementReader } from './statements.ts'

export type Runnable = Exclude<Entry, { readonly type: 'exit' }>

export interface PromptOptions {
  readonly terminal: Terminal
  readonly io: Io
  readonly name: string
  readonly history: History
  readonly names: () => Promise<KnownNames>
  readonly run: (entry: Runnable, io: Io) => Promise<void>
}

/** Resolves after the user ended it and the running statement was answered. */
export async function prompt(options: PromptOptions): Promise<void> {
  const { terminal, io, name, history, names } = options
  const reader = new StatementReader()
  const queue: Entry[] = []
  let running: AbortController | undefined
  let isOver = false
  const completer = (): Promise<Found> => complete(reader.pending, lines, names)
  const settings = { history: [...history.statements], historySize: historyMax, completer }
  const lines: Interface = createInterface({ ...terminal, terminal: true, ...settings })
  const ask = (): void => {
    const first = `${name}> `
    lines.setPrompt(reader.pending === '' ? first : '-> '.padStart(first.length))
    lines.prompt(true)
  }
  const work = async (): Promise<void> => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      if (entry.type === 'exit') return lines.close()
      running = new AbortController()
      await attempt(entry, options, running.signal)
    }
    running = undefined
  }
  const stop = (): void => {
    lines.close()
    running?.abort()
  }
  lines.on('history', (all: string[]) => joinLines(all, reader.pending))
  lines.on('SIGINT', () => {
    reader.pending = ''
    queue.length = 0
    for (const name of ['e', 'u']) lines.write(null, { ctrl: true, name })
    if (running === undefined) ask()
    else running.abort()
  })
  const ended = new Promise<void>((resolve, reject) => {
    const onLine = async (line: string): Promise<void> => {
      const entries = reader.push(line)
      for (const one of entries) if (one.type === 'query') history.add(`${one.explain ? 'explain ' : ''}${one.text}`)
      queue.push(...entries)
      if (running !== undefined) return
      await work()
      if (isOver) resolve()
      else ask()
    }
    lines.on('line', (line) => void onLine(line).catch(reject))
    lines.once('close', () => {
      isOver = true
      terminal.output.write('\n')
      if (running === undefined) resolve()
    })
  })
  const release = io.onSignal(stop)
  ask()
  try {
    await ended
  } finally {
    release()
    lines.close()
  }
}

export const historyMax = 1000

/** Readable only by its user: queries contain data. */
const fileMode = 0o600

/**
 * The history of the prompt: a file with one statement a line, oldest first. Each statement is appended at once, so that two open prompts lose
 * nothing of each other; a prompt shortens the file when it opens.
 */
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

/** Runs a statement; after an abort, its answer is dropped. */
async function attempt(entry: Runnable, { io, run }: PromptOptions, signal: AbortSignal): Promise<void> {
  const say = (line: string, print: (line: string) => void): void => {
    if (!signal.aborted) print(line)
  }
  const heard = { ...io, out: (line: string) => say(line, io.out), err: (line: string) => say(line, io.err) }
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const answered = run(entry, heard).catch((error: unknown) => {
    if (!(error instanceof UsageError || error instanceof OperationError)) throw error
    if (entry.type === 'query') for (const line of markedPlace(entry.text, error.message)) heard.err(line)
    heard.err(`sixtables: ${error.message}`)
  })
  await Promise.race([answered, aborted])
}

/** Makes one history entry of the lines of a statement: appends the newest line to the earlier ones. */
function joinLines(all: string[], pending: string): void {
  if (pending === '' || all[1] !== oneLine(pending)) return
  all.splice(0, 2, oneLine(`${pending}\n${all[0]}`))
}

type Found = [completions: string[], replaced: string]

async function complete(pending: string, { line, cursor }: Interface, names: PromptOptions['names']): Promise<Found> {
  const before = `${pending === '' ? '' : `${pending}\n`}`
  // `explain` is a word of the prompt, not of GQL.
  const text = `${before}${line}`.replace(/^\s*explain\s/i, (word) => ' '.repeat(word.length))
  const at = before.length + cursor
  const found = completionsAt(text, at, await names())
  const texts = found?.options.map((option) => option.text) ?? []
  const from = found?.from ?? at
  const typed = text.slice(from, at)
  const first = line.slice(0, cursor)
  if (pending === '' && /^\w*$/.test(first)) {
    const words = ['explain', ...commands.keys()].filter((word) => /^\w/.test(word) && word.startsWith(first))
    return finished([...texts, ...words], first, line.slice(cursor))
  }
  return finished(texts, typed, line.slice(cursor))
}

/** Adds a space to a single completion, unless an argument or a space follows. */
function finished(texts: string[], typed: string, rest: string): Found {
  const [only = ''] = texts
  const isWord = texts.length === 1 && !only.endsWith('(') && !rest.startsWith(' ')
  return [isWord ? [`${only} `] : texts, typed]
}
