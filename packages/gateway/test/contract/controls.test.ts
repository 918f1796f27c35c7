/** A clock that stands, and named snapshots over HTTP, as a test in another process meets them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { snapshotsMax } from '../../src/emulator/snapshots.ts'
import { sixtables, startCommand } from '../support/cli.ts'
import { testEmulator } from '../support/emulator.ts'

/** As far as it is looked at here. */
interface Answer {
  readonly now?: string
  readonly snapshots?: readonly unknown[]
  readonly error?: { readonly message: string }
  readonly found?: readonly Found[]
  readonly batch?: { readonly entityResults?: readonly { readonly entity: { readonly key: Key } }[] }
}

interface Key {
  readonly path: readonly { readonly id?: string }[]
}

interface Found {
  readonly createTime: string
  readonly updateTime: string
  readonly version: string
}

interface Answered {
  readonly status: number
  readonly json: Answer
}

async function ask(address: string, method: string, path: string, body?: unknown): Promise<Answered> {
  const answer = await fetch(`http://${address}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, json: (await answer.json()) as Answer }
}

const key = (id: number) => ({ path: [{ kind: 'A', id: `${id}` }] })
const put = (address: string, id: number, n = 1): Promise<Answered> =>
  ask(address, 'POST', '/v1/projects/demo:commit', {
    mode: 'NON_TRANSACTIONAL',
    mutations: [{ upsert: { key: key(id), properties: { n: { integerValue: `${n}` } } } }],
  })
const ids = async ({ address }: Pick<Emulator, 'address'>): Promise<readonly string[]> => {
  const { json } = await ask(address, 'POST', '/v1/projects/demo:runQuery', { query: { kind: [{ name: 'A' }] } })
  return (json.batch?.entityResults ?? []).map(({ entity }) => entity.key.path[0]?.id ?? '')
}

describe('a clock that stands', () => {
  test('stamps what is written the same in every run, and moves when it is told to', async () => {
    const stamps = async (): Promise<unknown> => {
      const server = await startCommand(['--testing', '--clock', '2030-01-01T00:00:00Z'])
      expect(server.said()).toContain('The clock stands at 2030-01-01T00:00:00.000Z; POST /emulator/clock')
      await put(server.address, 1)
      await put(server.address, 2)
      await ask(server.address, 'POST', '/emulator/clock', { advanceMs: 86_400_000 })
      await put(server.address, 2, 7)
      const { json } = await ask(server.address, 'POST', '/v1/projects/demo:lookup', { keys: [key(1), key(2)] })
      expect((await ask(server.address, 'DELETE', '/emulator/clock')).json.now).toBe('2030-01-01T00:00:00.000Z')
      expect(await server.stop()).toBe(0)
      return json.found?.map(({ createTime, updateTime, version }) => [createTime, updateTime, version])
    }
    const first = await stamps()
    expect(first).toEqual([
      ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z', '1893456000000000'],
      ['2030-01-01T00:00:00.000001Z', '2030-01-02T00:00:00Z', '1893542400000000'],
    ])
    expect(await stamps()).toEqual(first)
  })

  test('lets what waits come all the same', async () => {
    const emulator = await testEmulator({ clock: '2030-01-01', apply: { type: 'time', delayMs: 5 } })
    await put(emulator.address, 1)
    while ((await ids(emulator)).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(emulator.clock.now().toISOString()).toBe('2030-01-01T00:00:00.005Z')
  })

  test.each(['soon', '2030', '2030-01-01T00:00:00', '1960-01-01', '2030-13-01', '2030-02-30', '2030-01-01T24:00Z'])(
    '--clock %s is refused',
    async (clock) => {
      const { code, err } = await sixtables(['start', '--testing', '--port', '0', '--clock', clock])
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--clock is a time with its zone') })
      await expect(testEmulator({ clock })).rejects.toThrow('clock is a time with its zone')
    },
  )
})

describe('named snapshots', () => {
  test('are taken, listed, restored as often as one likes, replaced and deleted', async () => {
    const emulator = await testEmulator()
    const { address } = emulator
    const path = '/emulator/snapshots'
    await put(address, 1)
    const taken = await ask(address, 'POST', `${path}/one`)
    expect(taken).toEqual({ status: 200, json: { name: 'one', rows: expect.any(Number), takenAt: expect.any(String) } })
    await put(address, 2)
    await ask(address, 'POST', `${path}/two%20of%20them`)
    expect((await ask(address, 'GET', path)).json.snapshots).toMatchObject([{ name: 'one' }, { name: 'two of them' }])
    for (let i = 0; i < 2; i++) {
      await put(address, 3)
      expect((await ask(address, 'POST', `${path}/one/restore`)).json).toEqual(taken.json)
      expect(await ids(emulator)).toEqual(['1'])
    }
    await ask(address, 'POST', `${path}/two%20of%20them/restore`)
    expect(await ids(emulator)).toEqual(['1', '2'])
    await ask(address, 'POST', `${path}/one`)
    await put(address, 4)
    await ask(address, 'POST', `${path}/one/restore`)
    expect(await ids(emulator)).toEqual(['1', '2'])
    expect((await ask(address, 'DELETE', `${path}/one`)).json.snapshots).toMatchObject([{ name: 'two of them' }])
    expect(await ask(address, 'POST', `${path}/one/restore`)).toMatchObject({
      status: 404,
      json: { error: { message: expect.stringContaining('there is no snapshot "one"; there is two of them') } },
    })
    expect((await ask(address, 'DELETE', path)).json).toEqual({ snapshots: [] })
  })

  test('are so many at most', async () => {
    const { address } = await testEmulator()
    for (let i = 0; i < snapshotsMax; i++) await ask(address, 'POST', `/emulator/snapshots/${i}`)
    expect((await ask(address, 'POST', '/emulator/snapshots/more')).status).toBe(429)
    expect((await ask(address, 'POST', '/emulator/snapshots/7')).status, 'replaces one').toBe(200)
  })

  test('of a store on disk are refused in words', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'sixtables-controls-'))
    const emulator = await testEmulator({ dir })
    const { address } = emulator
    const { status, json } = await ask(address, 'POST', '/emulator/snapshots/one')
    expect({ status, message: json.error?.message }).toEqual({
      status: 501,
      message: expect.stringMatching(/^snapshots are for stores in memory, and this one is in .*export the entities/),
    })
    expect((await ask(address, 'GET', '/emulator/snapshots')).json).toEqual({ snapshots: [] })
    await emulator.close()
    rmSync(dir, { recursive: true, force: true })
  })
})
