/**
 * A registry of npm packages on this machine while a command runs: verdaccio, installed into a temp folder. It stores the packages that are
 * published to it, and gets all others from npm's configured registry.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { whyInstallFailed } from './set-up.mjs'
import { hear, run, ScriptError, say } from './tools.mjs'

/** The last version for Node 20. */
const verdaccio = 'verdaccio@6.8.0'
/** Verdaccio depends on a tag of node-fetch, which a mirror of a registry may lack. */
const overrides = { 'node-fetch': '2.7.0' }
const patienceMs = 60_000

/**
 * Starts it below `folder`, for packages of `scope`, on a free port.
 *
 * @returns `env`, with which npm uses it without this machine's caches and settings; `close()`
 */
export async function startRegistry({ folder, scope }) {
  const home = join(folder, 'registry')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, overrides }))
  say(`installing ${verdaccio} …`)
  const quiet = ['--no-audit', '--no-fund', '--loglevel', 'error']
  const { code, tail } = await run('npm', ['install', ...quiet, '--prefix', home, verdaccio])
  if (code !== 0) throw new ScriptError(`no registry to try with: ${whyInstallFailed(tail)}`)
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  const host = `127.0.0.1:${await freePort()}`
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(settings({ home, scope, upstream }), null, 2))
  const program = join(home, 'node_modules/verdaccio/bin/verdaccio')
  const child = spawn(process.execPath, [program, '--config', join(home, 'config.yaml'), '--listen', host], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = hear(child)
  const close = async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined
    child.kill()
    await ended
  }
  const deadline = AbortSignal.timeout(patienceMs)
  const ping = async () => (await fetch(`http://${host}/-/ping`)).ok
  while (!(await ping().catch(() => false))) {
    if (child.exitCode !== null || deadline.aborted) {
      await close()
      throw new ScriptError(`${verdaccio} did not start; it wrote:\n${said.stdout}${said.stderr}`)
    }
    await sleep(100)
  }
  return { env: npmOf({ folder, host }), close }
}

function settings({ home, scope, upstream }) {
  return {
    storage: join(home, 'storage'),
    uplinks: { upstream: { url: upstream, timeout: '60s' } },
    packages: {
      [`${scope}/*`]: { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'upstream' },
    },
    max_body_size: '100mb',
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
  }
}

/** The settings of npm, with a token: npm publishes only with one, even if the registry needs none. */
function npmOf({ folder, host }) {
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `registry=http://${host}/\n//${host}/:_authToken=none\n`)
  return {
    npm_config_registry: `http://${host}/`,
    npm_config_userconfig: npmrc,
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_prefix: join(folder, 'global'),
    npm_config_update_notifier: 'false',
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}
