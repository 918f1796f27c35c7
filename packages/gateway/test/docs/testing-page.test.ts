/** docs/testing.md: each of its programs runs and prints what stands behind its arrows; what it shows of examples is there. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8')
const blocks = [...page.matchAll(/```(?:js|json)\n([\s\S]*?)```/g)].map(([, text = '']) => text)
const programs = blocks.filter((text) => text.includes('startEmulator('))

let folder: string
/** The output of each program. */
let printed: readonly string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-page-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // One after the other in one process, which loads the packages once.
  const files = programs.map((_, i) => `program-${i}.mjs`)
  for (const [i, text] of programs.entries()) writeFileSync(join(folder, `program-${i}.mjs`), text)
  const all = files.map((file) => `await import('./${file}')\nconsole.log('${end}')\n`).join('')
  writeFileSync(join(folder, 'all.mjs'), all)
  const { code, stdout, stderr } = await run('all.mjs')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  printed = stdout.split(`${end}\n`)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The line behind the output of each program. */
const end = '-- the end of a program --'

function run(file: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { NODE_OPTIONS: _options, ...env } = process.env
  return new Promise((resolve) => {
    execFile(process.execPath, [file], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
  })
}

describe('docs/testing.md', () => {
  test('has programs', () => expect(programs.length).toBeGreaterThan(4))

  test.each(programs.map((text, i) => [i + 1, text] as const))('program %i prints what it says', (i, text) => {
    const said = [...text.matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => `${line}\n`).join('')
    expect(printed[i - 1]).toBe(said)
  })

  test.each([
    'testing-node/todo.test.mjs',
    'testing-vitest/vitest.config.mjs',
    'testing-vitest/todo.test.mjs',
    'testing-jest/jest.config.json',
    'testing-mocha/.mocharc.json',
  ])('shows examples/%s as it is', (file) => {
    expect(blocks).toContain(readFileSync(join(root, 'examples', file), 'utf8'))
  })
})
