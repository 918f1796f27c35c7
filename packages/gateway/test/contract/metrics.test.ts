/** `GET /metrics` in Prometheus' text form, of a server that was called. */
import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { scrape } from '../support/metrics.ts'

test('calls count from the first scrape on, rows from the start; a watcher counts in neither', async () => {
  const emulator = await testEmulator({ apply: { type: 'manual' } })
  const { address } = emulator
  const call = (method: string, body: object, headers = {}): Promise<Response> =>
    fetch(`http://${address}/v1/projects/demo:${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const key = { path: [{ kind: 'ToDo', id: '1' }] }
  const put = { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key, properties: { n: { integerValue: '1' } } } }] }
  await call('commit', put)
  const first = await scrape(address)
  expect(first.get('sixtables_calls_total{method="commit",code="OK"}')).toBeUndefined()
  expect(first.get('sixtables_rows_written_total')).toBeGreaterThan(0)
  expect(first.get('sixtables_waiting_records')).toBe(1)
  expect(first.get('sixtables_open_transactions')).toBe(0)

  await call('lookup', { keys: [key] })
  await call('lookup', { keys: [key] }, { 'x-sixtables-watcher': '1' })
  await call('beginTransaction', {})
  await call('commit', { ...put, mutations: [{ update: { key: { path: [{ kind: 'ToDo', id: '2' }] } } }] })
  const second = await scrape(address)
  expect(second.get('sixtables_calls_total{method="lookup",code="OK"}')).toBe(1)
  expect(second.get('sixtables_calls_total{method="commit",code="NOT_FOUND"}')).toBe(1)
  expect(second.get('sixtables_call_duration_seconds_count{method="lookup"}')).toBe(1)
  expect(second.get('sixtables_call_duration_seconds_bucket{le="+Inf",method="lookup"}')).toBe(1)
  expect(second.get('sixtables_rows_read_total')).toBe((first.get('sixtables_rows_read_total') ?? 0) + 2)
  // The lookup has rolled its group forward: the rows of the commit are in the tables now.
  expect(second.get('sixtables_rows_written_total')).toBeGreaterThanOrEqual(
    (first.get('sixtables_rows_written_total') ?? 0) + 4,
  )
  expect(second.get('sixtables_waiting_records')).toBe(0)
  expect(second.get('sixtables_open_transactions')).toBe(1)
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'process_start_time_seconds']) {
    expect(second.get(name), name).toBeGreaterThan(1_000_000)
  }
})

test('two servers of one process have metrics of their own, and none is observed before its first scrape', async () => {
  const [one, other] = [await testEmulator(), await testEmulator()]
  await scrape(one.address)
  await fetch(`http://${one.address}/v1/projects/demo:lookup`, { method: 'POST', body: new Uint8Array() })
  expect((await scrape(one.address)).get('sixtables_calls_total{method="lookup",code="OK"}')).toBe(1)
  expect((await scrape(other.address)).get('sixtables_calls_total{method="lookup",code="OK"}')).toBeUndefined()
})
