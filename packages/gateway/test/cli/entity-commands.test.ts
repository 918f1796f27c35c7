/** get, put, delete, and the controls of a running server: faults, clock, findings. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Outcome, type Started, sixtables, startCommand } from '../support/cli.ts'

let folder: string
let server: Started
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-entity-'))
  server = await startCommand(['--testing', '--clock', '2030-01-01T00:00:00Z'])
})
afterEach(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

function ask(...args: readonly string[]): Promise<Outcome> {
  return sixtables(args, { cwd: folder, env: { DATASTORE_EMULATOR_HOST: server.address } })
}

describe('get, put and delete', () => {
  const properties = {
    n: 9007199254740993n,
    d: 5.0,
    at: { $timestamp: '2030-01-01T00:00:00Z' },
    of: { $key: 'User:ada' },
    hidden: { $unindexed: 'x' },
  }
  const text =
    '{"n": 9007199254740993, "d": 5.0, "at": {"$timestamp": "2030-01-01T00:00:00Z"}, "of": {"$key": "User:ada"}, "hidden": {"$unindexed": "x"}}'

  test('write, print and delete one entity, with the types of fixtures', async () => {
    expect(await ask('put', 'User:ada/ToDo:1', text)).toEqual({ code: 0, out: 'Wrote User:"ada"/ToDo:1.', err: '' })
    const { out } = await ask('get', 'User:"ada"/ToDo:1')
    expect(JSON.parse(out)).toMatchObject({ at: properties.at, hidden: properties.hidden })
    expect(out, 'an integer beyond what JSON numbers hold').toContain('9007199254740993')
    expect((await ask('put', 'User:ada/ToDo:2', out)).code, 'what is printed is what is taken').toBe(0)
    expect((await ask('get', 'User:ada/ToDo:2')).out).toBe(out)
    expect(JSON.parse((await ask('get', 'User:ada/ToDo:1', '--json')).out)).toMatchObject({ key: 'User:"ada"/ToDo:1' })
    expect(await ask('delete', 'User:ada/ToDo:1')).toEqual({ code: 0, out: 'Deleted User:"ada"/ToDo:1.', err: '' })
    expect(await ask('get', 'User:ada/ToDo:1')).toEqual({
      code: 1,
      out: '',
      err: 'sixtables: there is no entity User:"ada"/ToDo:1 in project demo',
    })
    const both = ['delete', 'User:ada/ToDo:1', 'User:ada/ToDo:2']
    expect((await ask(...both)).out).toBe('Deleted User:"ada"/ToDo:2.\nThere was no User:"ada"/ToDo:1.')
    expect(JSON.parse((await ask(...both, '--json')).out)).toEqual({
      deleted: [],
      absent: ['User:"ada"/ToDo:1', 'User:"ada"/ToDo:2'],
    })
  })

  test('give an id to a key without one, in a namespace, a database and a folder too', async () => {
    expect((await ask('put', 'ToDo', '{}', '--json')).out).toBe('{"key":"ToDo:5629499534213120"}')
    const at = ['--namespace', 'n', '--database', 'd', '--project', 'p2', '--data-dir', 'store']
    expect((await ask('put', 'ToDo:1', '{"a": [1, null, "x"]}', ...at)).code).toBe(0)
    expect(JSON.parse((await ask('get', 'ToDo:1', '--json', ...at)).out)).toEqual({
      key: 'ToDo:1',
      namespace: 'n',
      properties: { a: [1, null, 'x'] },
    })
    expect((await ask('get', 'ToDo:1', '--data-dir', 'store')).code).toBe(1)
  })

  test.each([
    [['get', 'ToDo'], 'ToDo'],
    [['get'], 'a key is missing'],
    [['put', 'ToDo:1'], 'write a key and its properties'],
    [['put', 'ToDo:1', '{a: 1}'], 'the properties are no JSON'],
    [['put', 'ToDo:1', '[1]'], 'the properties are a JSON object'],
    [['put', 'ToDo:1', '{"a": {"$timestamp": "soon"}}'], 'soon'],
    [['delete'], 'a key is missing'],
  ])('%j is refused in words', async (args, why) => {
    expect(await ask(...args)).toEqual({ code: 2, out: '', err: expect.stringContaining(why) })
  })
})

describe('controls', () => {
  test('faults are added, listed and cleared', async () => {
    expect((await ask('faults', 'list')).out).toBe('No fault is in force.')
    const { out } = await ask(
      'faults',
      'add',
      '--method',
      'commit',
      '--kind',
      'ToDo',
      '--code',
      'ABORTED',
      '--times',
      '1',
    )
    expect(out).toBe('fault-1 is in force; sixtables faults clear fault-1 ends it.')
    expect((await ask('faults', 'list')).out).toBe(
      'fault-1  matched 0, hit 0  method commit, kind ToDo, code ABORTED, times 1',
    )
    expect((await ask('put', 'ToDo:1', '{}')).code).toBe(1)
    expect((await ask('put', 'ToDo:1', '{}')).code).toBe(0)
    await ask('faults', 'add', '--latency-ms', '1')
    expect((await ask('faults', 'clear', 'fault-2')).out).toBe('No fault is in force.')
    expect(await ask('faults', 'add')).toMatchObject({
      code: 2,
      err: expect.stringContaining('a fault has no effect'),
    })
    expect(await ask('faults', 'add', '--times', 'x')).toMatchObject({ code: 2 })
  })

  test('the clock is shown, moved and set back', async () => {
    expect((await ask('clock', 'show')).out).toBe('2030-01-01T00:00:00.000Z')
    expect((await ask('clock', 'advance', '1.5m')).out).toBe('2030-01-01T00:01:30.000Z, moved on by 1 min 30 s')
    expect((await ask('clock', 'to', '2030-01-02T00:00:00Z')).out).toContain('2030-01-02T00:00:00.000Z')
    expect((await ask('clock', 'to', '2029-01-01T00:00:00Z')).code).toBe(2)
    expect((await ask('clock', 'reset')).out).toBe('2030-01-01T00:00:00.000Z')
    expect(await ask('clock', 'advance', '5')).toMatchObject({ code: 2, err: expect.stringContaining('90s') })
  })

  test('findings are told in words', async () => {
    expect((await ask('findings')).out).toBe('Nothing was found so far.')
    expect(JSON.parse((await ask('findings', '--json')).out)).toEqual({ findings: [] })
  })
})

describe('exit codes: what cannot be carried out as asked is a mistake in the call', () => {
  const mistakes = [
    ['seed', 'f.txt'],
    ['faults', 'add', '--code', 'OOPS'],
    ['clock', 'to', 'tomorrow'],
    ['ids', 'allocate', 'ToDo', '--size', '0'],
    ['ids', 'allocate', 'ToDo', '--size', '0', '--data-dir', 'store'],
    ['gql', 'SELECT FROM'],
    ['get', 'ToDo:0'],
    ['put', 'ToDo:1', '{"a": '],
    ['put', '__x__:1', '{}'],
    ['put', '__x__:1', '{}', '--data-dir', 'store'],
  ]
  test('a mistake is told in one line, and the exit code is 2', async () => {
    writeFileSync(join(folder, 'f.txt'), '')
    expect((await ask('put', 'ToDo:1', '{}', '--data-dir', 'store')).code).toBe(0)
    for (const line of mistakes) {
      const outcome = await ask(...line)
      expect(outcome, line.join(' ')).toMatchObject({ code: 2, out: '' })
      expect(outcome.err).toMatch(/^sixtables: .+$/)
    }
  })
  test('what was understood and failed has the exit code 1', async () => {
    for (const line of [
      ['get', 'ToDo:1'],
      ['indexes', 'delete', '7'],
    ]) {
      expect((await ask(...line)).code, line.join(' ')).toBe(1)
    }
  })
})
