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
import type { ServerFacts } from '../../emulator/server-file.ts'
import type { Router } from '../../protocols/router.ts'

const wordsMax = 100

/** @param facts - where the commands find this server, and its project */
export function addCommandRoute(router: Router, facts: () => Pick<ServerFacts, 'address' | 'project'>): void {
  router.add('POST', '/emulator/commands', async ({ body }) => {
    const { words } = bodyObject(body)
    if (!Array.isArray(words) || words.length > wordsMax || !words.every((word) => typeof word === 'string'))
      throw invalidArgument(`words is the list of a command's words, at most ${wordsMax}, such as ["get", "ToDo:1"]`)
    const { runForPage } = await import('./page-commands.ts')
    return { json: await runForPage(words, facts()) }
  })
}
