/**
 * `npm run bigtable [-- [file] [vitest arguments]]`: runs the tests for the fake Bigtable over Google's emulator, and those that need the
 * emulator; or the tests of one file.
 * `npm run bigtable:figures [-- flags]`: runs the benchmark tools/bench/bigtable.ts over the emulator.
 * Without the emulator both print a message and do nothing.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setUp } from './lib/set-up.mjs'
import { run, ScriptError, say, script } from './lib/tools.mjs'

/** The path of cbtemulator; `undefined`, and a line with the remedy, if it is not installed. */
function emulator() {
  const install = '`gcloud components install bigtable` (or the package google-cloud-cli-bigtable-emulator) brings it'
  let root = process.env.CLOUDSDK_ROOT
  try {
    root ||= execFileSync('gcloud', ['info', '--format=value(installation.sdk_root)'], { encoding: 'utf8' }).trim()
  } catch {
    say(`skipped: gcloud is not here, and with it no cbtemulator; install the Cloud SDK, then ${install}.`)
    return undefined
  }
  const path = join(root, 'platform', 'bigtable-emulator', 'cbtemulator')
  if (existsSync(path)) return path
  say(`skipped: there is no ${path}; ${install}.`)
  return undefined
}

await script(async () => {
  const path = emulator()
  if (path === undefined) return
  process.env.SIXTABLES_CBTEMULATOR = path
  const [, , ...args] = process.argv
  if (args[0] === 'figures') {
    process.argv.splice(2, 1, 'bench', 'bigtable')
    await import('./tool.mjs')
    return
  }
  await setUp()
  const file = args[0]?.startsWith('-') === false ? args.shift() : 'bigtable'
  const { code } = await run('vitest', ['run', file, ...args], { stdout: 1 })
  if (code !== 0) throw new ScriptError('the tests over Bigtable failed; the reasons stand above.')
})
