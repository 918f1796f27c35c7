/** The program of the README, as a user runs it: on the built package. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { FakeBigtable } from '../support/fake-bigtable.ts'

const folder = fileURLToPath(new URL('../..', import.meta.url))

test('the program of the README prints what it wrote', async () => {
  const fake = await FakeBigtable.start()
  const text = /```js\n([\s\S]*?)```/.exec(readFileSync(`${folder}/README.md`, 'utf8'))?.[1] ?? ''
  const program = text.replace('127.0.0.1:8086', fake.address)
  const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env
  const args = ['--input-type=module', '-e', program]
  const ran = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).finally(() => fake.close())
  expect(ran).toEqual({ stdout: 'hello\n', stderr: '' })
})
