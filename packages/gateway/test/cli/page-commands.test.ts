/** Commands for a page: they print what a terminal would, and reach nothing but their server. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { runInThread } from '../../src/cli/page/page-threads.ts'
import { type Started, sixtables, startCommand } from '../support/cli.ts'

let server: Started
beforeAll(async () => {
  server = await startCommand(['--testing'])
})
afterAll(() => server.stop())

async function ask(words: unknown): Promise<{ readonly status: number; readonly json: unknown }> {
  const headers = { 'content-type': 'application/json' }
  const call = { method: 'POST', headers, body: JSON.stringify({ words }) }
  const response = await fetch(`http://${server.address}/emulator/commands`, call)
  return { status: response.status, json: await response.json() }
}

test('a page gets what a terminal would print, and the exit code', async () => {
  expect(await ask(['put', 'ToDo:1', '{"n": 1}'])).toEqual({
    status: 200,
    json: { code: 0, lines: ['Wrote ToDo:1.'] },
  })
  for (const words of [
    ['inspect', 'rows', 'ToDo:1'],
    ['gql', 'SELECT * FROM ToDo WHERE n = 1'],
    ['indexes', 'list'],
    ['ids', 'range', 'ToDo', '5', '4'],
    ['get', 'ToDo:2'],
    ['check'],
  ]) {
    const { code, out, err } = await sixtables(words, { env: { DATASTORE_EMULATOR_HOST: server.address } })
    const lines = [out, err].filter((text) => text !== '').join('\n')
    const { json } = await ask(words)
    expect([words, (json as { lines: string[] }).lines.join('\n')]).toEqual([words, lines])
    expect([words, (json as { code: number }).code]).toEqual([words, code])
  }
})

test('a long answer is cut', async () => {
  const long = JSON.stringify({ x: { $unindexed: 'x'.repeat(600_000) } })
  for (const key of ['Long:1', 'Long:2']) expect(await ask(['put', key, long])).toMatchObject({ json: { code: 0 } })
  const { json } = await ask(['gql', 'SELECT * FROM Long', '--json'])
  const { lines } = json as { readonly lines: readonly string[] }
  const [last, ...others] = lines.toReversed()
  expect(last).toMatch(/^… 200\d\d\d more characters, which a terminal prints$/)
  expect(others.join('').length).toBe(1_000_000)
})

// In npm test, which has the compiled thread.
test.skipIf(runInThread === undefined)('a command ends with its page, and few run at a time', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const facts = { address: `127.0.0.1:${(silent.address() as AddressInfo).port}`, project: 'demo' }
  const begin = (signal: AbortSignal) => runInThread?.(['get', 'ToDo:1'], facts, signal)
  const page = new AbortController()
  const run = expect(begin(page.signal)).rejects.toMatchObject({ code: 'CANCELLED' })
  const [socket] = (await once(silent, 'connection')) as [Socket]
  const gone = once(socket.on('error', () => {}).resume(), 'close')
  page.abort()
  await run
  await gone
  const pages = new AbortController()
  const four = Array.from({ length: 4 }, () => expect(begin(pages.signal)).rejects.toMatchObject({ code: 'CANCELLED' }))
  await expect(begin(pages.signal)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
  pages.abort()
  await Promise.all(four)
})

test('no command of a page reads a file, starts a server or asks another one', async () => {
  for (const [words, message] of [
    [['get', 'ToDo:1', '--endpoint', 'db.example:80'], 'there is no flag --endpoint'],
    [['get', 'ToDo:1', '--data-dir', '/etc'], 'there is no flag --data-dir'],
    [['check', '--store', 'bigtable'], 'there is no flag --store'],
    [['import', '/etc'], 'a page has no command import: it has gql, '],
    [['start'], 'a page has no command start: it has gql, '],
    [[], 'name a command of a page: it has gql, '],
    [['--data-dir', '/etc', 'get'], 'a page has no command --data-dir: it has gql, '],
  ] as const) {
    const { json } = await ask(words)
    expect([words, json]).toMatchObject([words, { code: 2, lines: [expect.stringContaining(message)] }])
  }
  // Standard input is empty, and a prompt is for a terminal.
  expect(await ask(['gql'])).toMatchObject({ json: { code: 2, lines: [expect.stringContaining('write a query')] } })
  for (const wrong of [undefined, 'get', [1]]) expect((await ask(wrong)).status).toBe(400)
})
