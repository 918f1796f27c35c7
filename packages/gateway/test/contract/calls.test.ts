/** calls/R1: the end of each call of the data API is told once, whatever its protocol, and the log has a line of it. */
import { openEngine } from '@sixtables/engine'
import { afterEach, describe, expect, test } from 'vitest'
import { Call } from '../../src/call.ts'
import { CallFacts } from '../../src/calls/call-facts.ts'
import { callLine, summaryOf } from '../../src/calls/call-summary.ts'
import { type CallReport, Calls } from '../../src/calls/calls.ts'
import { Faults } from '../../src/controls/faults.ts'
import { watchedHandlers } from '../../src/handlers/handlers.ts'
import { startCommand } from '../support/cli.ts'
import { grpcClient, testGateway, until } from '../support/gateway.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function observed() {
  const engine = await openEngine()
  closing.push(() => engine.close())
  const calls = new Calls()
  const reports: CallReport[] = []
  const stop = calls.observe((report) => reports.push(report))
  const faults = new Faults(engine.inspector)
  const gateway = await testGateway(engine, { calls, faults })
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${gateway.url}/v1/projects/demo:${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { engine, gateway, faults, calls, reports, stop, post }
}

/** LookupRequest {project_id 8, keys 3 {path 2 {kind 1, id 2}}} */
const lookupDemo = Buffer.from([0x42, 4, ...Buffer.from('demo'), 0x1a, 7, 0x12, 5, 0x0a, 1, 0x41, 0x10, 1])

const keyOf = (kind: string, id?: string) => ({ path: [id === undefined ? { kind } : { kind, id }] })
const put = (...kinds: readonly string[]) => ({
  mode: 'NON_TRANSACTIONAL',
  mutations: kinds.map((kind) => ({ upsert: { key: keyOf(kind, '1'), properties: { n: { integerValue: '1' } } } })),
})

describe('the end of a call', () => {
  test('is told with what the call is about, its code and the rows it touched', async () => {
    const { reports, post } = await observed()
    await post('commit', put('A', 'B'))
    await post('lookup', { keys: [keyOf('A', '1'), keyOf('A', '2')] })
    await post('runQuery', { query: { kind: [{ name: 'A' }] }, databaseId: 'other' })
    await post('allocateIds', { keys: [keyOf('A')] })
    expect(reports).toMatchObject([
      { method: 'Commit', protocol: 'json', code: 'OK', rowsWritten: expect.any(Number) },
      { method: 'Lookup', code: 'OK', rowsWritten: 0 },
      { method: 'RunQuery', code: 'OK', facts: { projectId: 'demo', databaseId: 'other' } },
      { method: 'AllocateIds', code: 'OK' },
    ])
    expect(reports[0]?.rowsWritten, 'a log record a group').toBeGreaterThanOrEqual(2)
    expect(reports[1]?.rowsRead).toBeGreaterThanOrEqual(1)
    expect(
      reports.map((report) =>
        callLine(summaryOf(report))
          .replace(/ms=[\d.]+/, 'ms=…')
          .replace(/rows\w+=\d+/g, ''),
      ),
    ).toEqual([
      'commit OK project=demo database=(default) kinds=A,B keys=2 ms=…   via=json',
      'lookup OK project=demo database=(default) kinds=A keys=2 ms=…   via=json',
      'runQuery OK project=demo database=other kinds=A ms=…   via=json',
      'allocateIds OK project=demo database=(default) kinds=A keys=1 ms=…   via=json',
    ])
  })

  test('is told of calls over gRPC and in protobuf, of those that fail and of those that make no sense', async () => {
    const { gateway, reports, post } = await observed()
    const client = await grpcClient(gateway)
    await client.call('Lookup', lookupDemo)
    await client.call('Lookup', Buffer.from('nonsense'))
    await fetch(`${gateway.url}/v1/projects/demo:lookup`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(lookupDemo),
    })
    await post('lookup', '{"keys": "x"}')
    await post('commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ update: { key: keyOf('A', '1') } }] })
    expect(reports).toMatchObject([
      { method: 'Lookup', protocol: 'grpc', facts: { projectId: 'demo' } },
      { method: 'Lookup', protocol: 'grpc', code: 'INVALID_ARGUMENT', facts: undefined },
      { method: 'Lookup', protocol: 'protobuf' },
      { method: 'Lookup', protocol: 'json', code: 'INVALID_ARGUMENT', facts: undefined },
      { method: 'Commit', protocol: 'json', code: 'NOT_FOUND', message: expect.stringContaining('A:1') },
    ])
    expect(callLine(summaryOf(reports[4] as CallReport))).toMatch(
      /^commit NOT_FOUND project=demo .*via=json message=".*A:1.*"$/,
    )
  })

  test('is told of a call that its client gives up', async () => {
    const { gateway, faults, reports } = await observed()
    faults.add({ method: 'lookup', latencyMs: 3_600_000 })
    const client = await grpcClient(gateway)
    const asked = client.call('Lookup', lookupDemo)
    await until(() => faults.list()[0]?.matched === 1)
    client.session.destroy()
    await asked
    await until(() => reports.length > 0)
    expect(reports).toMatchObject([{ method: 'Lookup', code: 'CANCELLED' }])
  })

  test('is reported to no observer once the last one has left, and no facts are noted', async () => {
    const { engine, calls, reports, stop, post } = await observed()
    const handlers = watchedHandlers(engine, calls, undefined)
    const factsOfLookup = async () => {
      const call = new Call({ clock: engine.context().clock })
      await handlers.Lookup(lookupDemo, call)
      return call.facts
    }
    expect(await factsOfLookup()).toMatchObject({ method: 'lookup', projectId: 'demo' })
    stop()
    await post('lookup', { keys: [keyOf('A', '1')] })
    expect(reports).toEqual([])
    expect(await factsOfLookup()).toBeUndefined()
  })
})

test('a line stays a line, whatever is in the names', () => {
  const database = { projectId: 'p', databaseId: '' }
  const partition = { ...database, namespaceId: 'n 1' }
  const mutations = ['a b', 'q"', 'x\ny', ...'cdef'].map((kind) => {
    return { operation: 'delete', key: { partition, path: [{ kind, id: 1n }] } } as const
  })
  const facts = new CallFacts('commit', database, { mutations })
  const report = { method: 'Commit', protocol: 'grpc', code: 'ABORTED', message: 'a\nb', facts } as const
  expect(
    callLine(summaryOf({ ...report, trace: undefined, beganAtMs: 0, durationMs: 1.234, rowsRead: 3, rowsWritten: 4 })),
  ).toBe(
    'commit ABORTED project=p database=(default) namespaces="n 1" kinds="a b,q\\",x\\ny,c,d,+2" keys=7 ms=1.23 ' +
      'rowsRead=3 rowsWritten=4 via=grpc message="a\\nb"',
  )
})

test('--log-level debug writes a line for each call, and no other level does', async () => {
  for (const [level, lines] of [
    ['debug', 1],
    ['info', 0],
  ] as const) {
    const server = await startCommand(['--testing', '--log-level', level])
    await fetch(`http://${server.address}/v1/projects/demo:commit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(put('A')),
    })
    expect(
      server.said().match(/^\S+Z debug commit OK project=demo .* kinds=A keys=1 ms=\d+\.\d\d .*$/gm) ?? [],
    ).toHaveLength(lines)
    expect(await server.stop()).toBe(0)
  }
})
