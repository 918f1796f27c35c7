/** Commands for a page: they print what a terminal would, and reach nothing but their server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('no command of a page reads a file, starts a server or asks another one', async () => {
  for (const [words, message] of [
    [['get', 'ToDo:1', '--endpoint', 'db.example:80'], 'there is no flag --endpoint'],
    [['get', 'ToDo:1', '--data-dir', '/etc'], 'there is no flag --data-dir'],
    [['check', '--store', 'bigtable'], 'there is no flag --store'],
    [['import', '/etc'], 'import runs in a terminal alone'],
    [['start'], 'start runs in a terminal alone'],
    [[], 'no command runs in a terminal alone'],
    [['--data-dir', '/etc', 'get'], '--data-dir runs in a terminal alone'],
  ] as const) {
    const { json } = await ask(words)
    expect([words, json]).toMatchObject([words, { code: 2, lines: [expect.stringContaining(message)] }])
  }
  // Standard input is empty, and a prompt is for a terminal.
  expect(await ask(['gql'])).toMatchObject({ json: { code: 2, lines: [expect.stringContaining('write a query')] } })
  for (const wrong of [undefined, 'get', [1]]) expect((await ask(wrong)).status).toBe(400)
})
