/**
 * The built server, killed while it drops its data: the next start finishes the reset, or it never began (reset/X1 of the engine's
 * reset.ts). SIXTABLES_KILLS makes it more kills, and of each scope, as `npm run crash` does.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { sixtables } from '../support/cli.ts'
import type { Plain } from '../support/published-protos.ts'
import { requireBuild, ServerProcess } from '../support/server-process.ts'
import { openWire, readAnswer } from '../support/wires.ts'

const kills = Math.max(3, Math.ceil(Number(process.env['SIXTABLES_KILLS'] ?? (isDeep ? 240 : 6)) / 8))
const entities = isDeep ? 4000 : 2000
const entitiesOfCommit = 500
const project = 'crash'

let parent: string
let filled: string

beforeAll(async () => {
  requireBuild()
  parent = mkdtempSync(join(tmpdir(), 'sixtables-crash-reset-'))
  filled = join(parent, 'filled')
  const server = await ServerProcess.start(filled)
  const wire = await openWire('gRPC', server)
  for (let from = 0; from < entities; from += entitiesOfCommit) {
    const mutations: Plain[] = Array.from({ length: entitiesOfCommit }, (_, i) => ({
      upsert: {
        key: { path: [{ kind: 'K', name: String(from + i) }] },
        properties: { a: { integerValue: String(i) }, b: { stringValue: `text ${from + i}` } },
      },
    }))
    expect(await wire.send(project, 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })).toMatchObject({ code: 'OK' })
  }
  wire.close()
  await server.stop()
})

afterAll(() => rmSync(parent, { recursive: true, force: true }))

async function countIn(server: ServerProcess): Promise<number> {
  const wire = await openWire('gRPC', server)
  const request = { aggregationQuery: { nestedQuery: { kind: [{ name: 'K' }] }, aggregations: [{ count: {} }] } }
  const answer = readAnswer(wire, 'RunAggregationQuery', await wire.send(project, 'RunAggregationQuery', request))
  wire.close()
  const { aggregationResults } = answer['batch'] as { aggregationResults: { aggregateProperties: Plain }[] }
  const [count] = Object.values(aggregationResults[0]?.aggregateProperties ?? {})
  return Number((count as Plain)['integerValue'])
}

async function resetTakes(scope: string): Promise<number> {
  const folder = join(parent, 'timed')
  cpSync(filled, folder, { recursive: true })
  const server = await ServerProcess.start(folder)
  const before = performance.now()
  await fetch(`http://${server.endpoint}/reset${scope}`, { method: 'POST' })
  const took = performance.now() - before
  await server.kill()
  rmSync(folder, { recursive: true })
  return took
}

const scopes = [
  ['of everything', ''],
  ['of a project', `?project=${project}`],
  ['of a namespace', `?project=${project}&namespace=`],
] as const
const isLong = isDeep || process.env['SIXTABLES_KILLS'] !== undefined

test.each(isLong ? scopes : scopes.slice(-1))(
  'a reset %s that a kill cuts off is whole, or never was',
  { timeout: 100_000 * kills },
  async (_, scope) => {
    const took = await resetTakes(scope)
    const left: number[] = []
    for (let i = 0; i < kills; i++) {
      const folder = join(parent, 'killed')
      cpSync(filled, folder, { recursive: true })
      const server = await ServerProcess.start(folder)
      const reset = fetch(`http://${server.endpoint}/reset${scope}`, { method: 'POST' }).then(
        ({ ok }) => ok,
        () => false,
      )
      // The last one dies with its answer on the way: however slow the machine has become, that reset was under way.
      await (i === kills - 1 ? reset : sleep((took * (i + 0.5)) / (kills - 1)))
      await server.kill()
      const isAcknowledged = await reset
      const { code, out } = await sixtables(['check', '--data-dir', folder])
      expect(code, `kill ${i + 1} of ${kills}, ${took} ms to reset: ${out}`).toBe(0)
      const again = await ServerProcess.start(folder)
      const found = await countIn(again)
      expect(isAcknowledged ? [0] : [0, entities]).toContain(found)
      left.push(found)
      await again.kill()
      rmSync(folder, { recursive: true })
    }
    expect(left).toContain(0)
  },
)
