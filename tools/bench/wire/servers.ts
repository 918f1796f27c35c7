/**
 * The servers that are measured, each a process of its own: this emulator as it was built, and Google's where the Cloud SDK
 * and Java are there.
 *
 * CPU time and memory are read from /proc, so figures of these are there on Linux alone.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emulatorCommand } from '../../google-emulators.ts'
import { type ServerProcess, startProcess } from '../../server-process.ts'
import { Connection } from './connection.ts'
import { lookup } from './messages.ts'

export type ServerName =
  | 'sixtables'
  | 'sixtables on disk'
  | 'sixtables on a Bigtable'
  | 'legacy'
  | 'legacy on disk'
  | 'firestore'

export interface StartOptions {
  readonly name: ServerName
  /** The core it may use; absent: all of them. */
  readonly core?: number | undefined
  /** `host:port` of an emulator of Bigtable, for a gateway on one. */
  readonly bigtable?: string | undefined
}

const program = fileURLToPath(new URL('../../../../../../packages/gateway/bin/sixtables.js', import.meta.url))

export type Server = Awaited<ReturnType<typeof startServer>>

/** Starts a server, and waits for its answer to a first lookup. */
export async function startServer(options: StartOptions) {
  const { name, core, bigtable } = options
  const pinning = core === undefined ? [] : ['taskset', '-c', String(core)]
  const started = await startProcess({
    ...{ name, answers },
    command: (port, folder) => [...pinning, ...commandOf(name, port, folder)],
    env: bigtable === undefined ? {} : { BIGTABLE_EMULATOR_HOST: bigtable },
  })
  return {
    ...started,
    name,
    connect: () => Connection.open(started.port),
    /** Seconds of CPU that its processes used so far; 0 where that cannot be told. */
    cpuSeconds: () => groupOf(started).reduce((sum, pid) => sum + cpuOf(pid), 0),
    memoryMiB: () => groupOf(started).reduce((sum, pid) => sum + memoryOf(pid), 0),
  }
}

/** The processes of its group: Google's may have some more. */
function groupOf({ pid }: ServerProcess): readonly number[] {
  if (pid === undefined || process.platform !== 'linux') return []
  const list = execFileSync('ps', ['-o', 'pid=', '-g', String(pid)], { encoding: 'utf8' })
  return list
    .split('\n')
    .map(Number)
    .filter((id) => id > 0)
}

function commandOf(name: ServerName, port: number, folder: string): readonly string[] {
  const ours = [process.execPath, program, 'start', '--port', String(port), '--log-level', 'error']
  if (name === 'sixtables') return [...ours, '--testing']
  const data = join(folder, 'data')
  if (name === 'sixtables on disk') return [...ours, '--data-dir', data]
  if (name === 'sixtables on a Bigtable') {
    return [...ours, '--store', 'bigtable', '--bigtable-project', 'bench', '--bigtable-instance', 'local']
  }
  const at = ['--host=127.0.0.1', `--port=${port}`]
  if (name === 'firestore') return emulatorCommand(name, 'start', ...at, '--database-mode=datastore-mode')
  if (name === 'legacy') return emulatorCommand(name, 'start', ...at, '--testing')
  const [java = '', ...create] = emulatorCommand('legacy', 'create', '--project_id=bench', data)
  execFileSync(java, create, { stdio: 'ignore' })
  return emulatorCommand('legacy', 'start', ...at, '--consistency=1.0', data)
}

async function answers(port: number): Promise<boolean> {
  const connection = await Connection.open(port)
  try {
    await connection.ask('Lookup', lookup('Nothing', ['n']))
    return true
  } finally {
    connection.close()
  }
}

/** User and system time, in seconds: fields 14 and 15 of /proc/pid/stat, in ticks of 10 ms. */
export function cpuOf(pid: number): number {
  const [user = 0, system = 0] = told(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11)
  return (Number(user) + Number(system)) / 100
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(told(pid, 'status'))?.[1] ?? 0) / 1024
}

/** A file of /proc about a process; empty where the system does not tell. */
export function told(pid: number, file: 'stat' | 'status' | 'schedstat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
