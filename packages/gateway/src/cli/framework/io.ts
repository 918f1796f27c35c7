/** The outside world of a command in this process. */
import { text } from 'node:stream/consumers'
import type { Io } from './command.ts'

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
