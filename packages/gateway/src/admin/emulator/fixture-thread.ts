/** The thread that reads a large fixture (fixture-threads.ts): it checks all of it, then sends a batch for each message. */
import { parentPort, workerData } from 'node:worker_threads'
import { DatastoreError } from '@sixtables/engine'
import { readFixture } from './fixture-request.ts'
import type { ThreadHead } from './fixture-threads.ts'

const send = (message: ThreadHead | readonly unknown[]): void => parentPort?.postMessage(message)

try {
  const read = await readFixture(Buffer.from(workerData))
  if (read !== undefined) {
    const batches = read.batches[Symbol.iterator]()
    parentPort?.on('message', () => send(batches.next().value ?? []))
    send({ place: read.place, count: read.count })
  }
} catch (error) {
  if (!(error instanceof DatastoreError)) throw error
  send({ refused: error.message })
}
