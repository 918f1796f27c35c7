/**
 * `node scripts/fresh-clone.mjs`: the first steps of a newcomer, with empty caches: clones the last commit into a temp folder, gives
 * npm an empty cache and pnpm an empty store, runs `npm start` twice and a lookup against it, then `npx sixtables --help`. It prints the times.
 * It is not part of CI, because it is slow and needs the network.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hear, root, untilSaid } from './lib/tools.mjs'

const folder = mkdtempSync(join(tmpdir(), 'sixtables-fresh-'))
const clone = join(folder, 'clone')
const env = {
  ...process.env,
  npm_config_cache: join(folder, 'npm-cache'),
  npm_config_store_dir: join(folder, 'pnpm-store'),
  XDG_CACHE_HOME: join(folder, 'cache'),
  XDG_DATA_HOME: join(folder, 'data'),
}

/** Starts with `npm start`, asks `GET /`, stops with SIGTERM. Returns the milliseconds until it ran. */
async function start() {
  const began = performance.now()
  const npm = spawn('npm', ['start', '--', '--port', '0'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [, endpoint] = await untilSaid(npm, hear(npm), /API endpoint: (http:\/\/\S+)[\s\S]*running/)
  const ms = performance.now() - began
  assert.equal((await fetch(endpoint)).status, 200)
  const ended = once(npm, 'exit')
  npm.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
  return ms
}

try {
  execFileSync('git', ['clone', '--quiet', root, clone])
  process.stdout.write(`npm start, empty caches:  ${((await start()) / 1000).toFixed(1)} s\n`)
  process.stdout.write(`npm start, second time:   ${((await start()) / 1000).toFixed(1)} s\n`)
  const help = execFileSync('npx', ['sixtables', '--help'], { cwd: clone, env, encoding: 'utf8' })
  assert.match(help, /sixtables start/)
  process.stdout.write('npx sixtables --help:     works\n')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
