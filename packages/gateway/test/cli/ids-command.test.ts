/** `sixtables ids`, beside a running server and on a closed folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Started, sixtables, startCommand } from '../support/cli.ts'

let folder: string
let stops: (() => Promise<unknown>)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-ids-'))
})
afterEach(async () => {
  for (const stop of stops) await stop()
  stops = []
  rmSync(folder, { recursive: true, force: true })
})

const ids = (...args: readonly string[]) => sixtables(['ids', ...args], { cwd: folder })

/** A server in this process, stopped after the test. */
async function server(...flags: readonly string[]): Promise<Started> {
  const started = await startCommand(['--data-dir', 'store', ...flags], { cwd: folder })
  stops.push(started.stop)
  return started
}

/** A commit of inserts; the HTTP status, and the ids of the new entities or the error. */
async function insert(address: string, ...given: readonly (string | undefined)[]): Promise<string> {
  const mutations = given.map((id) => ({ insert: { key: { path: [{ kind: 'ToDo', ...(id && { id }) }] } } }))
  const response = await fetch(`http://${address}/v1/projects/demo:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'TRANSACTIONAL', singleUseTransaction: { readWrite: {} }, mutations }),
  })
  const { error, mutationResults = [] } = (await response.json()) as {
    error?: { message: string }
    mutationResults?: { key?: { path: { id: string }[] } }[]
  }
  if (error !== undefined) return `${response.status} ${error.message}`
  return mutationResults.map(({ key }) => key?.path[0]?.id ?? '-').join(' ')
}

describe('beside a running server', () => {
  test('ids are shown, taken and reserved, each in words', async () => {
    const { address } = await server('--mode', 'legacy', '--apply', 'immediate')
    const at = ['--endpoint', address]
    expect(await ids('next', 'ToDo', ...at)).toEqual({
      code: 0,
      err: '',
      out: [
        'The next ids of ToDo:?:',
        '  scattered   5629499534213120  number 1 of the database     AllocateIds',
        '  sequential  1                 of this kind and parent      ranges',
        '  store-wide  1                 number 1 of the whole store  automatic ids',
      ].join('\n'),
    })
    expect((await ids('range', 'ToDo', '1', '5000', ...at)).out).toBe(
      'EMPTY: ToDo:1 to ToDo:5000: no entity is there and none of its ids was given before: it is wholly yours. ' +
        'The high-water mark moved from 1 to 5001: no id below it is given any more.',
    )
    expect((await ids('range', 'ToDo', '10', '20', ...at)).out).toBe(
      'CONTENTION: ToDo:10 to ToDo:20: no entity is there, but ids below 5001 were given before: others may still write ' +
        'them. The high-water mark stays at 5001: no id below it is given any more.',
    )
    expect(await insert(address, '15', undefined)).toBe('- 5001')
    expect((await ids('range', 'ToDo', '10', '20', ...at)).out).toBe(
      'COLLISION: ToDo:10 to ToDo:20: an entity is there: writing these ids may overwrite it. ' +
        'The high-water mark stays at 5002: no id below it is given any more.',
    )
    expect((await ids('reserve', 'ToDo:6000', 'User:ada/ToDo:5', ...at)).out).toBe(
      'ToDo:6000 is not given any more. The high-water mark of ToDo:? is 6001 now.\n' +
        'User:"ada"/ToDo:5 is not given any more. The high-water mark of User:"ada"/ToDo:? is 6 now.',
    )
    expect((await ids('reserve', 'ToDo:x', ...at)).out).toBe(
      'These keys have names, which are never given; there was nothing to do.',
    )
    expect((await ids('allocate', 'User:ada/ToDo', '--size', '100', ...at)).out).toBe(
      'The ids 5002 to 5101 are yours. The high-water mark is 5102 now: no id below it is given any more.',
    )
    expect((await ids('allocate', 'ToDo', '--max', '100', ...at)).out).toBe(
      'No id is left: all of these were given before. The high-water mark is 6001 now: no id below it is given any more.',
    )
    expect(await insert(address, undefined)).toBe('6001')
  })

  test('--json is what the server answers, also of a namespace, a database and a project', async () => {
    const { address } = await server('--testing')
    const at = ['--endpoint', address, '--json', '--project', 'p', '--database', 'd', '--namespace', 'n']
    const range = await ids('range', '"a kind":"x/y"/"ToDo 2"', '3', '4', ...at)
    expect(JSON.parse(range.out)).toMatchObject({
      state: 'EMPTY',
      start: '3',
      end: '4',
      nextBefore: '1',
      nextAfter: '5',
    })
    const next = await ids('next', '"a kind":"x/y"/"ToDo 2"', ...at)
    expect(JSON.parse(next.out)).toMatchObject({ automatic: 'scattered', sequential: { counter: '5', id: '5' } })
    const elsewhere = await ids('next', '"a kind":"x/y"/"ToDo 2"', '--endpoint', address, '--json')
    expect(JSON.parse(elsewhere.out)).toMatchObject({ sequential: { counter: '1' } })
  })

  test('what the server has against what was asked is one line and exit code 2', async () => {
    const { address } = await server('--testing')
    expect(await ids('range', 'ToDo', '9', '5', '--endpoint', address)).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^sixtables: a range of ids starts at 1 or above.*9 to 5 does not$/),
    })
    expect(await ids('next', '__Stat__', '--endpoint', address)).toMatchObject({ code: 2 })
  })
})

test('on a closed folder ids are taken from what the server left, and the server goes on behind them', async () => {
  const first = await server('--mode', 'legacy')
  expect(await insert(first.address, undefined, undefined)).toBe('1 2')
  await first.stop()
  const at = ['--data-dir', 'store']
  expect((await ids('next', 'ToDo', ...at)).out).toBe(
    [
      'The next ids of ToDo:?:',
      '  scattered   5629499534213120  number 1 of the database     AllocateIds',
      '  sequential  3                 of this kind and parent      ranges',
      '  store-wide  3                 number 3 of the whole store',
    ].join('\n'),
  )
  expect((await ids('range', 'ToDo', '2', '4', ...at)).out).toMatch(/^COLLISION: .* moved from 3 to 5: /)
  expect((await ids('reserve', 'ToDo:9', ...at)).out).toMatch(/The high-water mark of ToDo:\? is 10 now\.$/)
  expect((await ids('allocate', 'ToDo', '--size', '5', ...at)).out).toMatch(/^The ids 10 to 14 are yours\./)
  expect(await ids('range', 'ToDo', '4', '2', ...at)).toMatchObject({ code: 2, err: expect.stringContaining('4 to 2') })
  expect(await ids('next', 'ToDo', '--data-dir', 'none')).toEqual({
    code: 2,
    out: '',
    err: `sixtables: there is no folder ${join(folder, 'none')}`,
  })
  const second = await server('--mode', 'legacy')
  expect(await insert(second.address, undefined)).toBe('15')
})

test('--id-collisions fail refuses a commit whose automatic id is in use, and the next try has another', async () => {
  const { address } = await server('--testing', '--mode', 'legacy', '--id-collisions', 'fail')
  expect(await insert(address, '1')).toBe('-')
  expect(await insert(address, '99', undefined)).toMatch(
    /^400 the id allocated for a new entity was already in use, please try again \(ToDo:1\)/,
  )
  expect(await insert(address, '99', undefined), 'of the first try nothing was applied').toBe('- 2')
})

describe('permute', () => {
  const size = ['--secret', 'a move', '--size', '1000']
  const pairs = (out: string) => out.split('\n').map((line) => line.split('\t'))

  test('gives each number another one of the range, and takes it back', async () => {
    const input = Array.from({ length: 1000 }, (_, i) => `${i + 1}`).join('\n')
    const { out, code } = await sixtables(['ids', 'permute', '-', ...size], { input })
    expect(code).toBe(0)
    const news = pairs(out).map(([, id = '']) => id)
    expect(new Set(news)).toEqual(new Set(pairs(out).map(([id]) => id)))
    // Neighbours do not stay neighbours.
    const near = news.filter((id, i) => i > 0 && Math.abs(Number(id) - Number(news[i - 1])) < 10)
    expect(near.length).toBeLessThan(50)
    const back = await ids('permute', ...news, ...size, '--reverse')
    expect(pairs(back.out).map(([, id]) => id)).toEqual(pairs(out).map(([id]) => id))
  })

  test('gives names of 13 characters, and takes them back', async () => {
    const { out } = await ids('permute', '1', '2', '--secret', 'a move', '--names', '--json')
    const names = (JSON.parse(out) as { from: string; to: string }[]).map(({ to }) => to)
    expect(names).toEqual([expect.stringMatching(/^[0-9a-v]{13}$/), expect.stringMatching(/^[0-9a-v]{13}$/)])
    const back = await ids('permute', ...names, '--secret', 'a move', '--names', '--reverse')
    expect(back.out).toBe(`${names[0]}\t1\n${names[1]}\t2`)
  })
})
