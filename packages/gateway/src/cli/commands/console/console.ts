/** `sixtables console`: the address of a server's console, opened with the program that the system has for web pages. */
import { spawn } from 'node:child_process'
import { consolePath } from '../../../console/console-files.ts'
import { causeOf } from '../../../emulator/server-file.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodes, OperationError, UsageError } from '../../framework/errors.ts'
import { last } from '../../framework/flag-values.ts'
import type { Io } from '../../framework/io.ts'
import { serverOf } from '../../target/places.ts'

/** How long the server may take to send the page. */
const answerMs = 5000

/** @returns the exit code; 0 also where no browser could be started, since the address was printed */
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

/** @throws UsageError when nothing answers there, OperationError when no console is served */
async function checkPage(page: string, address: string): Promise<void> {
  const answer = await fetch(page, { signal: AbortSignal.timeout(answerMs) }).catch((error: unknown) => {
    throw new UsageError(
      `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, or name another with --endpoint`,
    )
  })
  await answer.arrayBuffer()
  if (!answer.ok) {
    throw new OperationError(
      `the server on ${address} has no console (HTTP ${answer.status}): it may be another program, older, or started with --no-console`,
    )
  }
}

/** @returns why the browser did not start */
function opened(page: string): Promise<string | undefined> {
  const [command, ...args] = openerOf(process.platform, page)
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => resolve(code === 0 || code === null ? undefined : `${command} ended with ${code}`))
    child.once('spawn', () => child.unref())
  })
}

function openerOf(platform: NodeJS.Platform, page: string): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', page]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', page]
  return ['xdg-open', page]
}
