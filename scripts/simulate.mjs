/**
 * `npm run bigtable:simulate -- --seeds N [--seed FIRST] [--workers N]`: simulates several gateways over one store of rows with N seeds, in
 * several processes. It ends at the first anomaly, with its seed.
 */
import { parseArgs } from 'node:util'
import { run, ScriptError, say, script } from './lib/tools.mjs'

await script(async () => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: '1' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    say('npm run bigtable:simulate -- [--seeds 1000] [--seed FIRST] [--workers PROCESSES]')
    return
  }
  const [seeds, first, workers] = ['seeds', 'seed', 'workers'].map((name) => count(name, values[name]))
  const ended = new AbortController()
  const each = Math.ceil(seeds / workers)
  const codes = await Promise.all(
    Array.from({ length: Math.ceil(seeds / each) }, async (_, worker) => {
      const begin = first + worker * each
      const code = await simulate(begin, Math.min(each, first + seeds - begin), ended.signal)
      // One anomaly is enough.
      if (code !== 0) ended.abort()
      return code
    }),
  )
  process.exitCode = codes.some((code) => code !== 0) ? 1 : 0
  if (process.exitCode === 0) say(`no anomaly in ${seeds} seeds from ${first}`)
})

async function simulate(first, seeds, signal) {
  const env = { SIXTABLES_SEED: String(first), SIXTABLES_SEEDS: String(seeds) }
  const file = 'packages/bigtable/test/property/gateways.test.ts'
  const args = ['run', file, '-t', 'keep every promise', '--testTimeout=86400000']
  return (await run('vitest', args, { env, signal })).code
}

function count(name, value) {
  const number = Number(value)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new ScriptError(`--${name} ${value}: give a number above 0`)
}
