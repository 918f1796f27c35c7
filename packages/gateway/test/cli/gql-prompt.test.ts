/** `sixtables gql` without a query: the prompt at a terminal of this process, and queries of stdin. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gql } from '../../src/cli/commands/gql/gql.ts'
import { processIo } from '../../src/cli/framework/io.ts'
import { openServer, sixtables, type TestServer } from '../support/cli.ts'
import { heldTimers } from '../support/limits.ts'

let server: TestServer
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-prompt-'))
  writeFileSync(
    join(folder, 'tasks.yaml'),
    '- { key: Task:1, properties: { done: true, title: tea } }\n- key: Other:1\n- key: Other:2\n',
  )
  server = await openServer()
  expect((await sixtables(['seed', 'tasks.yaml', '--endpoint', server.address], { cwd: folder })).err).toBe('')
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A prompt whose keys are written and whose screen is read as text. */
function openPrompt(flags: Readonly<Record<string, unknown>> = {}) {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 200 })
  let text = ''
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    output.emit('shown')
  })
  const print = (line: string): void => void output.write(`${line}\n`)
  const io = {
    ...processIo,
    env: { XDG_STATE_HOME: folder },
    terminal: { input, output },
    onSignal: () => () => {},
    out: print,
    err: print,
  }
  return {
    ended: gql({ endpoint: server.address, ...flags }, io),
    /** Resolves with the text since the last call, once it has these words. */
    async type(keys: string, words: string): Promise<string> {
      input.write(keys)
      while (!text.includes(words)) await once(output, 'shown')
      const shown = text
      text = ''
      return shown
    },
  }
}

/** The patience of a completion (src/cli/commands/gql/answer.ts): after it names are left out. */
const namesWithinMs = 2000

const prompt = '\u001b[1G\u001b[0Jdemo> '

test('Tab completes, lines are one query, mistakes and refusals leave the prompt open, history stays for the next one', async () => {
  heldTimers(namesWithinMs)
  const first = openPrompt()
  expect(await first.type('', 'demo> ')).toContain(`GQL on ${server.address}`)
  await first.type('SELECT * FROM Other LIMIT 1\r', '1 result; for more: OFFSET 1 at the end of the query')
  await first.type('sel\t', 'SELECT ')
  await first.type('* FROM ta\t', 'Task ')
  await first.type('WHERE d\t', 'done ')
  await first.type('= TRUE OR\r', '   -> ')
  expect(await first.type('done = false;\r', '1 result.')).toContain('Task:1  true  tea')
  const wrong = await first.type('SELECT * FORM Task\r', 'sixtables: ')
  expect(wrong).toContain('SELECT * FORM Task\n         ^\nsixtables: GQL, line 1, column 10')
  await first.type('SELECT * FROM Task WHERE done = @x\r', '@x is not bound')
  await first.type('explain SELECT * FROM Task\r', 'Plan:\n  scan EntitiesByKind Task')
  await first.type('SELECT *\r', '   -> ')
  await first.type('\u0003', prompt)
  await first.type('\\?\r', 'explain QUERY')
  await first.type('\u0004', '\n')
  expect(await first.ended).toBe(0)

  const second = openPrompt({ namespace: 'acme' })
  await second.type('', 'demo [acme]> ')
  await second.type('\u001b[A', 'explain SELECT * FROM Task')
  await second.type('\u001b[A\u001b[A\u001b[A', 'SELECT * FROM Task WHERE done = TRUE OR done = false')
  await second.type('\r', '0 results.')
  await second.type('exit\r', 'exit')
  expect(await second.ended).toBe(0)
})

test('a server that is away leaves the prompt open', async () => {
  const away = openPrompt({ endpoint: '127.0.0.1:2' })
  await away.type('SELECT * FROM Task\r', 'sixtables: no server answers on 127.0.0.1:2')
  await away.type('SELECT * FROM Task WHERE \t\t', 'demo> ')
  await away.type('\u0003\\q\r', '\\q')
  expect(await away.ended).toBe(0)
})

test('stdin has queries, of which the first that fails ends the command', async () => {
  const env = { DATASTORE_EMULATOR_HOST: server.address }
  const input = 'SELECT *\nFROM Task;\nAGGREGATE COUNT(*) AS n OVER (SELECT * FROM Task)\n'
  expect(await sixtables(['gql'], { env, input })).toEqual({
    code: 0,
    out: 'key     done  title\n------  ----  -----\nTask:1  true  tea\n1 result.\nn\n-\n1',
    err: '',
  })
  const failed = await sixtables(['gql'], { env, input: 'SELECT * FORM Task\nSELECT * FROM Task' })
  expect(failed).toMatchObject({ code: 2, out: '' })
  expect(failed.err).toMatch(/^SELECT \* FORM Task\n {9}\^\nsixtables: GQL, line 1, column 10/)
  expect((await sixtables(['gql', '--cursor', 'abc'], { env, input })).err).toContain('--cursor goes on with one query')
})
