/** env, health, seed, dump and reset: what they print, and what they say when it goes wrong. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { processIo } from '../../src/cli/framework/io.ts'
import { main } from '../../src/cli/main.ts'
import { type Outcome, openServer, sixtables, startCommand, type TestServer } from '../support/cli.ts'
import { withoutTimeouts } from '../support/limits.ts'

let server: TestServer
let folder: string

beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-cli-data-'))
})
afterEach(async () => {
  await sixtables(['reset', '--endpoint', server.address])
  rmSync(folder, { recursive: true, force: true })
})

/** On the server of this file. */
function ask(...args: readonly string[]): Promise<Outcome> {
  return sixtables(args, { cwd: folder, env: { DATASTORE_EMULATOR_HOST: server.address } })
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

// Not port 1, which fetch refuses to ask.
const nobody = '127.0.0.1:2'

describe('env', () => {
  test('prints what gcloud would and what the Node client wants, sorted, for the shell', async () => {
    const { code, out } = await sixtables(['env', '--project', 'p1', '--endpoint', 'localhost:9331'])
    expect({ code, out }).toEqual({
      code: 0,
      out: [
        'export DATASTORE_DATASET=p1',
        'export DATASTORE_EMULATOR_HOST=localhost:9331',
        'export DATASTORE_EMULATOR_HOST_PATH=localhost:9331/datastore',
        'export DATASTORE_HOST=http://localhost:9331',
        'export DATASTORE_PROJECT_ID=p1',
        'export METADATA_SERVER_DETECTION=none',
      ].join('\n'),
    })
  })

  test('a shell reads back every value, whatever is in it', async () => {
    for (const project of ['p1', "it's", 'a b', '$HOME', '`x`']) {
      const { out } = await sixtables(['env', '--project', project, '--endpoint', '[::1]:9331'])
      const said = execFileSync('sh', [
        '-c',
        `${out}\nprintf '%s|%s' "$DATASTORE_PROJECT_ID" "$DATASTORE_EMULATOR_HOST"`,
      ])
      expect(String(said)).toBe(`${project}|[::1]:9331`)
    }
  })

  test.each([
    ['fish', 'set -gx DATASTORE_PROJECT_ID demo'],
    ['powershell', "$env:DATASTORE_PROJECT_ID = 'demo'"],
    ['cmd', 'set "DATASTORE_PROJECT_ID=demo"'],
    ['dotenv', 'DATASTORE_PROJECT_ID=demo'],
    ['shell --unset', 'unset DATASTORE_PROJECT_ID'],
    ['fish --unset', 'set -e DATASTORE_PROJECT_ID'],
    ['powershell --unset', 'Remove-Item Env:DATASTORE_PROJECT_ID -ErrorAction SilentlyContinue'],
    ['cmd --unset', 'set "DATASTORE_PROJECT_ID="'],
  ])('--format %s', async (format, line) => {
    const { code, out } = await sixtables(['env', '--format', ...format.split(' ')])
    expect(code).toBe(0)
    expect(out.split('\n')).toHaveLength(6)
    expect(out.split('\n').at(-2)).toBe(line)
  })

  test('as JSON, of the server and project of the environment', async () => {
    const env = { DATASTORE_EMULATOR_HOST: 'localhost:1234', DATASTORE_PROJECT_ID: 'p9' }
    const { out } = await sixtables(['env', '--json'], { env })
    expect(JSON.parse(out)).toMatchObject(env)
  })

  test('gcloud names for it work', async () => {
    expect((await sixtables(['env-init'])).out).toBe((await sixtables(['env'])).out)
    expect((await sixtables(['env-unset'])).out).toBe((await sixtables(['env', '--unset'])).out)
  })

  test.each([
    [['--format', 'bash'], '--format is one of shell, fish, powershell, cmd, dotenv, json; got "bash"'],
    [['--format', 'dotenv', '--unset'], 'a file cannot unset a variable'],
    [['--endpoint', 'http://x:1/'], 'try "x:1"'],
  ])('env %j is refused', async (args, why) => {
    const { code, out, err } = await sixtables(['env', ...args])
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(why) })
  })
})

describe('health', () => {
  beforeEach(withoutTimeouts)

  test('is 0 when the server answers', async () => {
    expect(await ask('health')).toEqual({ code: 0, out: `The server on ${server.address} answers.`, err: '' })
    expect(JSON.parse((await ask('health', '--json')).out)).toEqual({ healthy: true, endpoint: server.address })
  })

  test('is 1 when none does', async () => {
    const { code, out, err } = await sixtables(['health', '--endpoint', nobody])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    const refused = `sixtables: no healthy server on ${nobody}: connection refused; start one with sixtables start, or name another with --endpoint`
    expect(err).toBe(`${refused}; --wait 10 waits for one`)
    let nowMs = 0
    const now = (): number => {
      nowMs += 100
      return nowMs
    }
    const waited = await sixtables(['health', '--endpoint', nobody, '--wait', '0.2'], { now })
    expect(waited).toEqual({ code: 1, out: '', err: refused })
    const json = await sixtables(['health', '--endpoint', nobody, '--json', '--wait', '0.2'], { now })
    expect(json.code).toBe(1)
    expect(JSON.parse(json.out)).toEqual({ healthy: false, endpoint: nobody, reason: 'connection refused' })
  })

  test('is 1 when something else answers there', async () => {
    const other = createServer((_request, response) => response.end('hello'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, err } = await sixtables(['health', '--endpoint', `127.0.0.1:${port}`])
    other.close()
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('what answers there is something else') })
  })

  test('--wait waits until there is one', async () => {
    let asked = 0
    const late = createServer((request, response) => {
      if (++asked < 3) request.socket.destroy()
      else response.end('Ok\n')
    })
    await new Promise<void>((resolve) => late.listen(0, '127.0.0.1', resolve))
    const { port } = late.address() as AddressInfo
    expect((await sixtables(['health', '--endpoint', `127.0.0.1:${port}`, '--wait', '20'])).code).toBe(0)
    expect(asked).toBe(3)
    late.close()
  })

  test('--wait wants seconds', async () => {
    const { code, err } = await ask('health', '--wait', 'long')
    expect({ code, err }).toEqual({ code: 2, err: 'sixtables: --wait is a number of seconds; got "long"' })
  })
})

const tasks = '- key: User:ada/ToDo:1\n  properties: { done: false, n: 1 }\n- { key: ToDo, namespace: acme }\n'

describe('seed and dump', () => {
  test('what is seeded is dumped, and seeds again elsewhere', async () => {
    expect(await ask('seed', file('tasks.yaml', tasks))).toEqual({ code: 0, out: 'Wrote 2 entities.', err: '' })
    const dumped = await ask('dump')
    expect(dumped.out).toMatch(
      /^entities:\n- key: User:"ada"\/ToDo:1\n {2}properties:\n {4}done: false\n {4}n: 1\n- key: ToDo:\d+\n {2}namespace: acme\n {2}properties: \{\}$/,
    )
    for (const format of ['json', 'yaml', 'csv']) {
      const first = await ask('dump', '--format', format)
      const again = await ask('seed', file(`all.${format}`, `${first.out}\n`), '--project', format)
      expect(again.out, again.err).toBe('Wrote 2 entities.')
      expect((await ask('dump', '--project', format)).out).toBe(dumped.out)
    }
  })

  test('answers as JSON with the keys that were given', async () => {
    const { out } = await ask('seed', file('tasks.yaml', tasks), '--json')
    expect(JSON.parse(out)).toEqual({
      entities: 2,
      keys: [{ key: 'User:"ada"/ToDo:1' }, { key: expect.stringMatching(/^ToDo:\d+$/), namespace: 'acme' }],
    })
  })

  test('children of an entity without an id are written below it', async () => {
    await ask('seed', file('t.yaml', '- { key: List, children: [{ key: ToDo:1 }] }'))
    expect((await ask('dump', '--kind', 'ToDo')).out).toMatch(/^entities:\n- key: List:\d+\/ToDo:1\n/)
  })

  test('kinds and namespaces can be chosen', async () => {
    await ask('seed', file('t.json', '[{"key":"A:1"},{"key":"B:1"},{"key":"A:2","namespace":"n"}]'))
    expect((await ask('dump', '--kind', 'A', '--namespace', 'n', '--format', 'csv')).out).toBe(
      '__key__,__namespace__\nA:2,n',
    )
    expect((await ask('dump', '--kind', 'A', '--namespace', '', '--json')).out).toContain(
      '{"key":"A:1","properties":{}}',
    )
  })

  test('a folder that no server uses, made when it is not there', async () => {
    const at = ['--data-dir', 'store', '--database', 'd']
    expect((await ask('seed', file('Task.csv', '__id__,done\n1,true\n'), ...at)).out).toBe('Wrote 1 entity.')
    expect((await ask('dump', ...at)).out).toBe('entities:\n- key: Task:1\n  properties:\n    done: true')
    expect((await ask('dump', '--data-dir', 'store')).out).toBe('entities: []')
    expect((await ask('check', '--data-dir', 'store')).code).toBe(0)
  })

  const again =
    'To run it again, first delete the entities whose keys the file does not give: they would come a second time, under new ids. Those with keys in the file are replaced'

  test('a seed that fails on its way says how many entities are written', async () => {
    const keys = [...Array.from({ length: 500 }, (_, i) => `A:${i + 1}`), 'Far:1']
    file('many.json', JSON.stringify(keys.map((key) => ({ key }))))
    const faulty = await startCommand(['--testing'])
    const at = ['--endpoint', faulty.address]
    const fault = ['--method', 'commit', '--kind', 'Far', '--code', 'INTERNAL', '--message', 'no more']
    expect((await ask('faults', 'add', ...fault, ...at)).code).toBe(0)
    const failed = await ask('seed', 'many.json', ...at)
    await faulty.stop()
    expect(failed).toEqual({ code: 1, out: '', err: `sixtables: no more; at least 500 entities are written. ${again}` })
  })

  test('a seed that is stopped says in one line how much is written: at its input, and at a server that does not answer', async () => {
    let stop = (_: NodeJS.Signals): void => {}
    const stopped = (args: readonly string[], readIn?: () => Promise<string>): Promise<Outcome> =>
      new Promise((resolve) => {
        const err: string[] = []
        const io = {
          ...processIo,
          env: {},
          cwd: folder,
          ...(readIn && { readIn }),
          onSignal: (listener: typeof stop) => {
            stop = listener
            return () => {}
          },
          out: () => {},
          err: (line: string) => err.push(line),
          exit: (code: number) => resolve({ code, out: '', err: err.join('\n') }),
        }
        void main(['seed', ...args], io).catch(() => {})
      })
    const waiting = (): Promise<string> => {
      stop('SIGINT')
      return new Promise(() => {})
    }
    const said = 'sixtables: ended before the end of'
    expect(await stopped(['-', '--format', 'yaml', '--endpoint', nobody], waiting)).toEqual({
      code: 130,
      out: '',
      err: `${said} stdin; nothing is written`,
    })
    const silent = createServer(() => stop('SIGTERM'))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    expect(await stopped([file('one.yaml', '- key: ToDo:1'), '--endpoint', `127.0.0.1:${port}`])).toEqual({
      code: 143,
      out: '',
      err: `${said} one.yaml; at least 0 entities are written. ${again}`,
    })
    silent.closeAllConnections()
    silent.close()
  })

  test.each([
    [['seed'], 2, 'name a fixture, as in sixtables seed tasks.yaml'],
    [['seed', 'none.yaml'], 2, 'there is no file'],
    [['seed', '.'], 2, 'is a folder; name a file, or - for stdin'],
    [['seed', 'x.txt'], 2, 'a fixture is a .json, .yaml or .csv file'],
    [['seed', '-'], 2, 'say with --format what stdin has'],
    [['seed', 'x.yaml', '--format', 'xml'], 2, '--format is one of json, yaml, csv; got "xml"'],
    [['seed', 'broken.yaml'], 1, 'broken.yaml:2: entity 1 (ToDo:1), property due: "x" is not an instant'],
    [['seed', 'good.yaml', '--endpoint', nobody], 2, `no server answers on ${nobody}`],
    [['seed', 'good.yaml', '--project', 'not allowed'], 1, 'is an invalid project id'],
    [['dump', '--endpoint', nobody], 2, `no server answers on ${nobody}`],
    [['dump', '--format', 'xml'], 2, '--format is one of json, yaml, csv; got "xml"'],
    [['dump', '--data-dir', 'none'], 2, 'there is no folder'],
    [['dump', '--project', 'not allowed'], 2, 'is an invalid project id'],
  ])('%j has exit code %i', async (args, code, why) => {
    file('good.yaml', '- key: ToDo:1')
    file('x.txt', '- key: ToDo:1')
    file('broken.yaml', '- key: ToDo:1\n  properties: { due: { $timestamp: x } }\n')
    const answer = await ask(...args)
    expect(answer).toEqual({ code, out: '', err: expect.stringContaining(why) })
    expect(answer.err.split('\n')).toHaveLength(1)
    expect((await ask('dump')).out).toBe('entities: []')
  })
})

describe('reset', () => {
  beforeEach(async () => {
    await ask('seed', file('t.yaml', '- key: A:1\n- { key: A:1, namespace: n }'))
    await ask('seed', 't.yaml', '--project', 'p2')
  })

  test('deletes all, in all projects, whatever the environment names', async () => {
    const env = { DATASTORE_EMULATOR_HOST: server.address, DATASTORE_PROJECT_ID: 'p2' }
    expect((await sixtables(['reset'], { env })).out).toBe('All data is deleted.')
    expect((await ask('dump')).out).toBe('entities: []')
    expect((await ask('dump', '--project', 'p2')).out).toBe('entities: []')
  })

  test('deletes a namespace of a project alone', async () => {
    expect((await ask('reset', '--project', 'p2', '--namespace', 'n')).out).toBe(
      'All data of project p2, namespace n is deleted.',
    )
    expect((await ask('dump', '--project', 'p2', '--format', 'csv')).out).toBe('__key__\nA:1')
    expect((await ask('dump', '--format', 'csv')).out).toBe('__key__,__namespace__\nA:1,\nA:1,n')
    expect(JSON.parse((await ask('reset', '--project', 'p2', '--json')).out)).toEqual({ reset: { project: 'p2' } })
  })

  test('empties a folder', async () => {
    await ask('seed', 't.yaml', '--data-dir', 'store')
    expect((await ask('reset', '--data-dir', 'store')).out).toBe('All data is deleted.')
    expect((await ask('dump', '--data-dir', 'store')).out).toBe('entities: []')
  })

  test('asks about data on disk where a terminal is there, and names it', async () => {
    await ask('seed', 't.yaml', '--data-dir', 'store')
    await ask('seed', 't.yaml', '--data-dir', 'store', '--project', 'p2')
    const asked: string[] = []
    const answering = (answer: string, ...args: readonly string[]): Promise<Outcome> =>
      sixtables(['reset', ...args], {
        cwd: folder,
        ask: async (question) => {
          asked.push(question)
          return answer
        },
      })
    const at = ['--data-dir', 'store']
    expect(await answering('n', ...at)).toEqual({ code: 1, out: '', err: 'sixtables: nothing was deleted' })
    expect((await answering('', ...at, '--project', 'p2', '--namespace', 'n')).code).toBe(1)
    expect(asked).toEqual([
      `All data of demo, p2 in ${join(folder, 'store')} will be deleted for good. Go on? [y/N] `,
      `The namespace n of p2 in ${join(folder, 'store')} will be deleted for good. Go on? [y/N] `,
    ])
    expect((await ask('dump', ...at)).out).toContain('A:1')
    expect((await answering('y', ...at, '--project', 'p2')).out).toBe('All data of project p2 is deleted.')
    expect((await answering('', ...at, '--yes')).out).toBe('All data is deleted.')
    expect((await answering('', '--endpoint', server.address)).out, 'in memory').toBe('All data is deleted.')
    expect(asked).toHaveLength(3)
  })

  test.each([
    [['--namespace', 'n'], 2, 'reset of a database or namespace needs the project too'],
    [['--project', 'a/b', '--yes'], 2, 'sixtables: "a/b" is an invalid project id.'],
    [['--project', 'p2', '--database', 'a b'], 2, '"a b" is an invalid database id.'],
    [['--endpoint', nobody], 2, `no server answers on ${nobody}`],
    [['--data-dir', 'none'], 2, 'there is no folder'],
  ])('reset %j has exit code %i', async (args, code, why) => {
    expect(await ask('reset', ...args)).toEqual({ code, out: '', err: expect.stringContaining(why) })
    expect(readFileSync(join(folder, 't.yaml'), 'utf8')).not.toBe('')
  })
})

test('a fixture from stdin, through the program as it is started', () => {
  const program = fileURLToPath(new URL('../../bin/sixtables.js', import.meta.url))
  const run = (args: readonly string[], input: string): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [program, ...args, '--data-dir', join(folder, 'store')], { input, encoding: 'utf8' })
  const seeded = run(['seed', '-', '--format', 'yaml'], '- { key: ToDo:1, properties: { n: 1 } }\n')
  expect({ status: seeded.status, out: seeded.stdout, err: seeded.stderr }).toEqual({
    status: 0,
    out: 'Wrote 1 entity.\n',
    err: '',
  })
  const dumped = run(['dump', '--format', 'csv'], '')
  expect(dumped.stdout).toBe('__key__,n\nToDo:1,1\n')
  const failed = run(['seed', '-', '--format', 'yaml'], '- { ky: ToDo:1 }\n')
  expect({ status: failed.status, err: failed.stderr }).toEqual({
    status: 1,
    err: 'sixtables: stdin:1: an entity has no member "ky"; did you mean key?\n',
  })
})

test.each([
  [['seed', '-', '--format', 'yaml'], '- { key: ToDo:1 }\n', 'Wrote 1 entity.\n'],
  [['put', 'ToDo:1', '-'], '{"n": 1}', 'Wrote ToDo:1.\n'],
])('%j waits for a stdin whose writer is slow', async (args, input, wrote) => {
  const program = fileURLToPath(new URL('../../bin/sixtables.js', import.meta.url))
  const child = spawn(process.execPath, [program, ...args, '--data-dir', join(folder, 'slow')])
  const [out, err] = [text(child.stdout), text(child.stderr)]
  // A reader that does not wait ends by itself; then writing fails.
  const early = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stdin.on('error', () => {})
  await Promise.race([early, sleep(700)])
  child.stdin.end(input)
  expect({ out: await out, err: await err }).toEqual({ out: wrote, err: '' })
})
