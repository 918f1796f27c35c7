/** `npm run compare [-- flags]`: builds what is missing, then compares ours with Google's emulators (tools/compare/main.ts). */
import { join } from 'node:path'
import { setUp } from './lib/set-up.mjs'
import { root, run, ScriptError, script } from './lib/tools.mjs'

await script(async () => {
  await setUp()
  const { code } = await run('tsc', ['-p', join(root, 'tools/compare')])
  if (code !== 0) throw new ScriptError('tools/compare does not build')
  await import('../packages/gateway/.compare/tools/compare/main.js')
})
