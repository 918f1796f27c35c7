/**
 * One entity as committed, in the JSON of a lookup's answer. Unlike a lookup it applies no waiting commit of the entity's group.
 *
 *   GET  /emulator/inspect/entity   project, database, namespace, key, version   →   as lookup: found or missing
 */
import { type Engine, invalidArgument } from '@sixtables/engine'
import { messageOf } from '../../call.ts'
import { lookupAnswer } from '../../handlers/lookup.ts'
import type { Router } from '../../protocols/router.ts'
import { keyOf } from './inspection.ts'

export function addEntityRoute(router: Router, engine: Engine): void {
  router.add('GET', '/emulator/inspect/entity', async ({ query, signal }) => {
    const parameters = Object.fromEntries(query)
    const key = keyOf(parameters)
    const context = engine.context({ signal })
    const image = await engine.inspector.entity(key, versionOf(parameters['version']), context)
    const found = image === undefined ? [] : [{ key, image }]
    const readTime = context.clock.nowMicros()
    const missing = image === undefined ? [key] : []
    const answer = await lookupAnswer(context, { found, missing, deferred: [], readTime }, false)
    const { longAnswerToJson } = await import('../../protocols/json-large.ts')
    return { jsonText: await longAnswerToJson('Lookup', messageOf(answer), context) }
  })
}

function versionOf(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,19}$/.test(text))
    throw invalidArgument(`version is a whole number such as 1795253295548613, not "${text}"`)
  return BigInt(text)
}
