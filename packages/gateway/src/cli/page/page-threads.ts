/**
 * Commands of pages on a server, each in a thread (page-thread.ts): one may read and print a whole store, for which other calls do not wait. A
 * command ends with its page, and its thread with it. One thread is kept for the next command: loading the command line takes half a second.
 */
import { Worker } from 'node:worker_threads'
import { DatastoreError } from '@sixtables/engine'
import { builtFile, messageOf } from '../../threads.ts'
import type { PageRun } from './command-route.ts'
import type { PageAnswer } from './page-commands.ts'

/** Each has a memory of its own. */
const threadsMax = 4
const heapMegabytesMax = 1024

const threadFile = builtFile('cli/page/page-thread.js')
let running = 0
let spare: Worker | undefined

/** `undefined` among the sources. @throws RESOURCE_EXHAUSTED while {@link threadsMax} commands run; CANCELLED; INTERNAL, such as without memory */
export const runInThread: PageRun | undefined =
  threadFile === undefined ? undefined : (words, facts, signal) => inThread(threadFile, { words, facts }, signal)

async function inThread(file: string, task: unknown, signal: AbortSignal): Promise<PageAnswer> {
  if (running === threadsMax)
    throw new DatastoreError(
      'RESOURCE_EXHAUSTED',
      `${threadsMax} commands of pages run now; try again after one has ended`,
    )
  running++
  const worker = spare ?? start(file)
  spare = undefined
  worker.ref()
  worker.postMessage(task)
  try {
    const answer = await messageOf(worker, signal, 'the command broke off')
    if (spare === undefined) spare = worker
    return answer as PageAnswer
  } finally {
    if (spare === worker) worker.unref()
    else await worker.terminate()
    running--
  }
}

function start(file: string): Worker {
  // Some flags of this process are not allowed in a thread.
  const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } })
  // Also the spare one's, for which nothing waits.
  worker.on('error', () => {
    if (spare === worker) spare = undefined
  })
  return worker
}
