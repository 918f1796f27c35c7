/** A command's access to the outside world, passed in so that a test can run one in its own process. */
import { text } from 'node:stream/consumers'

export interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The working folder: relative paths and `.sixtables/` are below it. */
  readonly cwd: string
  /** Writes one line of the answer. */
  out(line: string): void
  /** Writes one line about the run: notes, log lines, the reason of a failure. */
  err(line: string): void
  /** Calls `stop` at each SIGINT and SIGTERM until the returned function is called. */
  onSignal(stop: (signal: NodeJS.Signals) => void): () => void
  /** Calls `fault` with each uncaught error, until the returned function is called. */
  onFault(fault: (error: unknown) => void): () => void
  /** All of stdin as text; waits for its end. */
  readIn(): Promise<string>
  /** Asks the user at the terminal; resolves with the typed line, or an empty text after Ctrl-C or Ctrl-D. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
  /** The user's terminal; absent if stdin or stdout is none. */
  readonly terminal?: Terminal | undefined
  now(): number
  exit(code: number): void
}

export const processIo: Io = {
  env: process.env,
  cwd: process.cwd(),
  out(line) {
    process.stdout.write(`${line}\n`)
  },
  err(line) {
    process.stderr.write(`${line}\n`)
  },
  onSignal(stop) {
    const signals = ['SIGINT', 'SIGTERM'] as const
    for (const signal of signals) process.on(signal, stop)
    return () => {
      for (const signal of signals) process.off(signal, stop)
    }
  },
  onFault(fault) {
    process.on('unhandledRejection', fault)
    process.on('uncaughtException', fault)
    return () => {
      process.off('unhandledRejection', fault)
      process.off('uncaughtException', fault)
    }
  },
  readIn() {
    return text(process.stdin)
  },
  ask:
    process.stdin.isTTY && process.stderr.isTTY
      ? (question) => askAt(question, process.stdin, process.stderr)
      : undefined,
  terminal: process.stdin.isTTY && process.stdout.isTTY ? { input: process.stdin, output: process.stdout } : undefined,
  now() {
    return performance.now()
  },
  exit(code) {
    process.exit(code)
  },
}

export async function askAt(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input, output })
  try {
    return await terminal.question(question)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error
    output.write('\n')
    return ''
  } finally {
    terminal.close()
  }
}
