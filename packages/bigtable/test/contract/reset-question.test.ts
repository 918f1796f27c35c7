import { openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { sixtables } from '../../../gateway/test/support/cli.ts'
import { movableClock, serve } from '../../../gateway/test/support/server-parts.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { MemoryRows } from '../../src/row-store/memory-rows.ts'

test('a reset asks about data in a store that gateways share', async () => {
  const engine = await openEngine({ store: severalGateways({ rows: new MemoryRows(), gateway: 1 }) })
  const options = {
    engine,
    scheduler: movableClock(undefined),
    dir: undefined,
    project: 'demo',
    host: '127.0.0.1',
    port: 0,
  }
  const { gateway, close } = await serve(options)
  const at = ['--endpoint', `127.0.0.1:${gateway.port}`]
  await sixtables(['put', ...at, 'A:1', '{}'])
  const asked: string[] = []
  const answer = async (question: string): Promise<string> => {
    asked.push(question)
    return 'n'
  }
  expect((await sixtables(['reset', ...at], { ask: answer })).err).toBe('sixtables: nothing was deleted')
  expect(asked).toEqual(['All data of demo in the rows in memory will be deleted for good. Go on? [y/N] '])
  await close()
  await engine.close()
})
