/** What a server's calls look like in a recording: over HTTP, by `sixtables record`, and by `sixtables start --record`. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { record } from '../../src/cli/commands/record.ts'
import type { Io } from '../../src/cli/framework/command.ts'
import { eventData } from '../../src/cli/target/ask.ts'
import { openServer, type Started, sixtables, startCommand } from '../support/cli.ts'
import { until } from '../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'sixtables-recording-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function server(...flags: readonly string[]): Promise<Started> {
  const started = await startCommand(['--testing', ...flags])
  closing.push(() => started.stop())
  return started
}

function post({ address }: Started, verb: string, body: unknown): Promise<Record<string, unknown>> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(`http://${address}/v1/projects/demo:${verb}`, request).then(
    (response) => response.json() as Promise<Record<string, unknown>>,
  )
}

const secret = 'a-secret-of-mine'
const user = { partitionId: { namespaceId: 'n' }, path: [{ kind: 'User', name: 'ada' }] }
const order = {
  key: { path: [{ kind: 'Order' }] },
  properties: {
    owner: { stringValue: secret },
    tags: { arrayValue: { values: [{ stringValue: secret }, { stringValue: 'b' }] } },
    total: { integerValue: '5' },
    note: { stringValue: secret, excludeFromIndexes: true },
  },
}
const query = {
  kind: [{ name: 'Order' }],
  filter: {
    compositeFilter: {
      op: 'AND',
      filters: [
        { propertyFilter: { property: { name: 'owner' }, op: 'EQUAL', value: { stringValue: secret } } },
        {
          propertyFilter: {
            property: { name: '__key__' },
            op: 'HAS_ANCESTOR',
            value: { keyValue: { path: [{ kind: 'User', id: '7' }] } },
          },
        },
      ],
    },
  },
  order: [{ property: { name: 'total' }, direction: 'DESCENDING' }],
  limit: 3,
  offset: 1,
}

/** One call of each kind that counts; a transaction of three. */
async function calls(started: Started): Promise<void> {
  await post(started, 'commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ insert: order }, { delete: user }] })
  await post(started, 'runQuery', { query })
  const { transaction } = await post(started, 'beginTransaction', {})
  await post(started, 'lookup', { keys: [user], readOptions: { transaction } })
  await post(started, 'rollback', { transaction })
  await post(started, 'commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ update: { key: user, properties: {} } }] })
  await post(started, 'lookup', { keys: 'nonsense' })
}

const expected = [
  { format: 'sixtables-recording', version: 1, startedAt: expect.stringMatching(/^\d{4}-.*Z$/), values: false },
  {
    method: 'commit',
    project: 'demo',
    database: '',
    code: 'OK',
    ms: expect.any(Number),
    tookMs: expect.any(Number),
    mutations: [
      {
        operation: 'insert',
        key: expect.stringMatching(/^Order:\d+$/),
        bytes: expect.any(Number),
        indexed: { owner: secret.length, tags: [secret.length, 1], total: 8 },
      },
      { operation: 'delete', key: 'User:"ada"', namespace: 'n' },
    ],
  },
  {
    method: 'runQuery',
    query: {
      kind: 'Order',
      filter: {
        and: [
          { property: 'owner', operator: 'equal', bytes: secret.length },
          { property: '__key__', operator: 'hasAncestor', key: 'User:7' },
        ],
      },
      order: ['-total'],
      limit: 3,
      offset: 1,
    },
  },
  { method: 'beginTransaction', code: 'OK', transaction: 1 },
  { method: 'lookup', transaction: 1, keys: [{ key: 'User:"ada"', namespace: 'n' }] },
  { method: 'rollback', transaction: 1 },
  { method: 'commit', code: 'NOT_FOUND' },
  { method: 'lookup', code: 'INVALID_ARGUMENT' },
]

function linesOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Whether all calls are in the file; the last of its lines may be there by half. */
function isWritten(path: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8').split('\n').length > expected.length
}

describe('sixtables start --record', () => {
  test('writes every call from the first on, and no values, and tells their number at the end', async () => {
    const path = join(folder, 'start.jsonl')
    const started = await startCommand(['--testing', '--record', path])
    await calls(started)
    expect(await started.stop()).toBe(0)
    expect(linesOf(path)).toMatchObject(expected)
    expect(readFileSync(path, 'utf8')).not.toContain(secret)
    expect(readFileSync(path, 'utf8')).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12))
    expect(started.said()).toContain(`7 calls recorded in ${path}`)
    const times = linesOf(path).flatMap(({ ms }) => (ms === undefined ? [] : [Number(ms)]))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('refuses a file that is there, and leaves it as it is', async () => {
    const path = join(folder, 'there.jsonl')
    writeFileSync(path, 'mine')
    await expect(startCommand(['--testing', '--record', path])).rejects.toThrow(
      `${path} is there already; delete it, or name another file for --record`,
    )
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })
})

/** `sixtables record`, and what ends it as Ctrl-C does. */
function recording(flags: readonly string[]): { readonly done: Promise<number>; said(): string; interrupt(): void } {
  const signals: ((name: NodeJS.Signals) => void)[] = []
  let said = ''
  const hear = (line: string): void => {
    said += `${line}\n`
  }
  const io = {
    env: {},
    cwd: folder,
    out: hear,
    err: hear,
    onSignal: (stop: (name: NodeJS.Signals) => void) => {
      signals.push(stop)
      return () => {}
    },
  } as unknown as Io
  const values = Object.fromEntries(flags.map((word) => word.split('=')).map(([name, value]) => [name, value ?? true]))
  const done = record(values, io)
  return {
    done,
    said: () => said,
    interrupt: () => {
      for (const signal of signals) signal('SIGINT')
    },
  }
}

describe('sixtables record', () => {
  test('writes the calls of a running server until Ctrl-C', async () => {
    const started = await server()
    const path = join(folder, 'remote.jsonl')
    const run = recording([`endpoint=${started.address}`, 'file=remote.jsonl'])
    await until(() => run.said().includes('Ctrl-C ends it'))
    await calls(started)
    await until(() => isWritten(path))
    run.interrupt()
    expect(await run.done).toBe(0)
    expect(run.said()).toContain(`7 calls recorded in ${path}`)
    expect(linesOf(path)).toMatchObject(expected)
    expect(readFileSync(path, 'utf8')).not.toContain(secret)
  })

  test('has entities and the values of filters with --values, and ends with its server', async () => {
    const started = await startCommand(['--testing'])
    const path = join(folder, 'values.jsonl')
    const run = recording([`endpoint=${started.address}`, 'file=values.jsonl', 'values'])
    await until(() => run.said().includes('Ctrl-C ends it'))
    await calls(started)
    await until(() => isWritten(path))
    await started.stop()
    expect(await run.done).toBe(0)
    const [header, commit, asked] = linesOf(path) as [
      { values: boolean },
      { mutations: { entity: string }[] },
      { query: { filter: { and: { value: string }[] } } },
    ]
    expect(header.values).toBe(true)
    expect(Buffer.from(commit.mutations[0]?.entity ?? '', 'base64').toString('latin1')).toContain(secret)
    expect(Buffer.from(asked.query.filter.and[0]?.value ?? '', 'base64').toString('latin1')).toContain(secret)
  })

  test('refuses a file that is there without --force, and a server that is none', async () => {
    const started = await server()
    writeFileSync(join(folder, 'mine.jsonl'), 'mine')
    const asked = ['record', 'mine.jsonl', '--endpoint', started.address, '--seconds', '0']
    const refused = await sixtables(asked, { cwd: folder })
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('give --force to replace it') })
    expect(readFileSync(join(folder, 'mine.jsonl'), 'utf8')).toBe('mine')
    const old = await openServer()
    closing.push(() => old.close())
    const none = await sixtables(['record', 'none.jsonl', '--endpoint', old.address], { cwd: folder })
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('another version of sixtables') })
    expect(existsSync(join(folder, 'none.jsonl'))).toBe(false)
  })
})

describe('GET /emulator/calls', () => {
  test('sends the header at once, and each call as an event', async () => {
    const started = await server()
    const stop = new AbortController()
    const response = await fetch(`http://${started.address}/emulator/calls`, { signal: stop.signal })
    const seen: { method?: string }[] = []
    for await (const data of eventData(response.body as unknown as AsyncIterable<Uint8Array>)) {
      seen.push(JSON.parse(data))
      if (seen.length === 1) void post(started, 'lookup', { keys: [user] })
      else break
    }
    stop.abort()
    expect(seen).toMatchObject([expected[0], { method: 'lookup' }])
  })

  test.each([
    ['?value=true', 'there is no parameter "value" here; there is values'],
    ['?values=yes', 'values is true or false, not "yes"'],
  ])('refuses %s', async (query, message) => {
    const started = await server()
    const response = await fetch(`http://${started.address}/emulator/calls${query}`)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(message.replaceAll('"', '\\"'))
  })

  test('answers no page of another site', async () => {
    const started = await server()
    const headers = { origin: 'https://evil.example' }
    expect((await fetch(`http://${started.address}/emulator/calls`, { headers })).status).toBe(403)
  })
})
