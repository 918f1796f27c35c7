/** Threads with a program of this package, which Node starts from its compiled file. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
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

const heapMegabytesMax = 1024

/** A thread that waits this long ends, because it keeps the memory of its last tasks: 500 MB after a body of two million members. */
const waitsMs = 60_000

/** The threads that wait for their next task, by their program and line. */
const spare = new Map<string, { readonly worker: Worker; readonly end: NodeJS.Timeout }>()

function takeSpare(place: string): Worker | undefined {
  const taken = spare.get(place)
  clearTimeout(taken?.end)
  spare.delete(place)
  return taken?.worker
}

/**
 * The answer of a thread to a task. A client that leaves ends its thread. One thread of each program is kept for a minute for the next task, because
 * loading a program takes long.
 *
 * @param line - tasks of the program that have a kept thread of their own
 * @throws as {@link messageOf}
 */
export async function answerOfThread(
  file: string,
  task: unknown,
  signal: AbortSignal | undefined,
  brokenOff: string,
  line = '',
): Promise<unknown> {
  const place = file + line
  const worker = takeSpare(place) ?? start(file, place)
  worker.ref()
  worker.postMessage(task)
  let isKept = false
  try {
    const answer = await messageOf(worker, signal, brokenOff)
    isKept = !spare.has(place)
    return answer
  } finally {
    if (isKept) {
      worker.unref()
      spare.set(place, { worker, end: setTimeout(() => void takeSpare(place)?.terminate(), waitsMs).unref() })
    } else await worker.terminate()
  }
}

function start(file: string, place: string): Worker {
  // Some flags of this process are not allowed in a thread.
  const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } })
  // Also the spare one's, for which nothing waits.
  worker.on('error', () => {
    if (spare.get(place)?.worker === worker) takeSpare(place)
  })
  return worker
}

/** Ends the threads that wait for a task. */
export async function endSpareThreads(): Promise<void> {
  await Promise.all([...spare.keys()].map((place) => takeSpare(place)?.terminate()))
}
