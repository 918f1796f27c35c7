import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { History } from './prompt.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-history-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('statements are kept a line each, the same one after itself once, for their user alone', () => {
  const path = join(folder, 'state', 'gql-history')
  const history = new History(path)
  expect(history.statements).toEqual([])
  for (const statement of ['a\n  b', 'a b', 'c', 'a b']) history.add(statement)
  expect(readFileSync(path, 'utf8')).toBe('a b\nc\na b\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const next = new History(path)
  expect(next.statements).toEqual(['a b', 'c', 'a b'])
  next.add('a b')
  expect(readFileSync(path, 'utf8')).toBe('a b\nc\na b\n')
})

test('the newest 1,000 stay', () => {
  const path = join(folder, 'gql-history')
  writeFileSync(path, Array.from({ length: 1500 }, (_, i) => `q${i}\n`).join(''))
  chmodSync(path, 0o600)
  const { statements } = new History(path)
  expect([statements.length, statements[0], statements.at(-1)]).toEqual([1000, 'q1499', 'q500'])
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(1001)
})

test('a place that is no file or no folder costs the history alone', () => {
  writeFileSync(join(folder, 'file'), '')
  for (const path of [folder, join(folder, 'file', 'gql-history')]) {
    const history = new History(path)
    history.add('a')
    expect(history.statements).toEqual([])
  }
})
