/**
 * Fixtures in requests, on a server. Only a small one is read beside other calls. Others are read in a thread (fixture-thread.ts), which
 * sends one batch at a time. Each thread has a memory of its own, so there is one at a time: the others wait.
 */
import EventEmitter, { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { invalidArgument } from '@sixtables/engine'
import type { CheckedEntity } from '../../fixtures/seed.ts'
import { builtFile, clientGone, messageOf } from '../../threads.ts'
import { type FixtureHead, type FixtureRequest, readFixture } from './fixture-request.ts'

/** The first message of the thread, which then answers each message with a batch, an empty one at the end. */
export type ThreadHead = FixtureHead | { readonly refused: string }

/** Bytes of a body, and of the entities in it, that are read beside other calls. */
const smallBytesMax = 16 * 1024

const threadFile = builtFile('admin/emulator/fixture-thread.js')

/** Tells waiting calls when the thread has ended; any number of them may wait. */
const turns = new EventEmitter().setMaxListeners(0)
let isThreadBusy = false

/** Reads a fixture for `use`, whose end ends the thread. @throws INTERNAL if the thread breaks off, for example without memory */
export async function withFixture<T>(
  body: Buffer,
  signal: AbortSignal | undefined,
  use: (fixture: FixtureRequest) => Promise<T>,
): Promise<T> {
  const bytesMax = threadFile === undefined ? Number.POSITIVE_INFINITY : smallBytesMax
  const small = body.length > bytesMax ? undefined : await readFixture(body, bytesMax)
  if (small !== undefined) return await use(small)
  while (isThreadBusy)
    await once(turns, 'end', { signal }).catch(() => {
      throw clientGone()
    })
  isThreadBusy = true
  try {
    return await readInThread(threadFile as string, body, signal, use)
  } finally {
    isThreadBusy = false
    turns.emit('end')
  }
}

async function readInThread<T>(
  file: string,
  body: Buffer,
  signal: AbortSignal | undefined,
  use: (fixture: FixtureRequest) => Promise<T>,
): Promise<T> {
  // Some flags of this process are not allowed in a thread.
  const worker = new Worker(file, { workerData: body, execArgv: [] })
  // It works only while its next message is awaited, which then fails.
  worker.on('error', () => {})
  const answer = (): Promise<unknown> => messageOf(worker, signal, 'the fixture could not be read')
  async function* batches(): AsyncGenerator<readonly CheckedEntity[]> {
    for (;;) {
      worker.postMessage('next')
      const batch = (await answer()) as readonly CheckedEntity[]
      if (batch.length === 0) return
      yield batch
    }
  }
  try {
    const head = (await answer()) as ThreadHead
    if ('refused' in head) throw invalidArgument(head.refused)
    return await use({ ...head, batches: batches() })
  } finally {
    await worker.terminate()
  }
}
