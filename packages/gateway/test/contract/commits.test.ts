/** The commits of a server as programs see them: GET /emulator/commits. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PendingReport, StoreEvent, TableReport } from '@sixtables/engine'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { StaleReport } from '../../src/admin/emulator/explain.ts'
import { eventData } from '../../src/cli/target/ask.ts'
import { type Started, startCommand } from '../support/cli.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function server(...flags: readonly string[]): Promise<Started> {
  const started = await startCommand(flags)
  closing.push(() => started.stop())
  return started
}

function post({ address }: Started, path: string, body: unknown = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`http://${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function put(started: Started, id: number, kind = 'ToDo', done = false): Promise<void> {
  const entity = { key: { path: [{ kind, id: `${id}` }] }, properties: { done: { booleanValue: done } } }
  const body = { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: entity }] }
  expect((await post(started, '/v1/projects/demo:commit', body)).status).toBe(200)
}

/** Reads events until the stream is stopped. */
async function watch({ address }: Started, query = ''): Promise<(count: number) => Promise<StoreEvent[]>> {
  const stop = new AbortController()
  closing.push(() => stop.abort())
  const response = await fetch(`http://${address}/emulator/commits${query}`, { signal: stop.signal })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const data = eventData(response.body as unknown as AsyncIterable<Uint8Array>)
  return async (count) => {
    // A response that is forgotten before its body is read is closed by fetch.
    expect(response.status).toBe(200)
    const events: StoreEvent[] = []
    while (events.length < count) events.push(JSON.parse((await data.next()).value as string))
    return events
  }
}

const words = (events: readonly StoreEvent[]): string[] =>
  events.map((event) => {
    if ('reload' in event) return event.reload.reason
    if ('commit' in event) return event.commit.changes.map(({ operation, key }) => `${operation} ${key}`).join(', ')
    return `${event.apply.milestone} ${event.apply.groups.map(({ group }) => group)} ${event.apply.cause}`
  })

const folder = mkdtempSync(join(tmpdir(), 'sixtables-commits-'))
afterAll(() => rmSync(folder, { recursive: true }))
describe.each([
  ['in memory', ['--testing']],
  ['on disk', ['--data-dir', folder]],
])('%s', (_where, flags) => {
  test('a commit comes as log, A and B, with the rows that each wrote', async () => {
    const started = await server(...flags)
    const next = await watch(started)
    await put(started, 1)
    const events = await next(3)
    expect(words(events)).toEqual(['insert ToDo:1', 'A ToDo:1 policy', 'B ToDo:1 policy'])
    const [commit, a, b] = events.map((event) => Object.values(event)[0])
    expect(commit).toMatchObject({ project: 'demo', database: '', waits: false })
    expect(commit.changes).toEqual([{ operation: 'insert', key: 'ToDo:1', kind: 'ToDo', namespace: '' }])
    expect([a.version, b.version]).toEqual([commit.version, commit.version])
    expect(commit.rows[0].row).toBe(`Log(demo, ToDo:1, ${commit.version})`)
    expect(a.rows).toEqual([{ table: 'Entities', row: 'Entities(demo, ToDo:1)', rowKey: expect.stringMatching(/^45/) }])
    expect(b.rows.map(({ row }: { row: string }) => row)).toEqual([
      'EntitiesByKind(demo, ToDo, ToDo:1)',
      'EntitiesByPropertyAsc(demo, ToDo, done=false, ToDo:1)',
      'EntitiesByPropertyDesc(demo, ToDo, done=false, ToDo:1)',
    ])
    await post(started, '/reset?project=demo')
    expect(words(await next(1))).toEqual(['reset'])
  })
})

test('with the policy by hand A and B come when they are released, and a filter leaves the rest out', async () => {
  const started = await server('--testing', '--apply', 'manual')
  const next = await watch(started, '?kind=ToDo&project=demo&database=(default)&list=1')
  await put(started, 1, 'Other')
  await put(started, 1)
  const release = '/emulator/inspect/release?project=demo&key=ToDo:1'
  await post(started, `${release}&milestone=A`)
  await post(started, `${release}&milestone=B`)
  const events = await next(3)
  expect(words(events)).toEqual(['insert ToDo:1', 'A ToDo:1 release', 'B ToDo:1 release'])
  expect(events[0]).toMatchObject({ commit: { waits: true } })
  expect(events[2]).toMatchObject({ apply: { moreRows: 2 } })
})

test('waiting records are listed and released one by one, and a table is read by ranges', async () => {
  const started = await server('--testing', '--apply', 'manual')
  const get = async <T>(path: string): Promise<T> =>
    (await fetch(`http://${started.address}/emulator/inspect/${path}`)).json() as Promise<T>
  for (const done of [false, true, false]) await put(started, 1, 'ToDo', done)
  await put(started, 2)
  const { pending, more } = await get<PendingReport>('pending?project=demo&database=(default)&limit=2&words=20')
  expect(more).toBe(2)
  const [first, second] = pending
  expect([first?.group, second?.state]).toEqual(['ToDo:1', 'committed'])
  const release = `/emulator/inspect/release?project=demo&key=ToDo:1&milestone=A&version=${second?.version}`
  expect(await (await post(started, release)).json()).toMatchObject({ released: 2 })
  const rest = await get<PendingReport>('pending?project=demo')
  expect(rest.pending.map(({ state }) => state)).toEqual(['A', 'committed', 'committed'])
  expect(await (await post(started, '/emulator/inspect/release?project=demo')).json()).toMatchObject({ released: 3 })
  const table = await get<TableReport>('table?name=EntitiesByKind&project=demo&kind=ToDo&limit=1&words=100')
  expect(table).toMatchObject({ rows: [{ row: 'EntitiesByKind(demo, ToDo, ToDo:1)' }], tablets: [{ start: '' }] })
  const start = String(table.start)
  expect(await get(`table?name=EntitiesByKind&from=${encodeURIComponent(start)}&limit=9`)).toMatchObject({
    rows: [{}, { row: 'EntitiesByKind(demo, ToDo, ToDo:2)' }],
  })
  const message = 'the parameter name is missing; it is a table such as name=Entities'
  expect(await get('table?limit=9')).toMatchObject({ error: { message } })
})

test('a stale answer says which results are old, gone or missing, and nothing is applied by asking', async () => {
  const started = await server('--testing', '--apply', 'manual')
  for (const id of [1, 2, 3]) await put(started, id)
  await post(started, '/emulator/inspect/release?project=demo')
  await put(started, 1, 'ToDo', true)
  await post(started, '/emulator/inspect/release?project=demo&key=ToDo:1&milestone=A')
  await put(started, 2, 'ToDo', true)
  await put(started, 4)
  const ask = async (gql: string): Promise<StaleReport> =>
    (await post(started, '/emulator/staleness', { project: 'demo', gql })).json() as Promise<StaleReport>
  const stale: StaleReport = {
    results: [
      { key: 'ToDo:1', properties: '{done: true}', state: 'gone', committed: '{done: true}' },
      { key: 'ToDo:2', properties: '{done: false}', state: 'gone', committed: '{done: true}' },
      { key: 'ToDo:3', properties: '{done: false}', state: 'right' },
    ],
    missing: [{ key: 'ToDo:4', properties: '{done: false}' }],
    waiting: 3,
    more: false,
  }
  expect(await ask('SELECT * FROM ToDo WHERE done = false')).toEqual(stale)
  expect(await ask('SELECT * FROM ToDo WHERE done = false')).toEqual(stale)
  expect((await ask('SELECT * FROM ToDo')).results[1]).toEqual({
    key: 'ToDo:2',
    properties: '{done: false}',
    state: 'old',
    committed: '{done: true}',
  })
  await post(started, '/emulator/inspect/release?project=demo')
  const right = await ask('SELECT * FROM ToDo WHERE done = false')
  expect(right.results.map(({ key, state }) => [key, state])).toEqual([
    ['ToDo:3', 'right'],
    ['ToDo:4', 'right'],
  ])
  expect([right.missing, right.waiting]).toEqual([[], 0])
  const refused = await post(started, '/emulator/staleness', { project: 'demo', gql: 'SELECT', limit: 101 })
  expect(refused.status).toBe(400)
})

test.each([
  ['?kinds=ToDo', 'there is no parameter "kinds" here'],
  ['?key=ToDo', 'ToDo'],
  ['?list=-1', 'list is a whole number from 0 to 1000, not "-1"'],
])('%s is refused', async (query, message) => {
  const { address } = await server('--testing')
  const response = await fetch(`http://${address}/emulator/commits${query}`)
  expect(response.status).toBe(400)
  expect(JSON.stringify(await response.json())).toContain(message.replaceAll('"', '\\"'))
})
