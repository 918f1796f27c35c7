/** Tablets, heat and findings as programs ask for them over HTTP, and as `sixtables top` draws them. */
import { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Datastore } from '@google-cloud/datastore'
import type { Finding, HeatRecordingReport, HeatReport, TabletsReport } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Overview } from '../../src/cli/commands/top/frame.ts'
import type { Display, Keyboard } from '../../src/cli/commands/top/screen.ts'
import { top } from '../../src/cli/commands/top/top.ts'
import type { Io } from '../../src/cli/framework/command.ts'
import { eventData } from '../../src/cli/target/ask.ts'
import { openServer, type Started, sixtables, startCommand } from '../support/cli.ts'
import { until } from '../support/gateway.ts'

type LiveHeat = HeatRecordingReport & { readonly findings?: readonly Finding[] }

function writesOf(reports: readonly HeatRecordingReport[]): number {
  const cells = reports.flatMap(({ columns }) => columns.filter(({ table }) => table === 'EntitiesByKind'))
  return cells.flatMap((column) => column.cells).reduce((sum, cell) => sum + cell[3], 0)
}

/** Time moves by waits and on demand alone: the load of the last seconds does not go by on a machine that is slow. */
const standing = ['--testing', '--clock', '2030-01-01T00:00:00Z']

let server: Started

beforeAll(async () => {
  server = await startCommand(standing)
  // Without this the client asks the network where it is running.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  process.env['DATASTORE_EMULATOR_HOST'] = server.address
  const datastore = new Datastore({ projectId: 'p' })
  for (let from = 0; from < 300; from += 100) {
    const keys = Array.from({ length: 100 }, (_, i) => datastore.key(['Order', from + i + 1]))
    await datastore.save(keys.map((key, i) => ({ key, data: { total: i } })))
  }
})

afterAll(() => server.stop())

async function get<T>(path: string): Promise<{ readonly status: number; readonly body: T }> {
  const response = await fetch(`http://${server.address}${path}`)
  return { status: response.status, body: (await response.json()) as T }
}

describe('over HTTP', () => {
  test('tablets say where rows are and how hot', async () => {
    const { body } = await get<TabletsReport>('/emulator/tablets')
    const tables = Object.fromEntries(body.tables.map((table) => [table.table, table]))
    expect(body.simulated).toBe(false)
    expect(tables['EntitiesByPropertyAsc']?.writesPerSecond).toBeGreaterThan(0)
    for (const { table } of body.tablets) expect(tables[table]).toBeDefined()
  })

  test('heat comes for one table when one is named, with a value for each column', async () => {
    const { body } = await get<HeatReport>('/emulator/heat?table=EntitiesByPropertyAsc&span=60000&rows=4')
    expect(body.rows.length).toBeGreaterThan(0)
    for (const row of body.rows) {
      expect(row.table).toBe('EntitiesByPropertyAsc')
      expect(row.writes).toHaveLength(body.columns.length)
    }
  })

  test('findings come with their remedy', async () => {
    const { body } = await get<{ findings: readonly Finding[] }>('/emulator/findings')
    expect(body.findings.map(({ kind }) => kind)).toContain('sequential-keys')
  })

  test('events can be asked for from a number on, and a compaction on demand is one', async () => {
    const asked = await fetch(`http://${server.address}/emulator/tablets/compact?table=Entities`, { method: 'POST' })
    expect(asked.status).toBe(200)
    const { body } = await get<{ events: readonly { sequence: number; kind: string; reason: string }[] }>(
      '/emulator/tablets/events',
    )
    const last = body.events.at(-1)
    expect(last).toMatchObject({ kind: 'compaction', reason: 'asked' })
    const { body: later } = await get<{ events: unknown[] }>(`/emulator/tablets/events?after=${last?.sequence}`)
    expect(later.events).toEqual([])
  })

  test('the live stream sends all of it, again and again', async () => {
    const stop = new AbortController()
    const url = `http://${server.address}/emulator/watch?interval=100&span=60000`
    const response = await fetch(url, { signal: stop.signal })
    const seen: Overview[] = []
    for await (const data of eventData(response.body as unknown as AsyncIterable<Uint8Array>)) {
      seen.push(JSON.parse(data))
      // A timer that rings a little early finds the event of the same tick.
      if (seen.at(-1)?.report.atMs !== seen[0]?.report.atMs) break
      if (seen.length > 1) continue
      await fetch(`http://${server.address}/emulator/clock`, { method: 'POST', body: '{"advanceMs": 100}' })
    }
    stop.abort()
    for (const one of seen) expect(Object.keys(one).sort()).toEqual(['findings', 'groups', 'heat', 'report'])
    expect(seen.at(-1)?.report.atMs).toBeGreaterThan(seen[0]?.report.atMs ?? 0)
  })

  test('heat by the second comes whole at first, then what is new; a recording has the same in one answer', async () => {
    const stop = new AbortController()
    const response = await fetch(`http://${server.address}/emulator/heat/live?interval=100`, { signal: stop.signal })
    const datastore = new Datastore({ projectId: 'p' })
    const seen: LiveHeat[] = []
    for await (const data of eventData(response.body as unknown as AsyncIterable<Uint8Array>)) {
      const event = JSON.parse(data) as LiveHeat
      seen.push(event)
      if (event.isWhole) {
        const keys = Array.from({ length: 400 }, (_, i) => datastore.key(['Line', i + 1]))
        await datastore.save(keys.map((key) => ({ key, data: {} })))
      }
      if (writesOf(seen.slice(1)) >= 400 || seen.length > 100) break
    }
    stop.abort()
    expect(seen.map(({ isWhole, findings }) => isWhole && findings !== undefined)).toEqual(seen.map((_, i) => i === 0))
    const place = seen[0]?.findings?.find(({ kind }) => kind === 'sequential-keys')?.place
    expect(place).toMatchObject({ table: 'Entities', startHex: expect.stringMatching(/^45.*4f72646572/) })
    const { body } = await get<LiveHeat>('/emulator/heat/recording')
    expect(writesOf(seen.slice(1))).toBeGreaterThanOrEqual(400)
    expect(writesOf([body])).toBe(writesOf(seen))
  })

  test.each([
    ['/emulator/heat?tabel=Entities', 'there is no parameter "tabel" here; there is table, span, rows'],
    ['/emulator/heat?table=Nothing', 'there is no table "Nothing"'],
    ['/emulator/heat?span=-5', 'span is a whole number of at least 1, not "-5"'],
    ['/emulator/watch?interval=1', 'interval is a whole number of at least 100, not "1"'],
    ['/emulator/groups?limit=x', 'limit is a whole number of at least 1, not "x"'],
  ])('%s is refused', async (path, message) => {
    const { status, body } = await get<{ error: { message: string } }>(path)
    expect(status).toBe(400)
    expect(body.error.message).toContain(message)
  })
})

describe('sixtables top', () => {
  test('prints one picture as text where the output is no terminal', async () => {
    const { code, out } = await sixtables(['top', '--endpoint', server.address, '--once'])
    expect(code).toBe(0)
    expect(out).toContain(`sixtables top  ${server.address}`)
    expect(out).toContain('EntitiesByPropertyAsc')
    expect(out).toContain('Hottest tablets')
    expect(out).toContain('New entities of Order come in the order of their keys')
    expect(out).not.toContain('\u001b')
  })

  test('gives the same as data', async () => {
    const { code, out } = await sixtables(['top', '--endpoint', server.address, '--json', '--table', 'entities'])
    const overview = JSON.parse(out) as Overview
    expect(code).toBe(0)
    expect(overview.heat.rows.every(({ table }) => table === 'Entities')).toBe(true)
  })

  test.each([
    [
      ['--endpoint', '127.0.0.1:2'],
      'no server answers on 127.0.0.1:2 (connection refused); start one with sixtables start',
    ],
    [['--table', 'Things'], 'there is no table "Things"; there is Entities,'],
    [['--interval', '0'], '--interval is a number above 0; got "0"'],
    [['--span', 'long'], '--span is a number above 0; got "long"'],
  ])('says what is wrong with %j', async (flags, message) => {
    const { code, err } = await sixtables(['top', ...flags])
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

/** A terminal of 120 × 40 that keeps what is written to it. */
class FakeTerminal {
  written = ''
  rawMode: boolean | undefined
  readonly keys = new EventEmitter()
  readonly display: Display & { isTTY: boolean; columns: number; rows: number }
  readonly keyboard: Keyboard & { isTTY: boolean }

  constructor() {
    const output = new PassThrough()
    output.on('data', (chunk) => {
      this.written += String(chunk)
    })
    this.display = Object.assign(output, { isTTY: true, columns: 120, rows: 40 })
    this.keyboard = {
      isTTY: true,
      setRawMode: (raw) => {
        this.rawMode = raw
      },
      on: (event, listener) => this.keys.on(event, listener),
      off: (event, listener) => this.keys.off(event, listener),
      resume: () => {},
      pause: () => {},
    }
  }

  press(key: string): void {
    this.keys.emit('data', Buffer.from(key))
  }
}

function silentIo(env: Record<string, string> = {}): Io {
  return {
    env,
    cwd: '/',
    out() {},
    err() {},
    readIn: async () => '',
    onSignal: () => () => {},
    onFault: () => () => {},
    now: () => 0,
    exit() {},
  }
}

describe('sixtables top in a terminal', () => {
  const flags = (): object => ({ endpoint: server.address, interval: '0.1' })

  test('takes another screen, and gives the terminal back as it was', async () => {
    const terminal = new FakeTerminal()
    const over = top({ ...flags() }, silentIo(), terminal)
    await until(() => terminal.written.includes('Hottest tablets'))
    expect(terminal.rawMode).toBe(true)
    expect(terminal.written.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true)
    terminal.press('q')
    expect(await over).toBe(0)
    expect(terminal.rawMode).toBe(false)
    expect(terminal.written.endsWith('\u001b[0m\u001b[?25h\u001b[?1049l')).toBe(true)
    expect(terminal.keys.listenerCount('data')).toBe(0)
  })

  test('keys change table and span, and a new size draws anew', async () => {
    const terminal = new FakeTerminal()
    const over = top({ ...flags() }, silentIo(), terminal)
    await until(() => terminal.written.includes('Hottest tablets'))
    terminal.press('\t')
    await until(() => terminal.written.includes('only Entities'))
    terminal.press('-')
    await until(() => terminal.written.includes('Heat by key range, 2 min'))
    terminal.press('p')
    await until(() => terminal.written.includes('PAUSED'))
    terminal.display.columns = 50
    terminal.display.emit('resize')
    await until(() => terminal.written.includes('sixtables top needs 60 × 12 characters'))
    terminal.press('\u0003')
    expect(await over).toBe(0)
  })

  test('without colours heat is drawn in shades', async () => {
    const terminal = new FakeTerminal()
    const over = top({ ...flags() }, silentIo({ NO_COLOR: '1' }), terminal)
    await until(() => terminal.written.includes('Hottest tablets'))
    terminal.press('q')
    await over
    expect(terminal.written).toMatch(/[░▒▓█]/)
    expect(terminal.written).not.toContain('\u001b[48;5;')
  })

  test('gives the terminal back also when the server goes away, and says so', async () => {
    const other = await openServer()
    const terminal = new FakeTerminal()
    const over = top({ endpoint: other.address, interval: '0.1' }, silentIo(), terminal)
    await until(() => terminal.written.includes('requests/s'))
    const ended = expect(over).rejects.toThrow(`the server on ${other.address}`)
    await other.close()
    await ended
    expect(terminal.written.endsWith('\u001b[?1049l')).toBe(true)
  })
})

test('twenty entities on disk are counted exactly at the first look, also after a restart, and looks are no load', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tablets-'))
  const load = ({ tables, requests }: TabletsReport) => {
    const loads = tables.map((one) => [one.table, [one.rows, one.readsPerSecond, one.writesPerSecond]] as const)
    return { requests: requests.perSecond, ...Object.fromEntries(loads) }
  }
  const report = async (address: string): Promise<TabletsReport> =>
    (await (await fetch(`http://${address}/emulator/tablets?counted=true`)).json()) as TabletsReport
  const heat = async (address: string) => {
    const { rows, stepMs } = (await (await fetch(`http://${address}/emulator/heat?span=60000`)).json()) as HeatReport
    expect(stepMs).toBe(1_000)
    // Whole seconds alone: the running one is still being filled. A table may be divided into several ranges.
    const totals: Record<string, [number, number]> = {}
    for (const { table, reads, writes } of rows) {
      const [read, written] = totals[table] ?? [0, 0]
      totals[table] = [read + sum(reads.slice(0, -1)), written + sum(writes.slice(0, -1))]
    }
    return totals
  }
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const put = async (address: string): Promise<void> => {
    const keys = Array.from({ length: 20 }, (_, i) => ({ path: [{ kind: 'Order', name: `o${i}` }] }))
    for (const key of keys) {
      const body = { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key, properties: {} } }] }
      const answer = await fetch(`http://${address}/v1/projects/p:commit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(200)
    }
  }
  try {
    const onDisk = ['--data-dir', folder, '--clock']
    let server = await startCommand([...onDisk, '2030-01-01T00:00:00Z'])
    await put(server.address)
    const { requests, tables } = await report(server.address)
    expect(requests.perSecond).toBeGreaterThan(0)
    const entities = tables.find(({ table }) => table === 'Entities')
    // A lookup came with each put.
    expect(entities).toMatchObject({ rows: 20, readsPerSecond: entities?.writesPerSecond })
    await sixtables(['top', '--endpoint', server.address, '--once'])
    // The second of the puts must be over.
    await fetch(`http://${server.address}/emulator/clock`, { method: 'POST', body: '{"advanceMs": 1000}' })
    expect(await heat(server.address)).toMatchObject({ Entities: [20, 20], EntitiesByKind: [0, 20], Log: [0, 20] })
    await server.stop()

    server = await startCommand([...onDisk, '2030-01-01T00:01:00Z'])
    for (let look = 0; look < 2; look++) {
      const again = load(await report(server.address))
      expect(again).toMatchObject({ requests: 0, Entities: [20, 0, 0], EntitiesByKind: [20, 0, 0], Log: [20, 0, 0] })
    }
    expect(await heat(server.address)).toEqual({})
    await server.stop()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
