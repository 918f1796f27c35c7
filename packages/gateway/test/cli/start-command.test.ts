/** The commands against a real server and a real folder, in this process. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/framework/command.ts'
import { main } from '../../src/cli/main.ts'
import { withoutTimeouts } from '../support/limits.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-cli-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** One command that may still be running: what it said so far, and a hand on its signals. */
class Run {
  readonly out: string[] = []
  readonly err: string[] = []
  readonly exits: number[] = []
  nowMs = 0
  readonly code: Promise<number>
  #signal: (signal: NodeJS.Signals) => void = () => {}
  #heard: () => void = () => {}

  constructor(...args: readonly string[]) {
    const io: Io = {
      env: {},
      cwd: folder,
      out: (line) => {
        this.out.push(line)
        this.#heard()
      },
      err: (line) => this.err.push(line),
      readIn: async () => '',
      onFault: () => () => {},
      onSignal: (stop) => {
        this.#signal = stop
        return () => {
          this.#signal = () => {}
        }
      },
      now: () => this.nowMs,
      exit: (code) => this.exits.push(code),
    }
    this.code = main(args, io)
  }

  signal(): void {
    this.#signal('SIGTERM')
  }

  /** Resolves with `host:port` once the server says that it is running. */
  async running(): Promise<string> {
    const said = new Promise<void>((resolve) => {
      this.#heard = () => {
        if (this.out.some((line) => line.includes('is now running'))) resolve()
      }
    })
    await Promise.race([said, this.code])
    const address = this.out.map((line) => /API endpoint: http:\/\/(\S+)/.exec(line)?.[1]).find(Boolean)
    if (address === undefined) throw new Error(`not running: ${this.err.join('\n')}`)
    return address
  }
}

async function done(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const run = new Run(...args)
  const code = await run.code
  return { code, out: run.out.join('\n'), err: run.err.join('\n') }
}

async function put(address: string, id: string, priority: number): Promise<void> {
  const upsert = {
    key: { path: [{ kind: 'ToDo', id }] },
    properties: { priority: { integerValue: String(priority) } },
  }
  const response = await fetch(`http://${address}/v1/projects/demo:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations: [{ upsert }] }),
  })
  expect(response.status, await response.text()).toBe(200)
}

describe('sixtables start', () => {
  test('says where it is, what to export and that it is running, and answers then', async () => {
    const run = new Run('start', '--port', '0', '--project', 'p1')
    const address = await run.running()
    expect(run.out).toEqual([
      'sixtables, as Firestore in Datastore mode.',
      `Data is kept in ${join(folder, '.sixtables')}`,
      `Console: http://${address}/console/`,
      `API endpoint: http://${address}`,
      'Client libraries find it by:',
      `  export DATASTORE_EMULATOR_HOST=${address}`,
      '  export DATASTORE_PROJECT_ID=p1',
      '  export METADATA_SERVER_DETECTION=none',
      'Dev App Server is now running.',
    ])
    expect((await fetch(`http://${address}/`)).status).toBe(200)
    run.signal()
    expect(await run.code).toBe(0)
    await expect(fetch(`http://${address}/`)).rejects.toThrow()
    expect(run.err).toEqual([])
  })

  test('quotes a project that a shell would take apart', async () => {
    const run = new Run('--testing', '--port', '0', '--project', "Ada's shop!")
    await run.running()
    expect(run.out).toContain("  export DATASTORE_PROJECT_ID='Ada'\\''s shop!'")
    run.signal()
    expect(await run.code).toBe(0)
  })

  test('listens on an IPv6 address and writes it in brackets', async () => {
    const run = new Run('--testing', '--host-port', '[::1]:0')
    const interfaces = Object.values(networkInterfaces()).flat()
    if (!interfaces.some((one) => one?.address === '::1')) {
      // A machine without IPv6, as many containers are.
      expect(await run.code).toBe(2)
      expect(run.err.join()).toContain('this machine has no address ::1')
      return
    }
    const address = await run.running()
    expect(address).toMatch(/^\[::1\]:\d+$/)
    expect(run.out).toContain('Data is kept in memory.')
    run.signal()
    expect(await run.code).toBe(0)
  })

  test('says in one line to whom it is open beyond this machine', async () => {
    const open = new Run('--testing', '--host', '0.0.0.0', '--port', '0')
    const address = await open.running()
    const lines = open.out.filter((line) => line.startsWith('Open on port'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(`port ${address.split(':')[1]} of all addresses of this machine: every machine`)
    expect(lines[0]).toContain('--allowed-host')
    open.signal()
    expect(await open.code).toBe(0)
  })

  test('POST /shutdown ends it with exit code 0', async () => {
    const run = new Run('--testing', '--port', '0')
    const address = await run.running()
    expect((await fetch(`http://${address}/shutdown`, { method: 'POST' })).status).toBe(200)
    expect(await run.code).toBe(0)
  })

  test('a second signal ends it at once', async () => {
    const run = new Run('--testing', '--port', '0')
    await run.running()
    run.signal()
    run.nowMs = 10
    run.signal()
    expect(run.exits, 'one Ctrl-C, told twice').toEqual([])
    run.nowMs = 1000
    run.signal()
    expect(run.exits).toEqual([143])
    await run.code
  })

  test('keeps data from one run to the next', async () => {
    const first = new Run('--port', '0')
    await put(await first.running(), '1', 5)
    first.signal()
    expect(await first.code).toBe(0)
    const second = new Run('--port', '0')
    const { out } = await done('inspect', 'rows', 'ToDo:1', '--endpoint', await second.running())
    expect(out).toContain('{priority: 5}')
    second.signal()
    expect(await second.code).toBe(0)
  })

  test('a port in use is one clear line and exit code 2', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as { port: number }
    const { code, out, err } = await done('--port', String(port), '--data-dir', 'data')
    other.close()
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(
      `sixtables: 127.0.0.1:${port} is in use by another program; stop it, or choose another --port (0: a free one)`,
    )
    expect(readdirSync(folder), 'no folder is left behind').toEqual([])
  })

  test('a port in use by another server of ours names its process', async () => {
    withoutTimeouts()
    const run = new Run('--port', '0', '--testing')
    const address = await run.running()
    const { code, err } = await done('--port', address.replace(/.*:/, ''), '--testing')
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(`${address} is in use by a sixtables server, process ${process.pid}; stop it, or`),
    })
    run.signal()
    await run.code
  })

  test('an address that this machine does not have is exit code 2', async () => {
    const { code, err } = await done('--testing', '--port', '0', '--host', '192.0.2.1')
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('this machine has no address 192.0.2.1') })
    expect(await done('--testing', '--host-port', '192.0.2.1:0')).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^.* no address 192\.0\.2\.1 \(EADDRNOTAVAIL\);.* --host-port 127\.0\.0\.1:8081$/),
    })
  })

  test('a data folder that cannot be used is one clear line and exit code 2', async () => {
    writeFileSync(join(folder, 'letter.txt'), 'not a store')
    const foreign = await done('--port', '0', '--data-dir', folder)
    expect(foreign).toEqual({ code: 2, out: '', err: expect.stringContaining(`data folder ${folder} cannot be used`) })
    const file = await done('--port', '0', '--data-dir', join(folder, 'letter.txt'))
    expect(file).toEqual({ code: 2, out: '', err: expect.stringContaining('it is not a folder') })
  })

  test('a data folder in use is refused by a second server; other commands ask the first', async () => {
    withoutTimeouts()
    const run = new Run('--port', '0')
    const address = await run.running()
    await put(address, '1', 5)
    const second = await done('--port', '0')
    const who = `another process has it open (a sixtables server, process ${process.pid}, on ${address}). `
    expect(second).toEqual({ code: 2, out: '', err: expect.stringContaining(`${who}Stop that one, or choose another`) })
    expect(second.err).toContain('--data-dir')
    expect(second.err).not.toContain('--endpoint')
    const at = ['--data-dir', '.sixtables']
    expect((await done('check', ...at)).out).toContain('All agree.')
    expect((await done('inspect', 'rows', 'ToDo:1', ...at)).out).toContain('{priority: 5}')
    expect((await done('stats', ...at)).out).toContain('ToDo')
    expect((await done('top', '--json', ...at)).code).toBe(0)
    expect((await done('dump', ...at)).out).toContain('ToDo:1')
    expect((await done('reset', ...at)).code).toBe(0)
    expect((await done('gql', 'SELECT * FROM ToDo', ...at)).out).toBe('0 results.')
    const file = join(folder, '.sixtables', 'server.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:1'))
    expect((await done('check', ...at)).err).toMatch(
      /open \(a server has left its address 127.0.0.1:1 there, process \d+; /,
    )
    // An engine in another program has the folder, and no server's address leads there.
    rmSync(file)
    const check = await done('check', ...at)
    const said =
      /another process has it open \(no server has left its address there yet\)\..* leave --data-dir out, or give --endpoint/
    expect(check).toEqual({ code: 2, out: '', err: expect.stringMatching(said) })
    run.signal()
    await run.code
  })

  test('of two servers that start at one moment in one folder, the loser names the winner', async () => {
    withoutTimeouts()
    const runs = [new Run('--port', '0'), new Run('--port', '0')]
    const ends = await Promise.allSettled(runs.map((run) => run.running()))
    const [won, lost] = ['fulfilled', 'rejected'].map((status) => ends.find((end) => end.status === status))
    const address = won?.status === 'fulfilled' ? won.value : undefined
    expect(`${lost?.status === 'rejected' && lost.reason}`).toContain(
      `another process has it open (a sixtables server, process ${process.pid}, on ${address}). `,
    )
    for (const run of runs) run.signal()
    await Promise.all(runs.map((run) => run.code))
  })
})

test('top --once is right on its first call of a store on disk', async () => {
  const first = new Run('--port', '0')
  await put(await first.running(), '1', 5)
  first.signal()
  await first.code
  const second = new Run('--port', '0')
  const { out } = await done('top', '--once', '--endpoint', await second.running())
  expect(out).toMatch(/Entities +all rows .* 1 +\d+ B/)
  second.signal()
  await second.code
})

describe('the address that a server leaves in its folder', () => {
  const at = ['--data-dir', '.sixtables'] as const

  beforeEach(withoutTimeouts)

  test('env, env-init and health find it, with the project of the server', async () => {
    const run = new Run('--port', '0', '--project', 'p1')
    const address = await run.running()
    for (const name of ['env', 'env-init']) {
      const { code, out } = await done(name, ...at)
      expect({ code, lines: out.split('\n') }).toEqual({
        code: 0,
        lines: expect.arrayContaining([
          `export DATASTORE_EMULATOR_HOST=${address}`,
          'export DATASTORE_PROJECT_ID=p1',
          'export METADATA_SERVER_DETECTION=none',
        ]),
      })
    }
    expect((await done('env', ...at, '--project', 'p2')).out).toContain('DATASTORE_PROJECT_ID=p2')
    expect(await done('health', ...at)).toEqual({ code: 0, out: `The server on ${address} answers.`, err: '' })
    expect((await done('health', '--host-port', address)).code).toBe(0)
    expect((await done('env', '--host-port', 'localhost:9331')).out).toContain('EMULATOR_HOST=localhost:9331')
    run.signal()
    await run.code
    const none = `no server has left its address in ${join(folder, '.sixtables')}: none keeps its data there now`
    expect(await done('env', ...at)).toEqual({ code: 2, out: '', err: expect.stringContaining(none) })
    expect(await done('health', ...at)).toEqual({ code: 1, out: '', err: expect.stringContaining(none) })
    expect((await done('env-unset', ...at)).out).toContain('unset DATASTORE_EMULATOR_HOST')
  })

  test('a server that was killed is said to be gone; commands that can open the folder do', async () => {
    const run = new Run('--port', '0')
    const killed = await run.running()
    await put(killed, '1', 5)
    const left = readFileSync(join(folder, '.sixtables', 'server.json'), 'utf8')
    run.signal()
    await run.code
    // Its own port may have another server by now; nothing listens on this one.
    writeFileSync(join(folder, '.sixtables', 'server.json'), left.replace(killed, '127.0.0.1:2'))
    const gone =
      /^sixtables: the server that left its address 127\.0\.0\.1:\d+ in .* is gone \(process \d+, started .*connection refused\); start one with sixtables start --data-dir /
    expect(await done('env-init', ...at)).toEqual({ code: 2, out: '', err: expect.stringMatching(gone) })
    expect((await done('health', ...at)).code).toBe(1)
    expect((await done('inspect', 'rows', 'ToDo:1', ...at)).out).toContain('{priority: 5}')
    const next = new Run('--port', '0')
    const address = await next.running()
    expect((await done('env', ...at)).out).toContain(address)
    next.signal()
    await next.code
  })

  test.each([
    [['env', ...at, '--endpoint', 'a:1'], '--data-dir names a folder and --endpoint a server; give one of them'],
    [['health', ...at, '--host-port', 'a:1'], '--data-dir names a folder and --host-port a server; give one of them'],
    [['env', '--endpoint', 'a:1', '--host-port', 'a:1'], '--endpoint and --host-port are the same; give one of them'],
  ])('%j is refused', async (args, why) => {
    expect(await done(...args)).toEqual({ code: 2, out: '', err: `sixtables: ${why}` })
  })
})

describe('sixtables inspect and check', () => {
  test('show held writes of a running server, release them step by step, and find all in order', async () => {
    const server = new Run('--testing', '--port', '0', '--apply', 'manual')
    const at = ['--endpoint', await server.running()]
    await put(at[1] ?? '', '1', 4)

    const pending = await done('inspect', 'pending', ...at)
    expect(pending.out).toMatch(/^1 record to be applied:\n {2}ToDo:1 +\d+ +committed +put ToDo:1 \{priority: 4\}$/)
    const held = await done('inspect', 'rows', 'ToDo:1', ...at)
    expect(held.out).toMatch(/^ {2}Entities\(.*\{priority: 4\} \(to be written\)$/m)

    const a = await done('inspect', 'release', 'ToDo:1', '--milestone', 'A', ...at)
    expect(a.out).toBe('Applied 1 record of the group ToDo:1 up to milestone A: the entity row.')
    expect((await done('inspect', 'log', 'ToDo:1', ...at)).out).toContain('at milestone A')
    const half = await done('inspect', 'rows', 'ToDo:1', ...at)
    expect(half.out).toMatch(/^ {2}Entities\(.*\{priority: 4\}$/m)
    expect(half.out).toMatch(/^ {2}EntitiesByPropertyAsc\(.*\(to be written\)$/m)

    const b = await done('inspect', 'release', 'ToDo:1', ...at)
    expect(b.out).toBe('Applied 1 record of the group ToDo:1 up to milestone B: entity and index rows.')
    expect((await done('inspect', 'pending', ...at)).out).toBe('Nothing waits: every commit is wholly applied.')
    expect((await done('inspect', 'release', 'ToDo:1', ...at)).out).toBe('Nothing was held back in the group ToDo:1.')

    const applied = await done('inspect', 'applied', ...at)
    expect(applied.out).toMatch(
      /^2 steps of applying, the latest last:\n.* reached A {2}release\n.* reached B {2}release$/,
    )
    await put(at[1] ?? '', '1', 5)
    expect((await done('inspect', 'release', ...at)).out).toBe('Applied 1 record: all that was held back.')
    expect((await done('inspect', 'release', ...at)).out).toBe('Nothing was held back.')

    const check = await done('check', ...at)
    expect(check).toEqual({
      code: 0,
      out: 'Looked at 1 entity, 3 index rows and 2 log records.\nAll agree.',
      err: '',
    })
    server.signal()
    await server.code
  })

  test('open a closed folder, with --json too', async () => {
    const server = new Run('--port', '0')
    await put(await server.running(), '7', 1)
    server.signal()
    await server.code
    const rows = await done('inspect', 'rows', 'ToDo:7', '--data-dir', '.sixtables', '--json')
    const report = JSON.parse(rows.out)
    expect(report.key).toBe('ToDo:7')
    expect(report.rows.map((row: { table: string }) => row.table)).toContain('EntitiesByKind')
    expect((await done('inspect', 'rows', 'ToDo:8', '--data-dir', '.sixtables')).out).toBe(
      'ToDo:8 in project demo has no rows.',
    )
    expect(JSON.parse((await done('check', '--data-dir', '.sixtables', '--json')).out).problemCount).toBe(0)
  })

  test('the log has a line for each mutation', async () => {
    const server = new Run('--testing', '--port', '0')
    const address = await server.running()
    const mutations = [1, 2].map((n) => ({
      upsert: {
        key: {
          path: [
            { kind: 'User', name: 'ada' },
            { kind: 'ToDo', id: `${n}` },
          ],
        },
        properties: { n: { integerValue: `${n}` } },
      },
    }))
    await fetch(`http://${address}/v1/projects/demo:commit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations }),
    })
    const { out } = await done('inspect', 'log', 'User:ada/ToDo:1', '--endpoint', address)
    expect(out.split('\n').map((line) => line.replace(/^ +\d+ +\S+Z/, '…'))).toEqual([
      'Log of the group User:"ada" in project demo: 1 record',
      '…  applied  put User:"ada"/ToDo:1 {n: 1}',
      expect.stringMatching(/^ +put User:"ada"\/ToDo:2 \{n: 2\}$/),
    ])
    server.signal()
    await server.code
  })

  test('a folder without a store is refused and left as it is', async () => {
    expect(await done('check', '--data-dir', 'none')).toEqual({
      code: 2,
      out: '',
      err: `sixtables: there is no folder ${join(folder, 'none')}`,
    })
    expect((await done('check', '--data-dir', '.')).err).toBe(`sixtables: there is no store in ${folder}`)
  })
})

describe('the built command', () => {
  test('says what to do when it is not built', () => {
    const binary = new URL('../../bin/sixtables.js', import.meta.url)
    // A copy in an empty folder finds no build beside it.
    const copy = join(folder, 'bin.mjs')
    const { stdout } = spawnSync('cp', [binary.pathname, copy])
    expect(String(stdout)).toBe('')
    const { status, stderr } = spawnSync(process.execPath, [copy, '--help'], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('npm run setup') })
  })
})
