/**
 * Starting and stopping what is compared: Google's two emulators, where the Cloud SDK has them, and ours as built.
 *
 * E1  A server gets a free port and a folder of its own, and is ended with all its children, also after Ctrl-C.
 * E2  What is not installed is said in a sentence, and is no failure.
 *
 * Known: the places of the jars below the SDK's root. Measured: `GET /` answers Ok once an emulator serves.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import type { Mode } from './case.ts'
import { Server } from './server.ts'

const startMs = 60_000
const java = process.env['JAVA'] ?? 'java'

/** The program of an emulator below the SDK's root, and how it is started. */
const programs: Readonly<Record<Mode, { readonly jar: string; readonly args: (port: number) => readonly string[] }>> = {
  legacy: {
    jar: 'platform/cloud-datastore-emulator/CloudDatastore.jar',
    args: (port) => [
      'com.google.cloud.datastore.emulator.CloudDatastore',
      'start',
      '--testing',
      '--host=localhost',
      `--port=${port}`,
    ],
  },
  firestore: {
    jar: 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar',
    args: (port) => [
      'com.google.cloud.datastore.emulator.firestore.CloudFirestore',
      '--database-mode=datastore-mode',
      '--host=localhost',
      `--port=${port}`,
    ],
  },
}

/** Why there is nothing to compare with; `undefined` when all is there. */
export function missing(chosen: readonly Mode[]): string | undefined {
  const root = sdkRoot()
  if (root === undefined) return 'the Cloud SDK is not installed (no gcloud on the path, no CLOUDSDK_ROOT)'
  for (const mode of chosen) {
    if (!existsSync(join(root, programs[mode].jar))) return `the Cloud SDK has no ${programs[mode].jar}`
  }
  try {
    execFileSync(java, ['-version'], { stdio: 'ignore' })
  } catch {
    return `Java is not installed (${java} does not run)`
  }
  return undefined
}

function sdkRoot(): string | undefined {
  const given = process.env['CLOUDSDK_ROOT']
  if (given !== undefined && given !== '') return given
  try {
    return execFileSync('gcloud', ['info', '--format=value(installation.sdk_root)'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

const running = new Set<ChildProcess>()
const folders: string[] = []

export function startTheirs(mode: Mode): Promise<Server> {
  const { jar, args } = programs[mode]
  const name = mode === 'legacy' ? 'legacy emulator' : 'Firestore emulator'
  return start(name, java, (port) => ['-Xmx1g', '-Duser.language=en', '-cp', join(sdkRoot() ?? '', jar), ...args(port)])
}

export function startOurs(mode: Mode, binary: string): Promise<Server> {
  return start(`ours in ${mode} mode`, process.execPath, (port) => [
    binary,
    ...['start', '--testing', '--mode', mode, '--host', 'localhost', '--port', String(port)],
  ])
}

async function start(name: string, command: string, args: (port: number) => readonly string[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-compare-'))
  folders.push(folder)
  const port = await freePort()
  const log = join(folder, 'log')
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" >log 2>&1', command, ...args(port)], {
    stdio: 'ignore',
    detached: true,
    cwd: folder,
  })
  running.add(child)
  for (let waitedMs = 0; waitedMs < startMs && child.exitCode === null; waitedMs += 200) {
    const answer = await fetch(`http://localhost:${port}/`).catch(() => undefined)
    if (answer?.ok === true) return new Server(name, port)
    await sleep(200)
  }
  const said = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : ''
  throw new Error(`${name} did not start on port ${port}: ${said}`)
}

/** Ends every server that was started, and removes their folders. */
export function stopAll(): void {
  for (const { pid } of running) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
  running.clear()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}
