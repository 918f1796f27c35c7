/**
 * The helpers for runners of tests, by the examples that use them. Vitest and `node --test` run theirs; jest and mocha are not
 * among this workspace's dependencies (jest alone brings two hundred packages), so that what they do with the helpers is done
 * by test/support/small-runner.mjs here. `pnpm runners` installs both and lets them run the examples.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { type Hooks, useEmulator } from '../../src/testing/shared.ts'
import { resetProject, useWorkerProject, workerProject } from '../../src/testing/worker.ts'
import { clientOf, testEmulator } from '../support/emulator.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const example = (name: string): string => join(root, 'examples', `testing-${name}`)
const smallRunner = fileURLToPath(new URL('../support/small-runner.mjs', import.meta.url))
const installRunners = process.env['SIXTABLES_RUNNERS'] === 'registry'

function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number; said: string }> {
  // The example begins without an emulator, and is no part of this run.
  const isOurs = /^(VITEST|DATASTORE_|NODE_OPTIONS|NODE_TEST|METADATA_|TEST$|CI$)/
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs.test(name)))
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr })
    })
  })
}

describe('the example of', () => {
  test('vitest passes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-vitest-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const config = join(folder, 'vitest.config.mjs')
    // A package that is installed is no source of the tests; one that is linked would be transformed whole, in each worker.
    writeFileSync(
      config,
      `import config from '${pathToFileURL(join(example('vitest'), 'vitest.config.mjs'))}'
export default { test: { ...config.test, server: { deps: { external: [/\\/dist\\//] } } } }
`,
    )
    // Not the limits of its defaults, five seconds for a test: the machine may have much else to do.
    const args = ['run', '--no-color', '--testTimeout=0', '--hookTimeout=0', '--config', config, '--root', '.']
    const ran = await run(join(root, 'node_modules/.bin/vitest'), args, example('vitest'))
    expect(ran).toMatchObject({ code: 0, said: expect.stringMatching(/Tests +3 passed/) })
  })

  test('node:test passes', async () => {
    const ran = await run(process.execPath, ['--test'], example('node'))
    expect(ran).toMatchObject({ code: 0, said: expect.stringMatching(/pass 3/) })
  })

  test('jest passes, as far as jest calls the helpers', async () => {
    const ran = await run(process.execPath, [smallRunner, 'jest', example('jest')], root)
    expect(ran).toEqual({
      code: 0,
      said: 'ok begins empty, in a project of its worker\nok a new ToDo is found by its priority\n',
    })
  })

  test('mocha passes, as far as mocha calls the helpers', async () => {
    const ran = await run(process.execPath, [smallRunner, 'mocha', example('mocha')], root)
    expect(ran).toEqual({ code: 0, said: 'ok are found by their priority\nok of one test are not seen by the next\n' })
  })
})

describe('with the runner itself', () => {
  // They are fetched from a registry, which a run of all tests must not depend on: `pnpm runners` does it.
  test.runIf(installRunners)('jest and mocha, one process or several, pass their examples', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-runners-'))
    try {
      writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
      for (const name of ['jest', 'mocha']) cpSync(example(name), join(folder, name), { recursive: true })
      const installed = await run('npm', ['install', '--no-audit', '--no-fund', 'jest@30', 'mocha@11'], folder)
      expect(installed).toMatchObject({ code: 0 })
      for (const name of ['@sixtables', '@google-cloud']) {
        symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
      }
      const bin = join(folder, 'node_modules/.bin')
      const jest = await run(join(bin, 'jest'), [], join(folder, 'jest'))
      expect(jest).toMatchObject({ code: 0, said: expect.stringMatching(/Tests: +2 passed/) })
      for (const how of [[], ['--parallel']]) {
        const mocha = await run(join(bin, 'mocha'), how, join(folder, 'mocha'))
        expect(mocha).toMatchObject({ code: 0, said: expect.stringMatching(/2 passing/) })
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('the project of a worker', () => {
  beforeEach(() => {
    for (const name of ['VITEST_POOL_ID', 'JEST_WORKER_ID', 'MOCHA_WORKER_ID']) vi.stubEnv(name, undefined)
  })

  test.each(['VITEST_POOL_ID', 'JEST_WORKER_ID', 'MOCHA_WORKER_ID'])('is told by %s', (name) => {
    vi.stubEnv(name, '7')
    expect(workerProject()).toBe('demo-worker-7')
    expect(workerProject('mine')).toBe('mine-worker-7')
  })

  test('is told by the process where no runner has workers', () => {
    expect(workerProject()).toBe(`demo-worker-p${process.pid}`)
  })

  test('is what clients find once it is used, and what is reset', async () => {
    const emulator = await testEmulator()
    const neighbour = clientOf(emulator, 'neighbour')
    Object.assign(process.env, emulator.env())
    vi.stubEnv('JEST_WORKER_ID', '3')
    const mine = clientOf(emulator, useWorkerProject())
    for (const datastore of [mine, neighbour]) await datastore.save({ key: datastore.key(['A', 1]), data: {} })
    await resetProject()
    expect((await mine.get(mine.key(['A', 1])))[0]).toBeUndefined()
    expect((await neighbour.get(neighbour.key(['A', 1])))[0]).toBeDefined()
  })

  test('is not reset without an emulator, or without a name', async () => {
    vi.stubEnv('DATASTORE_EMULATOR_HOST', '')
    await expect(resetProject('p')).rejects.toThrow('DATASTORE_EMULATOR_HOST is not set')
    vi.stubEnv('DATASTORE_EMULATOR_HOST', '127.0.0.1:1')
    await expect(resetProject('')).rejects.toThrow('DATASTORE_PROJECT_ID is not set')
  })

  test('has the same name in the file that jest reads by require()', () => {
    const text = readFileSync(new URL('../../cjs/jest-worker.cjs', import.meta.url), 'utf8')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is looked for as it stands there
    expect(text).toContain('`demo-worker-${process.env.JEST_WORKER_ID || `p${process.pid}`}`')
  })
})

describe('useEmulator', () => {
  type Name = 'first' | 'each' | 'last'
  const hooksOf = (names: 'mocha' | 'vitest') => {
    const bodies: Record<Name, (() => Promise<void>)[]> = { first: [], each: [], last: [] }
    const hook = (name: Name) => (body: () => Promise<void>) => void bodies[name].push(body)
    const hooks: Hooks =
      names === 'mocha'
        ? { before: hook('first'), beforeEach: hook('each'), after: hook('last') }
        : { beforeAll: hook('first'), beforeEach: hook('each'), afterAll: hook('last') }
    const call = async (name: Name) => {
      for (const body of bodies[name]) await body()
    }
    return { hooks, call }
  }

  test.each(['mocha', 'vitest'] as const)(
    'gives each test what prepare() left, with the hooks of %s',
    async (names) => {
      const before = process.env['DATASTORE_EMULATOR_HOST']
      const { hooks, call } = hooksOf(names)
      const keys = { kept: ['A', 'kept'], added: ['A', 'added'] }
      const emulator = useEmulator(hooks, {
        project: 'mine',
        async prepare(started: Emulator) {
          const datastore = clientOf(started, 'mine')
          await datastore.save({ key: datastore.key(keys.kept), data: {} })
        },
      })
      expect(emulator).toThrow('from the first hook on')
      await call('first')
      const { port } = emulator()
      expect(process.env['DATASTORE_EMULATOR_HOST']).toBe(`127.0.0.1:${port}`)
      const datastore = clientOf(emulator(), 'mine')
      for (let i = 0; i < 2; i++) {
        await call('each')
        const [found] = await datastore.get([datastore.key(keys.kept), datastore.key(keys.added)])
        expect(found).toHaveLength(1)
        await datastore.save({ key: datastore.key(keys.added), data: {} })
        emulator().faults.add({ code: 'UNAVAILABLE' })
        await emulator().clock.advance(1000)
      }
      await call('each')
      expect(emulator().faults.list()).toEqual([])
      expect(emulator().clock.offsetMs).toBe(0)
      await call('last')
      expect(process.env['DATASTORE_EMULATOR_HOST']).toBe(before)
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    },
  )
})
