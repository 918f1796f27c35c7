/**
 * What jest and mocha do with the helpers of this package, and no more: for tests of the helpers where neither is installed.
 *
 *   node small-runner.mjs jest FOLDER      globalSetup, for each file a process with setupFilesAfterEnv, globalTeardown
 *   node small-runner.mjs mocha FOLDER     --require, then the files, then root hooks around their tests, then the tear-down
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [runner, folder, file] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)

const tests = []
const hooks = { first: [], each: [], last: [] }
Object.assign(globalThis, {
  describe: (_name, body) => body(),
  it: (name, body) => tests.push([name, body]),
  test: (name, body) => tests.push([name, body]),
  before: (body) => hooks.first.push(body),
  beforeAll: (body) => hooks.first.push(body),
  beforeEach: (body) => hooks.each.push(body),
  after: (body) => hooks.last.push(body),
  afterAll: (body) => hooks.last.push(body),
  expect: (found) => ({
    toBe: (wanted) => assert.equal(found, wanted),
    toEqual: (wanted) => assert.deepEqual(found, wanted),
  }),
})

async function runTests() {
  for (const hook of hooks.first) await hook()
  for (const [name, body] of tests) {
    for (const hook of hooks.each) await hook()
    await body()
    process.stdout.write(`ok ${name}\n`)
  }
  for (const hook of hooks.last) await hook()
}

const files = readdirSync(folder).filter((name) => /\.test\.m?js$/.test(name))

if (file !== undefined) {
  require('@sixtables/gateway/jest-worker')
  require(`./${file}`)
  await runTests()
} else if (runner === 'jest') {
  await (await load('@sixtables/gateway/jest-setup')).default({}, {})
  for (const [i, each] of files.entries()) {
    const env = { ...process.env, JEST_WORKER_ID: String(i + 1) }
    const worker = fork(fileURLToPath(import.meta.url), [runner, folder, each], { env })
    const [code] = await once(worker, 'exit')
    process.exitCode ||= code
  }
  await (await load('@sixtables/gateway/jest-teardown')).default({}, {})
} else {
  const { mochaHooks, mochaGlobalTeardown } = await load('@sixtables/gateway/mocha')
  hooks.first.push(() => mochaHooks.beforeAll())
  for (const each of files) await import(pathToFileURL(join(folder, each)).href)
  await runTests()
  await mochaGlobalTeardown()
}
