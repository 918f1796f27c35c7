/**
 * Starting what is compared: Google's two emulators, and ours as built. Each has a folder of its own. {@link stopAll} ends them with all their
 * children, also after Ctrl-C.
 *
 * Measured: `GET /` answers Ok once an emulator serves.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emulatorCommand } from '../google-emulators.ts'
import { type ServerOptions, startProcess, stopAll as stopServers } from '../server-process.ts'
import type { Mode } from './case.ts'
import { Server } from './server.ts'

const folders: string[] = []

export function startTheirs(mode: Mode): Promise<Server> {
  const name = mode === 'legacy' ? 'legacy emulator' : 'Firestore emulator'
  const how = mode === 'legacy' ? ['start', '--testing'] : ['--database-mode=datastore-mode']
  return start(name, (port) => emulatorCommand(mode, ...how, '--host=localhost', `--port=${port}`))
}

export function startOurs(mode: Mode, binary: string): Promise<Server> {
  return start(`ours in ${mode} mode`, (port) => [
    ...[process.execPath, binary, 'start', '--testing', '--mode', mode],
    ...['--host', 'localhost', '--port', String(port)],
  ])
}

async function start(name: string, command: ServerOptions['command']): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-compare-'))
  folders.push(folder)
  const answers = async (port: number): Promise<boolean> => (await fetch(`http://localhost:${port}/`)).ok
  const { port } = await startProcess({ name, folder, command, answers, env: { JAVA_TOOL_OPTIONS: '-Xmx1g' } })
  return new Server(name, port)
}

/** Ends every server that was started, and removes their folders. */
export function stopAll(): void {
  stopServers()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}
