/** The thread that runs commands for pages, one at a time (page-threads.ts). */
import { parentPort } from 'node:worker_threads'
import { type PageFacts, runForPage } from './page-commands.ts'

parentPort?.on('message', async ({ words, facts }: { words: readonly string[]; facts: PageFacts }) => {
  parentPort?.postMessage(await runForPage(words, facts))
})
