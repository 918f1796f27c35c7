/** The thread that runs commands for pages, one at a time (page-threads.ts). */
import { parentPort } from 'node:worker_threads'
import { type PageFacts, runForPage } from './page-commands.ts'

interface Task {
  readonly words: readonly string[]
  readonly facts: PageFacts
}

parentPort?.on('message', async ({ words, facts }: Task) => {
  parentPort?.postMessage(await runForPage(words, facts))
})
