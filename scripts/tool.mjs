/**
 * `npm run bench`, `npm run compare` and the like: builds what is missing, then runs one program of tools.
 *
 *   node scripts/tool.mjs bench engine            tools/bench/engine.ts; flags of the program may follow
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setUp } from './lib/set-up.mjs'
import { root, run, ScriptError, script } from './lib/tools.mjs'

/** Where each is built. The comparison needs packages of the gateway. */
const built = { bench: 'tools/bench/dist/tools/bench', compare: 'packages/gateway/.compare/tools/compare' }

await script(async () => {
  const [node, , tool, program, ...flags] = process.argv
  await setUp()
  const { code } = await run('tsc', ['-p', join(root, 'tools', tool)])
  if (code !== 0) throw new ScriptError(`tools/${tool} does not build`)
  // A program reads its flags from process.argv.
  const file = join(root, built[tool], `${program}.js`)
  process.argv = [node, file, ...flags]
  await import(pathToFileURL(file).href)
})
