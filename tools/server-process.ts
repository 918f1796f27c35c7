/**
 * A server as a process of its own, on a free port: from its start to its first answer, and to the end of all processes that it has started.
 *
 * It runs in a temp folder of its own, which has its output in the file `log` and is deleted at its end.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const startMsMax = 60_000

/** With their folders. */
const running = new Map<ChildProcess, string>()

export interface ServerOptions {
  readonly name: string
  readonly env?: Readonly<Record<string, string>>
  command(port: number, folder: string): readonly string[]
  /** Whether it serves; may throw while nothing listens. */
  answers(port: number): Promise<boolean>
}

export type ServerProcess = Awaited<ReturnType<typeof startProcess>>

/** Starts a server, and waits for its first answer. @throws with the end of its output when there is none */
export async function startProcess({ name, env, command, answers }: ServerOptions) {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-tools-'))
  const [program = '', ...args] = command(port, folder)
  const log = openSync(join(folder, 'log'), 'w')
  const begun = performance.now()
  // A group of its own: a shell that starts Java ends with it.
  const child = spawn(program, args, {
    ...{ cwd: folder, detached: true, stdio: ['ignore', log, log], env: { ...process.env, ...env } },
  })
  closeSync(log)
  running.set(child, folder)
  while (!(await answers(port).catch(() => false))) {
    if (child.exitCode !== null || performance.now() - begun > startMsMax) {
      const said = readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)
      throw new Error(`${name} did not start on port ${port}: ${said}`)
    }
    await sleep(5)
  }
  return {
    port,
    pid: child.pid,
    folder,
    /** From the start of the process to the answer. */
    startMs: performance.now() - begun,
    stop: () => stop(child),
  }
}

/** Ends at once every server that runs. */
export function stopAll(): void {
  for (const child of running.keys()) stop(child)
}

/** Its data is thrown away: it needs no time to close. */
function stop(child: ChildProcess): void {
  const folder = running.get(child)
  if (folder === undefined) return
  running.delete(child)
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
