/**
 * What a command has of the outside world, passed in so that a test can run one in its own process.
 */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's folder: relative paths and `.sixtables/` are below it. */
  readonly cwd: string
  /** Writes one line of the answer. */
  out(line: string): void
  /** Writes one line about the run: notes, log lines, the reason of a failure. */
  err(line: string): void
  /** Calls `stop` at each SIGINT and SIGTERM until the returned function is called. */
  onSignal(stop: (signal: NodeJS.Signals) => void): () => void
  /** Calls `fault` with what nothing else has caught, until the returned function is called. */
  onFault(fault: (error: unknown) => void): () => void
  /** Asks whoever sits at the terminal, and resolves with the line that was typed; absent where no terminal is there. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
  /** Milliseconds on a clock that does not go back. */
  now(): number
  /** Ends the process at once. */
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
  ask: process.stdin.isTTY && process.stderr.isTTY ? askTerminal : undefined,
  now() {
    return performance.now()
  },
  exit(code) {
    process.exit(code)
  },
}

async function askTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}
