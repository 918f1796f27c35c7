/** Threads with a program of this package, which Node starts from its compiled file. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { DatastoreError } from '@sixtables/engine'

/**
 * @param path - below the package's folder of compiled files, in which this file is, or its bundle beside it
 * @returns `undefined` among the sources, which have none
 */
export function builtFile(path: string): string | undefined {
  return ['./', '../'].map((folder) => fileURLToPath(new URL(folder + path, import.meta.url))).find(existsSync)
}

export function clientGone(): DatastoreError {
  return new DatastoreError('CANCELLED', 'the client is gone')
}

/** The next message of a thread. @throws CANCELLED if the client leaves; INTERNAL if the thread breaks off, for example without memory */
export async function messageOf(worker: Worker, signal: AbortSignal | undefined, brokenOff: string): Promise<unknown> {
  try {
    const [message] = await once(worker, 'message', { signal })
    return message
  } catch (error) {
    throw signal?.aborted === true ? clientGone() : new DatastoreError('INTERNAL', `${brokenOff}: ${error}`)
  }
}
