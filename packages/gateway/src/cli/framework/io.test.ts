import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { askAt } from './io.ts'

/** Answers a question at a terminal. */
async function typed(keys: string): Promise<string> {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const asked = new Promise<void>((resolve) => output.once('data', () => resolve()))
  const answer = askAt('Go on? ', input, output)
  await asked
  input.write(keys)
  return answer
}

test.each([
  ['a line', 'yes\r', 'yes'],
  ['Ctrl-C', '\u0003', ''],
  ['Ctrl-D', '\u0004', ''],
  ['Ctrl-C behind letters', 'yes\u0003', ''],
])('%s at a question', async (_, keys, answer) => {
  expect(await typed(keys)).toBe(answer)
})
