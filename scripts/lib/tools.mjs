/**
 * Small tools of the scripts: where the repository is, words on stderr, and running a child to its end.
 */
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The pnpm that installs this workspace: the one place where its version stands. */
export const pnpmVersion = '12.21.0'

/** A failure that is told in one message, without a stack. */
export class ScriptError extends Error {}

/** One progress line, on stderr so that stdout stays with the program. */
export function say(line) {
  process.stderr.write(`sixtables: ${line}\n`)
}

/**
 * Runs a program to its end. Its stdout goes to `stdout` (default: our stderr), its stderr to ours.
 *
 * @param options - `cwd` (default: the root), `stdout` (a file descriptor), `env` (added to ours), `signal` (ends it)
 * @returns the exit code (1 when ended by a signal) and the last 16 KiB of what it wrote on stderr
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

/** All that a child with pipes writes from now on: `stdout` and `stderr`, which grow while it runs. */
export function hear(child) {
  const said = { stdout: '', stderr: '' }
  for (const stream of Object.keys(said)) {
    child[stream].on('data', (chunk) => {
      said[stream] += chunk
    })
  }
  return said
}

/** Calls `stop` at Ctrl-C and SIGTERM: for a script that leaves things behind which the end of its process does not end. */
export function onSignals(stop) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
}

/** Runs the body of a script; a ScriptError, or a flag that there is not, becomes one line on stderr and exit code 1. */
export async function script(body) {
  try {
    await body()
  } catch (error) {
    if (!(error instanceof ScriptError) && !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error
    say(error.message)
    process.exitCode = 1
  }
}
