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

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-page-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

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

  test.each(programs.map((text, i) => [i + 1, text] as const))('program %i prints what it says', async (i, text) => {
    const file = join(folder, `program-${i}.mjs`)
    writeFileSync(file, text)
    const said = [...text.matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => `${line}\n`).join('')
    expect(await run(file)).toEqual({ code: 0, stdout: said, stderr: '' })
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
