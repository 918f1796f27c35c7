/** `sixtables requests`: the list, one call in detail, and calls as they come, until Ctrl-C. */
import { expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { sixtables, startCommand } from '../support/cli.ts'
import { testEmulator } from '../support/emulator.ts'
import { until } from '../support/gateway.ts'

async function put(address: string, kind: string): Promise<void> {
  const entity = { key: { path: [{ kind, id: '1' }] }, properties: { owner: { stringValue: 'ada' } } }
  await fetch(`http://${address}/v1/projects/demo:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: entity }] }),
  })
}

test('the list has the newest calls that match, and a number shows one of them whole', async () => {
  const server = await startCommand(['--testing', '--requests'])
  const endpoint = ['--endpoint', server.address]
  await put(server.address, 'ToDo')
  await put(server.address, 'Other')
  const list = await sixtables(['requests', ...endpoint, '--kind', 'ToDo'])
  expect(list.out).toMatch(
    /^1 {2}\d\d:\d\d:\d\d\.\d{3} {2}commit OK project=demo .*kinds=ToDo keys=1 ms=[\d.]+ .*via=json$/,
  )
  const found = await sixtables(['requests', ...endpoint, '--text', 'oTHER:1'])
  expect(found.out.trim().split('\n')).toEqual([expect.stringMatching(/^2 .*kinds=Other/)])
  const one = await sixtables(['requests', '2', ...endpoint])
  expect(one.out).toContain('commit OK project=demo database=(default) kinds=Other')
  expect(one.out).toContain('"stringValue": "ada"')
  expect(one.out).toContain('  EntitiesByPropertyAsc        0 read, 1 written')
  const json = await sixtables(['requests', ...endpoint, '--json', '--limit', '1'])
  expect(JSON.parse(json.out)).toMatchObject({ recording: true, requests: [{ id: 2, kinds: ['Other'] }] })
  const wrong = await sixtables(['requests', ...endpoint, '--method', 'get'])
  expect(wrong.err).toContain('method is lookup, runQuery')
  const none = await sixtables(['requests', '77', ...endpoint])
  expect([none.code, none.err]).toEqual([
    expect.not.stringMatching(/^0$/),
    expect.stringContaining('request 77 is not kept'),
  ])
  const both = await sixtables(['requests', '2', ...endpoint, '--follow'])
  expect(both.err).toContain('leave the other flags out')
  await server.stop()
})

test('a value that cannot be is refused by the name of its flag, before a server is asked', async () => {
  const refused = async (...flags: readonly string[]): Promise<string> => (await sixtables(['requests', ...flags])).err
  expect(await refused('--slower-than', 'fast')).toContain('--slower-than is a number of milliseconds, not "fast"')
  expect(await refused('--code', 'BAD')).toContain('--code is OK, error, CANCELLED')
})

test('without a watcher the list says how calls are kept', async () => {
  const { address } = await testEmulator()
  const { out, code } = await sixtables(['requests', '--endpoint', address])
  expect([code, out]).toEqual([0, expect.stringContaining('start the server with --requests')])
})

test('--follow shows calls as they come, and Ctrl-C ends it', async () => {
  const { address } = await testEmulator()
  const out: string[] = []
  const err: string[] = []
  const stops: ((name: NodeJS.Signals) => void)[] = []
  const code = main(['requests', '--follow', '--json', '--kind', 'ToDo', '--endpoint', address], {
    env: {},
    cwd: '/nowhere',
    ask: undefined,
    readIn: async () => '',
    onSignal: (stop) => {
      stops.push(stop)
      return () => {}
    },
    onFault: () => () => {},
    now: () => performance.now(),
    exit: () => {},
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  })
  await until(() => err.length > 0)
  await put(address, 'Other')
  await put(address, 'ToDo')
  await until(() => out.length > 0)
  expect(JSON.parse(out[0] ?? '')).toMatchObject({ id: 2, method: 'commit', kinds: ['ToDo'] })
  for (const stop of stops) stop('SIGINT')
  expect(await code).toBe(0)
})
