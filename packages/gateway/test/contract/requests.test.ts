/** The newest calls over HTTP: what is kept while a reader watches, and what is told of each. */
import { PropertyFilter } from '@google-cloud/datastore'
import { expect, test } from 'vitest'
import type { RequestEvent, RequestList } from '../../src/admin/emulator/request-routes.ts'
import type { RecordedRequest, TableRows } from '../../src/calls/request-recorder.ts'
import { eventData } from '../../src/cli/target/ask.ts'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { clientOf, testEmulator } from '../support/emulator.ts'
import { until } from '../support/gateway.ts'

interface Detail extends RecordedRequest {
  readonly request?: { readonly json?: unknown; readonly bytes: number; readonly cut?: object }
  readonly response?: Detail['request']
  readonly plan?: { readonly source: { readonly type: string }; readonly results: readonly string[] }
  readonly tables?: readonly TableRows[]
}

async function get<T>(emulator: Emulator, path: string, status = 200): Promise<T> {
  const response = await fetch(`http://${emulator.address}/emulator/requests${path}`)
  expect(response.status).toBe(status)
  return (await response.json()) as T
}

async function call(emulator: Emulator, method: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(`http://${emulator.address}/v1/projects/demo:${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Record<string, string>
}

const key = (id: string) => ({ partitionId: { projectId: 'demo' }, path: [{ kind: 'ToDo', id }] })
const put = (id: string, priority: string) => ({
  upsert: { key: key(id), properties: { owner: { stringValue: 'ada' }, priority: { integerValue: priority } } },
})

/** The events of a stream until `end` is called. */
async function listen(emulator: Emulator, query = '') {
  const listening = new AbortController()
  const { signal } = listening
  const response = await fetch(`http://${emulator.address}/emulator/requests/events${query}`, { signal })
  const events: RequestEvent[] = []
  const read = (async () => {
    const body = response.body as unknown as AsyncIterable<Uint8Array>
    for await (const data of eventData(body)) events.push(JSON.parse(data) as RequestEvent)
  })().catch(() => {})
  await until(() => events.length > 0)
  return {
    requests: () => events.flatMap(({ requests }) => requests),
    end: async () => {
      listening.abort()
      await read
    },
  }
}

test('calls are kept while a reader watches, and stay readable afterwards', async () => {
  const emulator = await testEmulator()
  await call(emulator, 'lookup', { keys: [key('1')] })
  expect(await get<RequestList>(emulator, '')).toEqual({ recording: false, requests: [] })
  const stream = await listen(emulator, '?kind=ToDo')
  await call(emulator, 'commit', { mode: 'NON_TRANSACTIONAL', mutations: [put('1', '5')] })
  await call(emulator, 'runQuery', { query: { kind: [{ name: 'Other' }] } })
  await call(emulator, 'lookup', { keys: [key('1')] })
  await until(() => stream.requests().length === 2)
  expect(stream.requests()).toMatchObject([
    { id: 1, method: 'commit', code: 'OK', protocol: 'json', kinds: ['ToDo'], key: 'ToDo:1', keys: 1, rowsWritten: 7 },
    { id: 3, method: 'lookup', rowsRead: 1, rowsWritten: 0 },
  ])
  await stream.end()
  await until(() => true)
  let list = await get<RequestList>(emulator, '')
  while (list.recording) list = await get<RequestList>(emulator, '')
  await call(emulator, 'lookup', { keys: [key('1')] })
  list = await get<RequestList>(emulator, '')
  expect(list.requests.map(({ id }) => id)).toEqual([3, 2, 1])
  expect((await get<RequestList>(emulator, '?limit=1&before=3')).requests.map(({ id }) => id)).toEqual([2])
  await fetch(`http://${emulator.address}/emulator/requests`, { method: 'DELETE' })
  expect((await get<RequestList>(emulator, '')).requests).toEqual([])
})

test('one call has its messages as JSON, its plan, and its rows by table, whatever its protocol', async () => {
  const emulator = await testEmulator({ requests: true })
  const client = clientOf(emulator)
  await client.save({ key: client.key(['ToDo', 1]), data: { owner: 'ada', priority: 5 } })
  await client.runQuery(client.createQuery('ToDo').filter(new PropertyFilter('owner', '=', 'ada')))
  const { requests } = await get<RequestList>(emulator, '')
  const [query, commit] = await Promise.all(requests.map(({ id }) => get<Detail>(emulator, `/${id}`)))
  expect(commit).toMatchObject({
    protocol: 'grpc',
    request: {
      json: { projectId: 'demo', mutations: [{ upsert: { properties: { owner: { stringValue: 'ada' } } } }] },
    },
    response: { json: { mutationResults: [{ version: expect.any(String) }], indexUpdates: 5 } },
  })
  expect(commit?.tables?.map(({ table, rowsWritten }) => `${table} ${rowsWritten}`).sort()).toEqual([
    'Entities 1',
    'EntitiesByKind 1',
    'EntitiesByPropertyAsc 2',
    'EntitiesByPropertyDesc 2',
    'Log 1',
  ])
  expect(query).toMatchObject({
    method: 'runQuery',
    request: { json: { query: { kind: [{ name: 'ToDo' }] } } },
    response: { json: { batch: { entityResults: [{ entity: { properties: { priority: { integerValue: '5' } } } }] } } },
    plan: { source: { type: 'scan' }, results: ['give entities, by key'] },
    tables: expect.arrayContaining([{ table: 'EntitiesByPropertyAsc', rowsRead: 1, rowsWritten: 0, rowsDeleted: 0 }]),
  })
  await get(emulator, '/99', 404)
})

test('a large commit is kept with some of its mutations, and says of how many', async () => {
  const emulator = await testEmulator({ requests: true })
  const blob = { blobValue: Buffer.alloc(1000).toString('base64'), excludeFromIndexes: true }
  const mutations = Array.from({ length: 200 }, (_, i) => ({
    upsert: { key: key(String(i + 1)), properties: { blob } },
  }))
  await call(emulator, 'commit', { mode: 'NON_TRANSACTIONAL', mutations })
  const { request } = await get<{ request: { bytes: number; cut: { kept: number }; json: { mutations: object[] } } }>(
    emulator,
    '/1',
  )
  expect(request.bytes).toBeGreaterThan(200_000)
  expect(request.cut).toEqual({ kept: request.json.mutations.length, of: 200 })
  expect(request.cut.kept).toBeGreaterThan(30)
})

test('of transactions that meet it is told who waited for whom, and who was the victim', async () => {
  const emulator = await testEmulator({ requests: true })
  await call(emulator, 'commit', { mode: 'NON_TRANSACTIONAL', mutations: [put('1', '1')] })
  const first = await call(emulator, 'beginTransaction', {})
  const second = await call(emulator, 'beginTransaction', {})
  for (const { transaction } of [first, second]) {
    await call(emulator, 'lookup', { keys: [key('1')], readOptions: { transaction } })
  }
  const commits = [first, second].map(({ transaction }) =>
    call(emulator, 'commit', { transaction, mutations: [put('1', '2')] }),
  )
  await Promise.all(commits)
  const { requests } = await get<RequestList>(emulator, '?transaction=any')
  const [a, b] = requests.filter(({ began }) => began).reverse()
  const waiting = requests.find(({ waits, code }) => waits !== undefined && code === 'OK')
  expect([a?.transaction, b?.transaction]).toContain(waiting?.transaction)
  const victim = requests.find(({ code }) => code === 'ABORTED')
  expect(victim?.abortedBy).toEqual([waiting?.transaction])
  expect(waiting?.waits).toEqual([
    {
      afterMs: expect.any(Number),
      ms: expect.any(Number),
      row: expect.stringContaining('ToDo:1'),
      for: [victim?.transaction],
    },
  ])
  const aborted = await get<RequestList>(emulator, `?code=error&transaction=${victim?.transaction}`)
  expect(aborted.requests.map(({ method }) => method)).toEqual(['commit'])
})

test('an optimistic transaction names the one whose commit came first', async () => {
  const emulator = await testEmulator({ requests: true, mode: 'legacy' })
  await call(emulator, 'commit', { mode: 'NON_TRANSACTIONAL', mutations: [put('1', '1')] })
  const winner = await call(emulator, 'beginTransaction', {})
  const loser = await call(emulator, 'beginTransaction', {})
  for (const { transaction } of [winner, loser]) {
    await call(emulator, 'lookup', { keys: [key('1')], readOptions: { transaction } })
    if (transaction === winner['transaction']) continue
    for (const one of [winner, loser])
      await call(emulator, 'commit', { transaction: one['transaction'], mutations: [put('1', '2')] })
  }
  const { requests } = await get<RequestList>(emulator, '?method=commit')
  expect(requests[0]).toMatchObject({ code: 'ABORTED', abortedBy: [requests[1]?.transaction] })
})

test('a parameter that is none, and a value that cannot be, are refused by name', async () => {
  const emulator = await testEmulator()
  const refused = async (query: string): Promise<string> => {
    const { error } = await get<{ readonly error: { readonly message: string } }>(emulator, query, 400)
    return error.message
  }
  expect(await refused('?knid=ToDo')).toContain('there is no parameter "knid" here; there is method, text, kind, code')
  expect(await refused('?method=get')).toContain('not "get"')
  expect(await refused('?slower=fast')).toContain('slower is a number of milliseconds, not "fast"')
  expect(await refused('?limit=0')).toContain('limit is a whole number from 1 to 1000, not "0"')
})
