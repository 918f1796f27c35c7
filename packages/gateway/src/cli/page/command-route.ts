/**
 * Commands of the command line for a page in a browser, which has no terminal:
 *
 *   POST /emulator/commands   {"words": ["get", "ToDo:1"]}   ─▶   {"code": 0, "lines": ["{", "  \"done\": false", "}"]}
 *
 * A page gets the commands that ask a running server, with their flags that name no other place (page-commands.ts). So it can do by them
 * only what the other endpoints of this server do, and reaches no file and no other server.
 */
import { invalidArgument } from '@sixtables/engine'
import { bodyObject } from '../../admin/admin-service.ts'
import type { Router } from '../../protocols/router.ts'
import type { PageAnswer, PageFacts } from './page-commands.ts'

const wordsMax = 100

/** @param signal - the page is gone */
export type PageRun = (words: readonly string[], facts: PageFacts, signal: AbortSignal) => Promise<PageAnswer>

const runHere: PageRun = async (words, facts) => (await import('./page-commands.ts')).runForPage(words, facts)

/** @param run - default: in this thread, for a page that is its own server */
export function addCommandRoute(router: Router, facts: () => PageFacts, run: PageRun = runHere): void {
  router.add('POST', '/emulator/commands', async ({ body, signal }) => {
    const { words } = bodyObject(body)
    if (!Array.isArray(words) || words.length > wordsMax || !words.every((word) => typeof word === 'string'))
      throw invalidArgument(`words is the list of a command's words, at most ${wordsMax}, such as ["get", "ToDo:1"]`)
    const { address, project } = facts()
    return { json: await run(words, { address, project }, signal) }
  })
}
