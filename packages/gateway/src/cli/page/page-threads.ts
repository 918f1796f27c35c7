/**
 * Commands of pages on a server, each in a thread (page-thread.ts): one may read and print a whole store, for which other calls do not wait. A
 * command ends with its page, and its thread with it. Loading the command line takes half a second.
 */
import { DatastoreError } from '@sixtables/engine'
import { answerOfThread, builtFile } from '../../threads.ts'
import type { PageRun } from './command-route.ts'
import type { PageAnswer } from './page-commands.ts'

/** Each has a memory of its own. */
const threadsMax = 4

const threadFile = builtFile('cli/page/page-thread.js')
let running = 0

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
  try {
    return (await answerOfThread(file, task, signal, 'the command broke off')) as PageAnswer
  } finally {
    running--
  }
}
