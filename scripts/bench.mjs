/**
 * `npm run bench`: builds what is missing, then runs one benchmark of tools/bench.
 *
 *   node scripts/bench.mjs bench --compare     the name of the file, then its flags
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setUp } from './lib/set-up.mjs'
import { root, run, ScriptError, script } from './lib/tools.mjs'

const folder = join(root, 'tools/bench')

await script(async () => {
  const [, , name = 'bench', ...flags] = process.argv
  await setUp()
  const { code } = await run('tsc', ['-p', folder])
  if (code !== 0) throw new ScriptError('tools/bench does not build')
  // A benchmark reads its flags from process.argv.
  const file = join(folder, 'dist', `${name}.js`)
  process.argv = [process.argv[0], file, ...flags]
  await import(pathToFileURL(file).href)
})
