/** Small tools of the scripts: the path of the repository, lines on stderr, and child processes. */
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The version of pnpm for this workspace, which only this line names. */
export const pnpmVersion = '12.21.0'

/** A failure with a message for the user, printed without a stack. */
export class ScriptError extends Error {}

/** Prints a line of progress on stderr, because stdout belongs to the program that is started. */
export function say(line) {
  process.stderr.write(`sixtables: ${line}\n`)
}

/**
 * Runs a program to its end. Its stdout goes to `stdout` (default: our stderr), its stderr to ours.
 *
 * @param options - `cwd` (default: the root), `stdout` (a file descriptor), `env` (added to ours), `signal` (ends it)
 * @returns the exit code (1 after a signal) and the last 16 KiB of its stderr
 */
export function run(command, args, options = {}) {
  const { cwd = root, stdout = 2, env = {}, shell = process.platform === 'win32', signal } = options
  const binaries = [join(cwd, 'node_modules', '.bin'), join(root, 'node_modules', '.bin')]
  const path = [...binaries, process.env.PATH ?? ''].join(delimiter)
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      shell,
      stdio: ['ignore', stdout, 'pipe'],
      env: { ...process.env, PATH: path, ...env },
    })
    let tail = ''
    child.stderr.on('data', (chunk) => {
      process.stderr.write(chunk)
      tail = (tail + chunk).slice(-16_384)
    })
    const stop = () => child.kill()
    signal?.addEventListener('abort', stop)
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, tail }))
  })
}

/** Collects the output of a child's pipes: `stdout` and `stderr`, which grow while it runs. */
export function hear(child) {
  const said = { stdout: '', stderr: '' }
  for (const stream of Object.keys(said)) {
    child[stream]?.on('data', (chunk) => {
      said[stream] += chunk
    })
  }
  return said
}

/** Waits for words in the stdout of a child. @throws if it ends before */
export function untilSaid(child, said, pattern) {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(said.stdout)
      if (match !== null) resolve(match)
    }
    child.stdout.on('data', look)
    child.once('close', () => reject(new Error(`it ended early; it said:\n${said.stdout}${said.stderr}`)))
  })
}

/** Calls `stop` at Ctrl-C and SIGTERM, for scripts that have to clean up. */
export function onSignals(stop) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
}

/** Runs the body of a script; a ScriptError or an unknown flag becomes one line on stderr and exit code 1. */
export async function script(body) {
  try {
    await body()
  } catch (error) {
    if (!(error instanceof ScriptError) && !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error
    say(error.message)
    process.exitCode = 1
  }
}
