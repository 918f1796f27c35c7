/** Emulators in this process for one test, and the public client on them. */
import { Datastore } from '@google-cloud/datastore'
import { afterEach } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/emulator.ts'

const running: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.close()
})

/** Closed after the test. */
export async function testEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options)
  running.push(emulator)
  return emulator
}

/** A client of the emulator, closed after the test. */
export function clientOf(emulator: Emulator, project: string = emulator.project): Datastore {
  Object.assign(process.env, emulator.env(project))
  const datastore = new Datastore()
  running.push({ close: () => closeClient(datastore) })
  return datastore
}

/** The client keeps a connection for each of its services. */
export async function closeClient(datastore: Datastore): Promise<void> {
  for (const client of datastore.clients_.values()) await client.close()
}
