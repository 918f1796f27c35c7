/**
 * Starting what is compared: Google's two emulators, and ours as built.
 *
 * Measured: `GET /` answers Ok once an emulator serves.
 */
import { emulatorCommand } from '../google-emulators.ts'
import { type ServerOptions, startProcess } from '../server-process.ts'
import type { Mode } from './case.ts'
import { Server } from './server.ts'

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
  const answers = async (port: number): Promise<boolean> => (await fetch(`http://localhost:${port}/`)).ok
  const { port } = await startProcess({ name, command, answers, env: { JAVA_TOOL_OPTIONS: '-Xmx1g' } })
  return new Server(name, port)
}
