/** The workflows for a public repository, which have not run yet: GitHub's own parser accepts them, and the files that they use exist. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRepository } from './repository.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = readRepository()
const workflows = files.filter(({ path }) => path.startsWith('.github/workflows/'))
const manifests = files.filter(({ path }) => /^packages\/[^/]+\/package\.json$/.test(path))

const published = manifests.filter(({ text }) => !JSON.parse(text).private)
let parser: typeof import('@actions/workflow-parser')
let folder: string

beforeAll(async () => {
  // The parser's modules import JSON in a way that Node refuses; a bundle avoids that.
  folder = mkdtempSync(join(tmpdir(), 'sixtables-workflows-'))
  const file = join(folder, 'parser.mjs')
  const { build } = createRequire(join(root, 'packages/gateway/package.json'))('rolldown')
  const input = fileURLToPath(import.meta.resolve('@actions/workflow-parser'))
  await build({ input, platform: 'node', logLevel: 'silent', output: { file } })
  parser = await import(file)
})

afterAll(() => rmSync(folder, { recursive: true }))

/** The mistakes that the parser finds: in the form, in names of contexts and functions, and in the needs of jobs. */
async function mistakesOf(name: string, content: string): Promise<readonly string[]> {
  const { context, value } = parser.parseWorkflow({ name, content }, new parser.NoOperationTraceWriter())
  if (value !== undefined) await parser.convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}

test('there are workflows for tests and for a release', () => {
  expect(workflows.map(({ path }) => path)).toEqual(['.github/workflows/release.yml', '.github/workflows/tests.yml'])
})

describe.each(workflows)('$path', ({ path, text }) => {
  test('has no mistake', async () => {
    expect(await mistakesOf(path, text)).toEqual([])
  })

  test('says at its head that it has not run yet', () => {
    expect(/^(?:#.*\n)+/.exec(text)?.[0]).toContain('This workflow has not run yet')
  })

  test('uses actions by their commits, each beside its version', () => {
    const uses = [...text.matchAll(/\buses: (.*)/g)].map(([, action]) => action)
    expect(uses.length).toBeGreaterThan(3)
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('runs commands that are there, on files and packages that are there', () => {
    const { scripts } = JSON.parse(files.find((file) => file.path === 'package.json')?.text ?? '')
    for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(name)
    const named = [...text.matchAll(/\b(?:scripts|container)\/[\w.-]+/g)].map(([found]) => found)
    expect(named.filter((file) => !existsSync(root + file))).toEqual([])
    for (const [, names = ''] of text.matchAll(/(?:pack\.mjs packed|for name in) ((?:engine|\w+ engine)[\w ]*)/g)) {
      expect(names.split(' ').sort()).toEqual(published.map((file) => file.path.split('/')[1]))
    }
  })
})

test('the packages have one version, which a tag of a release can name', () => {
  expect(new Set(manifests.map(({ text }) => JSON.parse(text).version)).size).toBe(1)
})

test.each([
  ['an unknown key', '      - runs: a', 'runs'],
  ['an unknown context', `      - run: echo \${{ runnr.os }}`, 'runnr'],
  ['a context in the wrong place', `    env: { A: "\${{ runner.os }}" }\n    steps:\n      - run: a`, 'runner'],
  ['a job that is not there', '    needs: b\n    steps:\n      - run: a', 'b'],
])('%s is found', async (_, lines, named) => {
  const job = lines.includes('steps:') ? lines : `    steps:\n${lines}`
  const mistakes = await mistakesOf('a.yml', `on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n${job}\n`)
  expect(mistakes.join('\n')).toContain(named)
})
