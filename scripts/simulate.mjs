/**
 * `npm run bigtable:simulate -- --seeds N [--seed FIRST]`: runs the simulation of several gateways over one store of rows for so many seeds.
 */
import { parseArgs } from 'node:util'
import { run, script } from './lib/tools.mjs'

await script(async () => {
  const { values } = parseArgs({
    options: { seeds: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
  })
  process.env.SIXTABLES_SEEDS = values.seeds
  process.env.SIXTABLES_SEED = values.seed
  const { code } = await run('vitest', [
    'run',
    'packages/engine/test/property/gateways.test.ts',
    '-t',
    'keep every promise',
    '--testTimeout=86400000',
  ])
  process.exitCode = code
})
