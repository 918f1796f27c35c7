/**
 * `npm run check [-- vitest arguments]`: everything that CI runs: generate, build, format and lint, types (tests included), tests (with the
 * tidy rules). The tests run beside the others, one after the other: these need seconds, and tests wait for a part of theirs. After a
 * failure the other steps still run, so that one run reports all faults.
 */
import { setUp } from './lib/set-up.mjs'
import { run, ScriptError, say, script } from './lib/tools.mjs'

const short = [
  { name: 'format and lint', command: 'biome', args: ['check', '.'] },
  { name: 'types', command: 'tsc', args: ['-p', 'tsconfig.check.json'] },
  { name: 'types of the console', command: 'tsc', args: ['-p', 'packages/console/tsconfig.json'] },
  { name: 'types of the site and of tests in a browser', command: 'tsc', args: ['-p', 'packages/site/tsconfig.json'] },
]
const tests = { name: 'tests', command: 'vitest', args: ['run', ...process.argv.slice(2)] }

/** Runs steps one after the other. @returns the names of those that failed */
async function failedOf(steps) {
  const failed = []
  for (const { name, command, args } of steps) {
    say(`${name} …`)
    // The tests use what was just built (vitest.config.ts).
    const { code } = await run(command, args, { stdout: 1, env: { SIXTABLES_COMPILED: '1' } })
    if (code === 0) continue
    failed.push(name)
    say(`${name} failed.`)
  }
  return failed
}

await script(async () => {
  await setUp()
  const failed = (await Promise.all([failedOf([tests]), failedOf(short)])).flat()
  if (failed.length > 0) throw new ScriptError(`check failed: ${failed.join(', ')}.`)
  say(`check passed: ${[...short, tests].map((step) => step.name).join(', ')}.`)
})
