/** The calls of a tool that looks on leave no trace; the same calls of any other client do. */
import type { HeatReport } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { eventData } from '../../src/cli/target/ask.ts'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { testEmulator } from '../support/emulator.ts'

const watcher = { 'x-sixtables-watcher': '1' }
const key = (id: number) => ({ path: [{ kind: 'ToDo', id: String(id) }] })

/** Commits in a row of one entity each, lookups, a query and transactions that meet: all that is counted somewhere. */
async function traffic(emulator: Emulator, headers: Readonly<Record<string, string>>): Promise<void> {
  const ask = async (path: string, body: object): Promise<{ readonly transaction?: string }> => {
    const response = await fetch(`http://${emulator.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    expect(response.status, await response.clone().text()).toBe(200)
    return (await response.json()) as { readonly transaction?: string }
  }
  const call = (method: string, body: object) => ask(`/v1/projects/demo:${method}`, body)
  const put = (id: number, done: boolean) => ({
    upsert: { key: key(id), properties: { done: { booleanValue: done } } },
  })
  for (let id = 1; id <= 120; id++) await call('commit', { mode: 'NON_TRANSACTIONAL', mutations: [put(id, false)] })
  await call('lookup', { keys: [key(1), key(2)] })
  await call('runQuery', { query: { kind: [{ name: 'ToDo' }], offset: 110 } })
  await ask('/emulator/explain', { project: 'demo', gql: 'SELECT * FROM ToDo WHERE done = true' })
  await ask('/emulator/fixtures', { project: 'demo', format: 'json', text: '{"entities": [{"key": "ToDo:3"}]}' })
  await ask('/emulator/preview', { projectId: 'demo', mode: 'NON_TRANSACTIONAL', mutations: [put(3, true)] })
  await ask('/emulator/staleness', { project: 'demo', gql: 'SELECT * FROM ToDo' })
  await ask('/emulator/ids/allocate', { project: 'demo', kind: 'ToDo', size: 10 })
  // Two that have read what both write: the first waits for the second, which is the victim of the deadlock.
  const [first, second] = [await call('beginTransaction', {}), await call('beginTransaction', {})]
  const commits = [first, second].map(({ transaction }) => ({ transaction, mutations: [put(1, true)] }))
  for (const { transaction } of commits) await call('lookup', { keys: [key(1)], readOptions: { transaction } })
  await Promise.allSettled(commits.map((body) => call('commit', body)))
}

async function counted(emulator: Emulator) {
  const { tablets, totals } = emulator.engine
  const heat = (await (await fetch(`http://${emulator.address}/emulator/heat`)).json()) as HeatReport
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  return {
    heat: sum(heat.rows.flatMap(({ reads, writes }) => [...reads, ...writes])),
    charged: tablets.charged,
    requests: tablets.report().requests,
    groups: tablets.groups(),
    findings: emulator.engine.findings().map(({ kind }) => kind),
    totals: { ...totals },
  }
}

/** The methods of a recording, while the traffic runs. */
async function recorded(emulator: Emulator, run: () => Promise<void>): Promise<readonly string[]> {
  const listening = new AbortController()
  const response = await fetch(`http://${emulator.address}/emulator/calls`, { signal: listening.signal })
  const methods: string[] = []
  const read = (async () => {
    for await (const data of eventData(response.body as AsyncIterable<Uint8Array>)) {
      const { method } = JSON.parse(data) as { readonly method?: string }
      if (method !== undefined) methods.push(method)
      if (method === 'reserveIds') return
    }
  })()
  await run()
  await fetch(`http://${emulator.address}/v1/projects/demo:reserveIds`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ keys: [{ path: [{ kind: 'Last', id: '1' }] }] }),
  })
  await read
  listening.abort()
  return methods.slice(0, -1)
}

test('calls of a watcher leave heat, groups, findings, totals and recordings as they were, and meet no fault', async () => {
  const emulator = await testEmulator()
  emulator.faults.add({ code: 'UNAVAILABLE', method: 'lookup' })
  const before = await counted(emulator)
  expect(await recorded(emulator, () => traffic(emulator, watcher))).toEqual([])
  const last = { requests: 1, rowsRead: expect.any(Number), rowsWritten: expect.any(Number) }
  const after = await counted(emulator)
  expect(after.charged - before.charged, 'the rows of the one call that ends the recording').toBeLessThan(5)
  expect(after).toMatchObject({ groups: [], findings: [], totals: last })
  expect(after.heat - before.heat).toBeLessThan(5)
  expect(emulator.faults.list()[0]?.matched).toBe(0)
})

test('the same calls without the header are counted everywhere', async () => {
  const emulator = await testEmulator()
  const methods = await recorded(emulator, () => traffic(emulator, {}))
  expect(methods.filter((method) => method === 'commit')).toHaveLength(122)
  expect(methods).toContain('runQuery')
  const { charged, heat, findings, groups, totals } = await counted(emulator)
  expect(charged).toBeGreaterThan(700)
  expect(heat).toBeGreaterThan(0)
  expect(findings).toContain('single-calls')
  expect(findings).toContain('sequential-keys')
  expect(groups[0]?.group).toContain('ToDo')
  expect(totals.requests).toBeGreaterThan(124)
})
