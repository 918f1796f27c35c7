/**
 * Emulators in this process for one test, and the public client on them. The test itself is told to close them: a hook of this
 * module would be one of the file that loads it first alone (vitest.config.ts).
 */
import { Datastore } from '@google-cloud/datastore'
import { onTestFinished } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/emulator.ts'

/** Closed after the test. */
export async function testEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options)
  onTestFinished(() => emulator.close())
  return emulator
}

/** A client of the emulator, closed after the test. */
export function clientOf(emulator: Emulator, project: string = emulator.project): Datastore {
  Object.assign(process.env, emulator.env(project))
  const datastore = new Datastore()
  onTestFinished(() => closeClient(datastore))
  return datastore
}

/** The client keeps a connection for each of its services. */
export async function closeClient(datastore: Datastore): Promise<void> {
  for (const client of datastore.clients_.values()) await client.close()
}
