/** `sixtables indexes`, beside a running server and on a closed folder; and what start does with index.yaml. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IndexReport } from '../../src/admin/emulator/index-questions.ts'
import { listInWords } from '../../src/cli/commands/indexes.ts'
import { type Started, sixtables, startCommand } from '../support/cli.ts'

let folder: string
let stops: (() => Promise<unknown>)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-indexes-'))
})
afterEach(async () => {
  for (const stop of stops) await stop()
  stops = []
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: readonly string[]) => sixtables(args, { cwd: folder })
const indexes = (...args: readonly string[]) => run('indexes', ...args)

/** A server in this process, stopped after the test. */
async function server(...flags: readonly string[]): Promise<Started> {
  const started = await startCommand(['--data-dir', 'store', ...flags], { cwd: folder })
  stops.push(started.stop)
  return started
}

async function post(address: string, method: string, body: unknown): Promise<{ error?: { message: string } }> {
  const response = await fetch(`http://${address}/v1/projects/demo:${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { error?: { message: string } }
}

const ordered = (address: string) =>
  post(address, 'runQuery', {
    query: {
      kind: [{ name: 'Task' }],
      filter: { propertyFilter: { property: { name: 'done' }, op: 'EQUAL', value: { booleanValue: false } } },
      order: [{ property: { name: 'due' }, direction: 'DESCENDING' }],
    },
  })

describe('beside a running server', () => {
  test('indexes are created, listed and deleted, in words and in JSON', async () => {
    const at = ['--endpoint', (await server('--testing')).address]
    expect(await indexes('list', ...at)).toEqual({
      code: 0,
      err: '',
      out: 'There are no composite indexes in project demo.',
    })
    expect(await indexes('create', 'Task', 'done', 'due:desc', ...at)).toEqual({
      code: 0,
      err: '',
      out: 'Task(done, due desc) is built (id 1).',
    })
    const created = await indexes('create', 'Task', 'due', '--ancestor', '--json', ...at)
    const second = {
      id: '2',
      words: 'Task(ancestor, due)',
      kind: 'Task',
      ancestor: true,
      properties: [{ name: 'due', direction: 'ascending' }],
      state: 'serving',
      inFile: false,
    }
    expect(JSON.parse(created.out)).toEqual(second)
    expect((await indexes('list', ...at)).out).toBe(
      [
        '2 composite indexes in project demo:',
        '  1  Task(done, due desc)  serving',
        '  2  Task(ancestor, due)   serving',
      ].join('\n'),
    )
    expect((await indexes('delete', '1', ...at)).out).toBe('Task(done, due desc) is deleted (id 1).')
    expect(JSON.parse((await indexes('list', '--json', ...at)).out)).toEqual({ indexes: [second], missing: [] })
    expect((await indexes('list', '--database', 'd', ...at)).out).toBe(
      'There are no composite indexes in project demo, database d.',
    )
  })

  test('the list has the indexes that queries were refused for, as the HTTP call has them', async () => {
    const { address } = await server('--testing', '--indexes', 'require')
    const at = ['--endpoint', address]
    for (const _ of [1, 2]) expect((await ordered(address)).error?.message).toContain('index')
    expect((await indexes('list', ...at)).out).toBe(
      [
        'There are no composite indexes in project demo.',
        'Queries were refused for the lack of 1 index; --json has the lines for index.yaml:',
        '  Task(done, due desc)  2 refusals',
      ].join('\n'),
    )
    const yaml = expect.stringMatching(/^indexes:\n- kind: "Task"\n/)
    expect(JSON.parse((await indexes('list', '--json', ...at)).out)).toEqual({
      indexes: [],
      missing: [{ words: 'Task(done, due desc)', yaml, refusals: 2 }],
    })
  })

  test('what is wrong is said in a line, with the exit code that tells whose fault it is', async () => {
    const at = ['--endpoint', (await server('--testing')).address]
    expect(await indexes('create', 'Task', 'due', ...at)).toEqual({
      code: 2,
      out: '',
      err: 'sixtables: the index Task(due) is not needed: indexes on a single property are built in',
    })
    await indexes('create', 'Task', 'a', 'b', ...at)
    expect(await indexes('create', 'Task', 'a', 'b', ...at)).toMatchObject({
      code: 1,
      err: 'sixtables: the index Task(a, b) is defined already (id 1)',
    })
    expect(await indexes('delete', '7', ...at)).toMatchObject({
      code: 1,
      err: 'sixtables: there is no index with id 7 in project demo',
    })
    expect(await indexes('delete', 'x', ...at)).toMatchObject({ code: 2 })
    expect(await indexes('lits', ...at)).toMatchObject({ code: 2, err: expect.stringContaining('did you mean list?') })
    expect(await indexes()).toMatchObject({ code: 2, err: expect.stringContaining('list, create, delete') })
    expect(await indexes('create', 'Task')).toMatchObject({
      code: 2,
      err: expect.stringContaining('indexes create --help'),
    })
    expect(await indexes('list', '--endpoint', '127.0.0.1:1')).toMatchObject({ code: 2 })
  })
})

describe('a closed folder', () => {
  test('is asked the same, and keeps what was said', async () => {
    const running = await server()
    await ordered(running.address)
    await running.stop()
    const at = ['--data-dir', 'store']
    expect((await indexes('create', 'Task', 'a', 'b', ...at)).out).toBe('Task(a, b) is built (id 2).')
    expect((await indexes('list', ...at)).out).toContain('  1  Task(done, due desc)  serving')
    expect(readFileSync(join(folder, 'store', 'index.yaml'), 'utf8')).toContain('"due"')
    expect((await indexes('delete', '1', ...at)).code).toBe(0)
    expect((await indexes('list', ...at)).out).not.toContain('due')
    expect(readFileSync(join(folder, 'store', 'index.yaml'), 'utf8')).not.toContain('"due"')
    expect(await indexes('create', 'Task', 'a', 'b', ...at)).toMatchObject({ code: 1 })
    expect(await indexes('list', '--data-dir', 'nowhere')).toMatchObject({ code: 2 })
  })
})

describe('index.yaml', () => {
  const file = () => join(folder, 'store', 'index.yaml')

  test('is beside the data, and has what queries needed', async () => {
    const { address } = await server()
    expect(readFileSync(file(), 'utf8')).toContain('# AUTOGENERATED')
    expect((await ordered(address)).error).toBeUndefined()
    expect((await indexes('delete', '1', '--endpoint', address)).out).not.toContain('index.yaml')
  })

  test('what a person wrote there is built before the server answers, and comes again after a deletion', async () => {
    const named = join(folder, 'mine.yaml')
    writeFileSync(
      named,
      'indexes:\n- kind: Task\n  properties:\n  - name: done\n  - name: due\n    direction: desc\n- kind: Task\n  properties:\n  - name: due\n',
    )
    const running = await server('--testing', '--require-indexes', '--index-file', 'mine.yaml')
    expect(running.said()).toContain('mine.yaml: line 7: the index Task(due) is not needed')
    const at = ['--endpoint', running.address]
    expect((await indexes('list', ...at)).out).toContain('  1  Task(done, due desc)  serving')
    expect((await ordered(running.address)).error).toBeUndefined()
    expect((await indexes('delete', '1', ...at)).out).toContain('index.yaml has it above the marker line')
    await running.stop()
    expect(readFileSync(named, 'utf8')).not.toContain('AUTOGENERATED')
  })

  test('a query that lacks an index is refused where they are required', async () => {
    const { address } = await server('--testing', '--indexes', 'require')
    expect((await ordered(address)).error?.message).toContain('- kind: Task')
  })

  test('a file that is not understood, or whose folder is not there, stops the start', async () => {
    writeFileSync(join(folder, 'bad.yaml'), 'indexes:\n- kindness: 1\n')
    expect(await run('start', '--testing', '--port', '0', '--index-file', 'bad.yaml')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/bad\.yaml: line 2: an index has no member "kindness"/),
    })
    expect(await run('start', '--testing', '--port', '0', '--index-file', 'no/where.yaml')).toMatchObject({
      code: 2,
      err: expect.stringContaining('for --index-file'),
    })
  })
})

test('a list tells the progress of what is under way, and why a build failed', () => {
  const index = (part: Partial<IndexReport>): IndexReport => ({
    id: '1',
    words: 'A(x, y)',
    kind: 'A',
    ancestor: false,
    properties: [],
    state: 'building',
    inFile: false,
    ...part,
  })
  const lines = listInWords(
    {
      indexes: [
        index({ progress: { completed: 0 } }),
        index({ id: '2', progress: { completed: 128, estimated: 5000 } }),
        index({ id: '3', state: 'deleting', progress: { completed: 1 } }),
        index({ id: '10', state: 'failed', failure: 'no room' }),
      ],
    },
    'project p',
  )
  expect(lines).toEqual([
    '4 composite indexes in project p:',
    '  1   A(x, y)  building',
    '  2   A(x, y)  building, 128 of 5000 entities',
    '  3   A(x, y)  deleting, 1 row done',
    '  10  A(x, y)  failed: no room',
  ])
})
