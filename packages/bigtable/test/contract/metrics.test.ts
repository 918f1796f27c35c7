/** `GET /metrics` of a gateway on a Bigtable: calls to it, retries, conflicts, commits under way, and the clock. */
import { expect, onTestFinished, test } from 'vitest'
import { startCommand } from '../../../gateway/test/support/cli.ts'
import { openJsonClient } from '../../../gateway/test/support/http-clients.ts'
import { scrape } from '../../../gateway/test/support/metrics.ts'
import { eventually } from '../../../gateway/test/support/patience.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'

test('metrics tell of calls to the Bigtable since the first scrape, and of the state of a gateway', async () => {
  const fake = await FakeBigtable.start()
  fake.nowMicros = () => BigInt(Date.now() - 30_000) * 1000n
  const names = ['--bigtable-project', 'demo', '--bigtable-instance', 'local']
  const env = { BIGTABLE_EMULATOR_HOST: fake.address }
  const server = await startCommand(['--store', 'bigtable', ...names, '--host', '127.0.0.1'], { env })
  onTestFinished(async () => {
    await server.stop()
    await fake.close()
  })
  const [host = '', port] = server.address.split(':')
  const client = await openJsonClient({ host, port: Number(port) })
  const call = async (method: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const url = `http://${server.address}/v1/projects/demo:${method}`
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as { readonly transaction?: string; readonly error?: object }
  }
  let value = 0
  const put = () => client.write('upsert', [{ path: ['K', 1], properties: { a: ++value } }])
  await put()
  const sample = async (name: string) => (await scrape(server.address)).get(`sixtables_bigtable_${name}`) ?? 0
  expect(await sample('calls_total{method="CheckAndMutateRow",code="OK"}')).toBe(0)
  await eventually(async () => expect(Math.abs((await sample('clock_offset_seconds')) - 30)).toBeLessThan(10))

  let refused = false
  fake.fault = ({ method }) => {
    if (method !== 'MutateRows' || refused) return undefined
    refused = true
    return { type: 'refuse', code: 14 }
  }
  await put()
  await eventually(async () => expect(await sample('retries_total{method="MutateRows"}')).toBe(1))
  expect(await sample('calls_total{method="MutateRows",code="UNAVAILABLE"}')).toBe(1)
  expect(await sample('call_duration_seconds_count{method="CheckAndMutateRow"}')).toBeGreaterThanOrEqual(2)
  expect(await sample('conflicts_total')).toBe(0)

  // A commit stays under way while its rows cannot be written.
  fake.fault = ({ method }) => (method === 'MutateRows' ? { type: 'refuse', code: 8 } : undefined)
  await put()
  await eventually(async () => expect(await sample('oldest_commit_age_seconds')).toBeGreaterThan(0))
  fake.fault = () => undefined
  await eventually(async () => expect(await sample('oldest_commit_age_seconds')).toBe(0))

  // The end of a transaction is written once.
  const { transaction } = await call('beginTransaction', {})
  await call('commit', { mode: 'TRANSACTIONAL', transaction, mutations: [] })
  expect(await sample('conflicts_total')).toBe(0)
  expect((await call('commit', { mode: 'TRANSACTIONAL', transaction, mutations: [] })).error).toBeDefined()
  expect(await sample('conflicts_total')).toBe(1)
  expect(await sample('last_sweep_timestamp_seconds')).toBe(0)
})
