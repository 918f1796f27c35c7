/**
 * `npm start [-- flags]`: sets up what is missing, then runs the emulator in this process, so that signals reach it and Node starts only
 * once. Paths in flags, and `.sixtables/`, are relative to the folder in which npm was called (INIT_CWD), not to the repository.
 */
import { setUp } from './lib/set-up.mjs'
import { script } from './lib/tools.mjs'

await script(async () => {
  await setUp()
  process.chdir(process.env.INIT_CWD ?? process.cwd())
  await import('../packages/gateway/bin/sixtables.js')
})
