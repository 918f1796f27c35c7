/**
 * `npm run packages`: tests the packages in the form that users get. Packs all four, publishes them to a registry on this machine, and runs
 * each line of the last table of docs/install.md in an empty folder; then the tests of the packages with the installed files. It needs
 * npm's configured registry for the dependencies. Everything is in a temp folder.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { startRegistry } from './lib/local-registry.mjs'
import { setUp } from './lib/set-up.mjs'
import { publishedFolders } from './lib/stamps.mjs'
import { steps } from './lib/steps.mjs'
import { hear, onSignals, root, run, ScriptError, script, untilSaid } from './lib/tools.mjs'

const limitMs = 300_000

await script(async () => {
  await setUp()
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-published-'))
  const packed = join(folder, 'packed')
  const names = publishedFolders().map((path) => path.replace('packages/', ''))
  let registry
  const cleanUp = async () => {
    await registry?.close()
    rmSync(folder, { recursive: true, force: true })
  }
  onSignals(() => void cleanUp().then(() => process.exit(1)))
  try {
    await node('pack.mjs', [packed, ...names])
    registry = await startRegistry({ folder, scope: '@sixtables' })
    await node('publish.mjs', [packed], registry.env)
    // A second time, like a release that is repeated after an interruption.
    await node('publish.mjs', [packed], registry.env)
    const { step, end } = steps({ name: 'packages' })
    await tryTable({ step, folder, env: registry.env })
    await step('the tests of the packages pass over what npm installs from there', async () => {
      const args = ['run', 'packages/gateway/test/contract/packages.test.ts']
      const env = { ...registry.env, SIXTABLES_PACKAGES: registry.env.npm_config_registry }
      assert.equal((await run('vitest', args, { stdout: 1, env })).code, 0)
    })
    process.exitCode = end()
  } finally {
    await cleanUp()
  }
})

async function node(file, args, env) {
  const { code } = await run(process.execPath, [join(root, 'scripts', file), ...args], { env, shell: false })
  if (code !== 0) throw new ScriptError(`scripts/${file} failed; the reason stands above.`)
}

/** The last table of docs/install.md, each row with a check after its command. Rows use one project unless they say otherwise. */
async function tryTable({ step, folder, env }) {
  const [, table] = /## Once it is published\n([\s\S]*?)(?=\n## |$)/.exec(
    readFileSync(join(root, 'docs/install.md'), 'utf8'),
  )
  const rows = [...table.matchAll(/^\| (.+) \| `(.+)` \|$/gm)].map(([, wish, line]) => ({ wish, line }))
  assert.ok(rows.length >= 5, 'the table of docs/install.md has its rows')
  const project = emptyFolder(folder, 'project')
  for (const { wish, line } of rows) {
    const elsewhere = /without a project|everywhere/.test(wish)
    const cwd = elsewhere ? emptyFolder(folder, wish.replace(/\W+/g, '-')) : project
    await step(`${wish}: ${line}`, () =>
      line.includes('sixtables start') ? serves(line, { cwd, env }) : works(line, { cwd, env }),
    )
  }
  await step('the command that is everywhere is in PATH', async () => {
    const bin = process.platform === 'win32' ? env.npm_config_prefix : join(env.npm_config_prefix, 'bin')
    const PATH = [bin, process.env.PATH].join(delimiter)
    const { stdout } = await shell('sixtables --version', {
      cwd: emptyFolder(folder, 'anywhere'),
      env: { ...env, PATH },
    })
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  })
  await step('the project has what its first line says', () => {
    const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    assert.deepEqual(Object.keys(manifest.devDependencies), ['@sixtables/gateway'])
    const installed = readdirSync(join(project, 'node_modules/@sixtables'))
    assert.deepEqual(installed.sort(), ['engine', 'gateway'])
  })
}

function emptyFolder(folder, name) {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

/** Runs a line, which must end with 0 and without npm warnings about engines or deprecated packages. */
async function works(line, options) {
  const { code, stdout, stderr } = await shell(line, options)
  assert.equal(code, 0, stdout + stderr)
  assert.deepEqual(stderr.match(/^npm warn (?:deprecated|EBADENGINE|ERESOLVE|peer).*$/gm) ?? [], [])
}

/** Runs a line that starts a server on a free port, sends it a commit and a lookup, and ends it. */
async function serves(line, options) {
  const running = shell(`${line} --port 0`, options)
  const [, address] = await running.says(/API endpoint: (http:\S+)[\s\S]*running/)
  const key = { path: [{ kind: 'ToDo', name: 'published' }] }
  const post = async (verb, body) => {
    const answer = await fetch(`${address}/v1/projects/demo:${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200)
    return await answer.json()
  }
  await post('commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key } }] })
  const { found } = await post('lookup', { keys: [key] })
  assert.deepEqual(found[0].entity.key.path, key.path)
  assert.equal((await fetch(`${address}/shutdown`, { method: 'POST' })).status, 200)
  assert.equal((await running).code, 0)
}

/** Runs a line in a shell: a promise of its end, with `says()`, which resolves with the first match in its stdout. */
function shell(line, { cwd, env }) {
  // A user's shell has no variables of the surrounding `npm run`.
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))
  const child = spawn(line, {
    cwd,
    env: { ...Object.fromEntries(ours), ...env },
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = hear(child)
  const timer = setTimeout(() => child.kill(), limitMs)
  const ended = once(child, 'close').then(([code]) => {
    clearTimeout(timer)
    return { code, ...said }
  })
  return Object.assign(ended, { says: (pattern) => untilSaid(child, said, pattern) })
}
