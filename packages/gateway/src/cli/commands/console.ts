/** `sixtables console`: prints the address of a server's console, and opens it with the system's program for web pages. */
import { spawn } from 'node:child_process'
import { consolePath } from '../../console/console-files.ts'
import { causeOf } from '../../emulator/server-file.ts'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, OperationError, UsageError } from '../framework/errors.ts'
import { last } from '../framework/flag-values.ts'
import { serverOf, startOrName } from '../target/places.ts'

const answerMs = 5000

/** Time after which a running program counts as the browser; others end once they have passed on the address. */
const startMs = 3000

/** @returns the exit code; 0 also if no browser could be started, since the address was printed */
export async function openConsole(flags: Flags, io: Io): Promise<number> {
  const { address } = await serverOf(flags, io)
  const page = `http://${address}${consolePath}`
  await checkPage(page, address)
  io.out(page)
  if (last(flags['open']) === false) return exitCodes.ok
  const trouble = await opened(page)
  if (trouble !== undefined)
    io.err(`sixtables: the browser could not be started (${trouble}); open the address yourself`)
  return exitCodes.ok
}

/** @throws UsageError without a server, OperationError for a server without a console */
async function checkPage(page: string, address: string): Promise<void> {
  const answer = await fetch(page, { signal: AbortSignal.timeout(answerMs) }).catch((error: unknown) => {
    throw new UsageError(`no server answers on ${address} (${causeOf(error)}); ${startOrName}`)
  })
  await answer.arrayBuffer()
  if (!answer.ok) {
    throw new OperationError(
      `the server on ${address} has no console (HTTP ${answer.status}): it may be another program, older, or started with --no-console`,
    )
  }
}

/** @returns the reason why the browser did not start */
function opened(page: string): Promise<string | undefined> {
  const [command, ...args] = openerOf(process.platform, page)
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    const settle = (trouble?: string): void => {
      clearTimeout(running)
      child.unref()
      resolve(trouble)
    }
    const running = setTimeout(settle, startMs)
    child.once('error', (error: NodeJS.ErrnoException) => {
      settle(error.code === 'ENOENT' ? `there is no ${command} here` : error.message)
    })
    child.once('exit', (code, signal) => settle(code === 0 ? undefined : `${command} ended with ${code ?? signal}`))
  })
}

function openerOf(platform: NodeJS.Platform, page: string): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', page]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', page]
  return ['xdg-open', page]
}
