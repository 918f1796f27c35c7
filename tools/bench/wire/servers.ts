/**
 * The servers that are measured, each a process of its own: this emulator as it was built, and Google's where the Cloud SDK
 * and Java are there.
 *
 * CPU time and memory are read from /proc, so figures of these are there on Linux alone.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../free-port.ts'
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
  /** For data and scratch; of this run alone. */
  readonly folder: string
  /** The core it may use; absent: all of them. */
  readonly core?: number | undefined
  /** `host:port` of an emulator of Bigtable, for a gateway on one. */
  readonly bigtable?: string | undefined
}

const program = fileURLToPath(new URL('../../../../../../packages/gateway/bin/sixtables.js', import.meta.url))

/** Where Google's emulators are; `undefined`, with the reason, when they are not. */
export function findEmulators(): { readonly platform: string } | { readonly reason: string } {
  let root = process.env['CLOUDSDK_ROOT'] ?? ''
  try {
    if (root === '') {
      root = execFileSync('gcloud', ['info', '--format=value(installation.sdk_root)'], { encoding: 'utf8' }).trim()
    }
    execFileSync('java', ['-version'], { stdio: 'ignore' })
  } catch {
    return { reason: 'gcloud or java is not on the path' }
  }
  const platform = join(root, 'platform')
  const wanted = ['cloud-datastore-emulator', 'cloud-firestore-emulator'].filter(
    (name) => !existsSync(join(platform, name)),
  )
  return wanted.length === 0 ? { platform } : { reason: `the Cloud SDK has no component ${wanted.join(' and no ')}` }
}

export type Server = Awaited<ReturnType<typeof startServer>>

/** Starts a server, and waits for its answer to a first lookup. */
export async function startServer(options: StartOptions) {
  const { name, folder, core, bigtable } = options
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const pinning = core === undefined ? [] : ['taskset', '-c', String(core)]
  const [command = '', ...args] = [...pinning, ...commandOf(options, port)]
  const begun = performance.now()
  const env = bigtable === undefined ? {} : { BIGTABLE_EMULATOR_HOST: bigtable }
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env: { ...process.env, ...env } })
  const patienceMs = 60_000
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended with exit code ${child.exitCode}`)
    if (await answers(port)) break
    if (performance.now() - begun > patienceMs) throw new Error(`${name} did not answer within a minute`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return {
    name,
    port,
    /** From the start of the process to the answer. */
    startMs: performance.now() - begun,
    /** The program itself, where it was started without a core of its own. */
    pid: child.pid,
    connect: () => Connection.open(port),
    /** Seconds of CPU that its processes used so far; 0 where that cannot be told. */
    cpuSeconds: () => groupOf(child).reduce((sum, pid) => sum + cpuOf(pid), 0),
    /** MiB of memory in use. */
    memoryMiB: () => groupOf(child).reduce((sum, pid) => sum + memoryOf(pid), 0),
    async stop(): Promise<void> {
      const { pid } = child
      if (pid === undefined || child.exitCode !== null) return
      const ended = once(child, 'exit')
      process.kill(-pid, 'SIGTERM')
      const timer = setTimeout(() => process.kill(-pid, 'SIGKILL'), 10_000)
      await ended
      clearTimeout(timer)
    },
  }
}

/** The processes of its group: a shell that starts Java stays as its parent. */
function groupOf({ pid }: ChildProcess): readonly number[] {
  if (pid === undefined || process.platform !== 'linux') return []
  const list = execFileSync('ps', ['-o', 'pid=', '-g', String(pid)], { encoding: 'utf8' })
  return list
    .split('\n')
    .map(Number)
    .filter((id) => id > 0)
}

function commandOf({ name, folder }: StartOptions, port: number): readonly string[] {
  const ours = [process.execPath, program, 'start', '--port', String(port), '--log-level', 'error']
  if (name === 'sixtables') return [...ours, '--testing']
  if (name === 'sixtables on disk') return [...ours, '--data-dir', join(folder, 'data')]
  if (name === 'sixtables on a Bigtable') {
    return [...ours, '--store', 'bigtable', '--bigtable-project', 'bench', '--bigtable-instance', 'local']
  }
  const found = findEmulators()
  if ('reason' in found) throw new Error(found.reason)
  if (name === 'firestore') {
    const command = join(found.platform, 'cloud-firestore-emulator', 'cloud_firestore_emulator')
    return [command, 'start', '--host=127.0.0.1', `--port=${port}`, '--database-mode=datastore-mode']
  }
  const command = join(found.platform, 'cloud-datastore-emulator', 'cloud_datastore_emulator')
  if (name === 'legacy') return [command, 'start', '--host=127.0.0.1', `--port=${port}`, '--testing']
  execFileSync(command, ['create', '--project_id=bench', join(folder, 'data')], { stdio: 'ignore' })
  return [command, 'start', '--host=127.0.0.1', `--port=${port}`, '--consistency=1.0', join(folder, 'data')]
}

async function answers(port: number): Promise<boolean> {
  try {
    const connection = await Connection.open(port)
    try {
      await connection.ask('Lookup', lookup('Nothing', ['n']))
      return true
    } finally {
      connection.close()
    }
  } catch {
    return false
  }
}

/** User and system time, in seconds: fields 14 and 15 of /proc/pid/stat, in ticks of 10 ms. */
export function cpuOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

function memoryOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
