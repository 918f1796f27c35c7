/**
 * The packages as they are published: packed, put into an empty folder, and used from JavaScript and TypeScript.
 *
 * Dependencies come from where the workspace has them, so that this runs without a registry. `npm run packages` publishes the packages to
 * one on this machine, names it in SIXTABLES_PACKAGES, and lets npm install them from there.
 */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const packageNames = ['engine', 'gateway', 'bigtable', 'bench'] as const
/** In the programs below: the packages as users see them, not as this workspace imports them. */
const [engine, gateway] = ['@sixtables/engine', '@sixtables/gateway']
const registry = process.env['SIXTABLES_PACKAGES']

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(command: string, args: readonly string[], cwd: string): Promise<Ran> {
  // The variables of this run would make the child a part of it.
  const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
  })
}

let folder: string
let tarballs: string

function manifestOf(path: string): { readonly [name: string]: unknown } {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
}

const installed = (name: string): string => join(folder, 'node_modules', '@sixtables', name)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-packed-'))
  tarballs = join(folder, 'tarballs')
  mkdirSync(tarballs)
  writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }\n')
  if (registry !== undefined) {
    const names = [...packageNames.map((name) => `@sixtables/${name}`), '@types/node', '@google-cloud/datastore']
    const args = ['install', '--no-audit', '--no-fund', '--registry', registry, ...names]
    const { code, stderr } = await run('npm', args, folder)
    expect({ code, said: code === 0 ? '' : stderr }).toEqual({ code: 0, said: '' })
    return
  }
  const { pnpmVersion } = (await import(join(root, 'scripts/lib/tools.mjs'))) as { pnpmVersion: string }
  const filters = packageNames.map((name) => `--filter=@sixtables/${name}`)
  const args = ['--yes', `pnpm@${pnpmVersion}`, '--recursive', ...filters, 'pack', '--pack-destination', tarballs]
  const { code, stderr, stdout } = await run('npx', args, root)
  expect({ code, said: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, said: '' })
  const files = readdirSync(tarballs).map((file) => join(tarballs, file))
  expect(files).toHaveLength(packageNames.length)
  for (const name of packageNames) {
    mkdirSync(installed(name), { recursive: true })
    const file = files.find((path) => path.includes(`sixtables-${name}-`)) ?? ''
    expect(await run('tar', ['-xzf', file, '--strip-components=1', '-C', installed(name)], folder)).toMatchObject({
      code: 0,
    })
    for (const dependency of Object.keys((manifestOf(installed(name))['dependencies'] ?? {}) as object)) {
      if (!dependency.startsWith('@sixtables/')) link(dependency, join(root, 'packages', name))
    }
  }
  link('@types/node', root)
  link('@google-cloud/datastore', join(root, 'packages/gateway'))
})

/** A package of the workspace, as if it had been installed. */
function link(name: string, from: string): void {
  const path = join(folder, 'node_modules', name)
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(from, 'node_modules', name), path)
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a program into the folder and runs it. */
async function runProgram(name: string, text: string): Promise<Ran> {
  writeFileSync(join(folder, name), text)
  return await run(process.execPath, [name], folder)
}

describe.each(packageNames)('the tarball of @sixtables/%s', (name) => {
  test('has licence, README, types and no sources, maps or tests', () => {
    const files = readdirSync(installed(name), { recursive: true })
      .map(String)
      .filter((file) => !file.startsWith('node_modules'))
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
    )
    // Of sources there is what the build of the gateway makes: code generated from protos.
    const others = files.filter((file) => /\.map$|\.tsbuildinfo$|\.test\.|^test\b|^src(?!$|\/gen)/.test(file))
    expect(others).toEqual([])
    // Vite, and so vitest, complains of a module that names a map which is not there.
    const scripts = files.filter((file) => /^(?:bin|cjs|dist)\b.*\.c?js$/.test(file))
    const text = (file: string): string => readFileSync(join(installed(name), file), 'utf8')
    expect(scripts.filter((file) => text(file).includes('sourceMappingURL=') && !file.includes('bundle'))).toEqual([])
  })

  test('says what it is, and leads to nothing that is not in it', () => {
    const manifest = manifestOf(installed(name))
    expect(manifest).toMatchObject({
      name: `@sixtables/${name}`,
      license: 'Apache-2.0',
      engines: { node: '>=20.19' },
      description: expect.any(String),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
    const text = JSON.stringify([manifest['exports'], manifest['bin'], manifest['imports']])
    expect(text).not.toContain('sixtables-source')
    for (const [path] of text.matchAll(/(?<=")\.\/[^"*]*\.[a-z.]+(?=")/g)) {
      expect(existsSync(join(installed(name), path)), path).toBe(true)
    }
    const versions = Object.values((manifest['dependencies'] ?? {}) as Record<string, string>)
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})

const program = (load: string): string => `${load}
const emulator = await startEmulator()
const { Datastore } = await import('@google-cloud/datastore')
Object.assign(process.env, emulator.env())
const datastore = new Datastore()
const key = datastore.key(['ToDo', 1])
await datastore.save({ key, data: { title: 'packed' } })
const [found] = await datastore.get(key)
console.log(found.title)
for (const client of datastore.clients_.values()) await client.close()
await emulator.close()
`

describe('in an empty folder', () => {
  test('an ES module uses the emulator', async () => {
    const ran = await runProgram('use.mjs', program(`import { startEmulator } from '${gateway}'`))
    expect(ran).toEqual({ code: 0, stdout: 'packed\n', stderr: '' })
  })

  test('a CommonJS module uses it by require, and by import()', async () => {
    for (const load of [`require('${gateway}')`, `await import('${gateway}')`]) {
      const text = program(`void (async () => {\nconst { startEmulator } = ${load}`)
      const ran = await runProgram('use.cjs', `${text}})()\n`)
      // Node 20 says on stderr that require() of an ES module is young.
      expect({ ...ran, stderr: ran.stderr.replace(/^.*ExperimentalWarning: CommonJS[\s\S]*$/m, '') }).toEqual({
        code: 0,
        stdout: 'packed\n',
        stderr: '',
      })
    }
  })

  test('all that is exported can be loaded', async () => {
    const loads = packageNames.flatMap((name) => {
      const exported = Object.keys(manifestOf(installed(name))['exports'] as object)
      // These begin to work when they are loaded, or use what a runner gives them.
      const loaded = exported.filter((path) => !/package\.json|worker|mocha/.test(path))
      return loaded.map((path) => `await import('@sixtables/${name}${path.slice(1)}')`)
    })
    expect(loads.length).toBeGreaterThan(6)
    expect(await runProgram('load.mjs', loads.join('\n'))).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('TypeScript knows the types', async () => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { decodeProperties, type EngineSnapshot, type Value } from '${engine}'
import { type Emulator, type EmulatorOptions, startEmulator } from '${gateway}'
import { resetProject, useEmulator, workerProject } from '${gateway}/testing'
import setup from '${gateway}/vitest'

const options: EmulatorOptions = { port: 0, mode: 'legacy', apply: { type: 'manual' } }
await using emulator: Emulator = await startEmulator(options)
const snapshot: EngineSnapshot = await emulator.snapshot()
await emulator.restore(snapshot)
emulator.faults.add({ method: 'commit', code: 'ABORTED', times: 1 })
await emulator.clock.advance(1000)
const values: ReadonlyMap<string, Value> = decodeProperties(new Uint8Array())
// @ts-expect-error: a code that there is not
emulator.faults.add({ code: 'NOPE' })
// @ts-expect-error: an option that there is not
await startEmulator({ ports: 1 })
export { resetProject, setup, useEmulator, values, workerProject }
`,
    )
    const settings = {
      compilerOptions: {
        target: 'es2022',
        lib: ['es2023', 'esnext.disposable'],
        module: 'nodenext',
        strict: true,
        noEmit: true,
        types: ['node'],
        skipLibCheck: false,
      },
      include: ['use.ts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const ran = await run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], folder)
    expect(ran).toMatchObject({ code: 0, stdout: '' })
  })

  test('the commands run', async () => {
    const sixtables = join(installed('gateway'), 'bin/sixtables.js')
    expect(await run(process.execPath, [sixtables, '--version'], folder)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\d+\.\d+\.\d+/),
    })
  })

  test('a Bigtable needs its package: without it a line says how to install it, with it what is wrong', async () => {
    const sixtables = join(installed('gateway'), 'bin/sixtables.js')
    const create = [sixtables, 'bigtable', 'create', '--bigtable-project', 'A B', '--bigtable-instance', 'main']
    for (const name of ['engine', 'gateway']) {
      const dependencies = Object.keys(manifestOf(installed(name))['dependencies'] as object)
      expect(dependencies.filter((one) => /grpc-js|google-auth|bigtable/.test(one))).toEqual([])
    }
    const [here, away] = [installed('bigtable'), join(folder, 'bigtable-away')]
    renameSync(here, away)
    const without = await run(process.execPath, create, folder)
    renameSync(away, here)
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('npm install @sixtables/bigtable') })
    // The package has another copy of the engine than the command's bundle: its errors are known all the same.
    const withIt = await run(process.execPath, create, folder)
    expect(withIt).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^sixtables: "A B" cannot be the id of a Bigtable project[^\n]*\n$/),
    })
  })

  test('the labs run, with all the files that they need', async () => {
    const lab = (...args: readonly string[]): Promise<Ran> =>
      run(process.execPath, [join(installed('bench'), 'bin/sixtables-lab.js'), ...args], folder)
    expect(await lab('list')).toMatchObject({ code: 0, stdout: expect.stringContaining('write-path') })
    const page = join(folder, 'write-path.html')
    expect(await lab('run', 'write-path', '--html', page)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('write-path: passed'),
    })
    expect(readFileSync(page, 'utf8')).toContain('<style>')
    const short = ['--arm', 'cured', '--set', 'replay.times=10', '--set', 'load.minutes=1']
    const replay = await lab('run', 'replay', ...short, '--json', '-')
    expect(JSON.parse(replay.stdout)).toMatchObject({ lab: 'replay', arms: [{ name: 'cured' }] })
    expect(await lab('challenge', 'start', 'invoice-numbers', 'mine')).toMatchObject({ code: 0 })
    expect(existsSync(join(folder, 'mine/solution.mjs'))).toBe(true)
  })

  test('the program of README of the engine prints what is meant', async () => {
    const readme = readFileSync(join(installed('engine'), 'README.md'), 'utf8')
    const ran = await runProgram('readme.mjs', /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '')
    expect(ran).toEqual({ code: 0, stdout: 'ToDo bigint\n', stderr: '' })
  })

  test('the program of README of the gateway runs', async () => {
    const readme = readFileSync(join(installed('gateway'), 'README.md'), 'utf8')
    const ran = await runProgram('readme.mjs', /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '')
    expect(ran).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})
