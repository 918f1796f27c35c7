/**
 * `npm run check [-- vitest arguments]`: everything that CI runs: generate, build, format and lint, types (tests included), tests (with the
 * tidy rules). After a failure the other steps still run, so that one run reports all faults.
 */
import { setUp } from './lib/set-up.mjs'
import { run, ScriptError, say, script } from './lib/tools.mjs'

const steps = [
  { name: 'format and lint', command: 'biome', args: ['check', '.'] },
  { name: 'types', command: 'tsc', args: ['-p', 'tsconfig.check.json'] },
  { name: 'types of the console', command: 'tsc', args: ['-p', 'packages/console/tsconfig.json'] },
  { name: 'types of the site', command: 'tsc', args: ['-p', 'packages/site/tsconfig.json'] },
  { name: 'types of its tests', command: 'tsc', args: ['-p', 'packages/console/tsconfig.test.json'] },
  { name: 'tests', command: 'vitest', args: ['run', ...process.argv.slice(2)] },
]

await script(async () => {
  await setUp()
  const failed = []
  for (const step of steps) {
    say(`${step.name} …`)
    const { code } = await run(step.command, step.args, { stdout: 1 })
    if (code !== 0) failed.push(step.name)
  }
  if (failed.length > 0) throw new ScriptError(`check failed: ${failed.join(', ')}.`)
  say(`check passed: ${steps.map((step) => step.name).join(', ')}.`)
})
