/**
 * `npm start [-- flags]`: sets up what is missing, then runs the emulator in this process, so that signals reach it and Node starts only
 * once. Paths in flags, and `.sixtables/`, are relative to the folder in which npm was called (INIT_CWD), not to the repository.
 *
 * npm takes a flag before `--` for itself and starts us without it: `npm start --testing` would write to the disk. It leaves
 * `npm_config_testing` in the environment, by which such a call is refused.
 */
import { setUp } from './lib/set-up.mjs'
import { ScriptError, script } from './lib/tools.mjs'

const usualFlags = ['testing', 'port', 'data-dir', 'apply', 'mode', 'simulate']

await script(async () => {
  const taken = usualFlags.find((flag) => process.env[`npm_config_${flag.replace('-', '_')}`] !== undefined)
  if (taken !== undefined) throw new ScriptError(`npm has taken --${taken} for itself; write npm start -- --${taken}`)
  await setUp()
  process.chdir(process.env.INIT_CWD ?? process.cwd())
  await import('../packages/gateway/bin/sixtables.js')
})
