/** Faults on demand and the clock, in process and over HTTP, as the public client meets them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { clientOf, testEmulator } from '../support/emulator.ts'

interface Answered {
  readonly status: number
  readonly json: unknown
}

async function ask(emulator: Emulator, method: string, path: string, body?: unknown): Promise<Answered> {
  const answer = await fetch(`http://${emulator.address}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, json: await answer.json() }
}

/** A call over HTTP, which no client library tries again. */
async function call(emulator: Emulator, method: string, request: unknown): Promise<Answered> {
  return await ask(emulator, 'POST', `/v1/projects/demo:${method}`, request)
}

const keyOf = (kind: string, id: number) => ({ path: [{ kind, id: `${id}` }] })
const put = (kind: string, id = 1) => ({
  mode: 'NON_TRANSACTIONAL',
  mutations: [{ upsert: { key: keyOf(kind, id), properties: { n: { integerValue: '1' } } } }],
})
const look = (kind: string, id = 1) => ({ keys: [keyOf(kind, id)] })
const error = (code: number, status: string, message: unknown = expect.any(String)) => ({
  error: expect.objectContaining({ code, status, message }),
})

describe('a fault', () => {
  test('fails one commit before anything is written, with the code and message chosen', async () => {
    const emulator = await testEmulator()
    emulator.faults.next({ method: 'commit', code: 'RESOURCE_EXHAUSTED', message: 'quota of the test' })
    expect(await call(emulator, 'commit', put('A'))).toEqual({
      status: 429,
      json: error(429, 'RESOURCE_EXHAUSTED', 'quota of the test'),
    })
    expect((await call(emulator, 'lookup', look('A'))).json).not.toHaveProperty('found')
    expect(await call(emulator, 'commit', put('A'))).toMatchObject({ status: 200 })
    expect(emulator.faults.list()).toEqual([])
  })

  test('aborts a transaction, whose locks are gone, and the client succeeds when it tries again', async () => {
    const emulator = await testEmulator()
    const datastore = clientOf(emulator)
    const key = datastore.key(['Counter', 1])
    emulator.faults.abortNextCommit()
    let tries = 0
    const increment = async (): Promise<void> => {
      tries++
      const transaction = datastore.transaction()
      await transaction.run()
      const [counter] = await transaction.get(key)
      transaction.save({ key, data: { n: ((counter?.n as number) ?? 0) + 1 } })
      await transaction.commit()
    }
    await expect(increment()).rejects.toMatchObject({ code: 10 })
    await increment()
    expect((await datastore.get(key))[0]).toMatchObject({ n: 1 })
    expect(tries).toBe(2)
  })

  test.each([
    ['a method', { method: 'lookup' }, ['lookup A', 'lookup B']],
    ['several methods', { method: ['lookup', 'runQuery'] }, ['lookup A', 'lookup B', 'query A']],
    ['a kind', { kind: 'A' }, ['commit A', 'lookup A', 'query A', 'allocate A']],
    ['a key', { key: 'A:1' }, ['commit A', 'lookup A']],
    ['a kind in a method', { kind: 'B', method: 'commit' }, ['commit B']],
    ['another project', { project: 'other' }, []],
    ['this project', { project: 'demo', method: 'commit' }, ['commit A', 'commit B']],
    ['another database', { database: 'other' }, []],
    ['the default database', { database: '(default)', kind: 'B' }, ['commit B', 'lookup B']],
    ['another namespace', { namespace: 'n' }, []],
    ['this namespace', { namespace: '', method: 'lookup' }, ['lookup A', 'lookup B']],
    ['anything', {}, ['commit A', 'commit B', 'lookup A', 'lookup B', 'query A', 'allocate A', 'begin']],
  ] as const)('for %s meets those calls alone', async (_what, which, expected) => {
    const emulator = await testEmulator()
    emulator.faults.add({ ...which, code: 'UNAVAILABLE' })
    const calls: readonly (readonly [string, string, unknown])[] = [
      ['commit A', 'commit', put('A')],
      ['commit B', 'commit', put('B')],
      ['lookup A', 'lookup', look('A')],
      ['lookup B', 'lookup', look('B')],
      ['query A', 'runQuery', { query: { kind: [{ name: 'A' }] } }],
      ['allocate A', 'allocateIds', { keys: [{ path: [{ kind: 'A' }] }] }],
      ['begin', 'beginTransaction', {}],
    ]
    const failed = []
    for (const [name, method, request] of calls) {
      const { status } = await call(emulator, method, request)
      if (status !== 200) failed.push(name)
    }
    expect(failed).toEqual(expected)
  })

  test('for a share of the calls meets the same ones in every run, and about that many', async () => {
    const runs = []
    for (let run = 0; run < 2; run++) {
      const emulator = await testEmulator()
      emulator.faults.add({ method: 'lookup', share: 0.3, seed: 7, code: 'UNAVAILABLE' })
      const met: number[] = []
      for (let i = 0; i < 100; i++) if ((await call(emulator, 'lookup', look('A'))).status === 503) met.push(i)
      runs.push(met)
    }
    expect(runs[0]).toEqual(runs[1])
    expect(runs[0]?.length).toBeGreaterThan(15)
    expect(runs[0]?.length).toBeLessThan(45)
  })

  test('skips calls first, and is over after its times', async () => {
    const emulator = await testEmulator()
    const fault = emulator.faults.add({ method: 'lookup', skip: 2, times: 2, code: 'INTERNAL' })
    const statuses = []
    for (let i = 0; i < 6; i++) statuses.push((await call(emulator, 'lookup', look('A'))).status)
    expect(statuses).toEqual([200, 200, 500, 500, 200, 200])
    expect(fault.hits).toBe(2)
  })

  test('delays a call on the clock of the emulator', async () => {
    const emulator = await testEmulator()
    emulator.faults.add({ method: 'lookup', latencyMs: 3_600_000 })
    let answered = false
    const looked = call(emulator, 'lookup', look('A')).then((answer) => {
      answered = true
      return answer
    })
    // Another call comes and goes; the delayed one waits for time alone.
    await call(emulator, 'commit', put('A'))
    while (emulator.faults.list()[0]?.hits !== 1) await new Promise((resolve) => setImmediate(resolve))
    expect(answered).toBe(false)
    await emulator.clock.advance(3_600_000)
    expect(await looked).toMatchObject({ status: 200, json: { found: [expect.anything()] } })
  })

  test('that delays past the deadline of a call is a deadline exceeded', async () => {
    const emulator = await testEmulator()
    emulator.faults.add({ method: 'lookup', latencyMs: 3_600_000 })
    Object.assign(process.env, emulator.env())
    const datastore = clientOf(emulator)
    const looked = datastore.get(datastore.key(['A', 1]), { gaxOptions: { timeout: 200, maxRetries: 0 } })
    await expect(looked).rejects.toMatchObject({ code: 4 })
  })

  test('of two, the delays add up and the first error is answered', async () => {
    const emulator = await testEmulator()
    const { faults } = emulator
    faults.add({ method: 'lookup', code: 'ABORTED', times: 1 })
    const later = faults.add({ method: 'lookup', code: 'UNAVAILABLE', times: 1 })
    expect(await call(emulator, 'lookup', look('A'))).toMatchObject({ status: 409 })
    expect(later.hits).toBe(0)
    expect(await call(emulator, 'lookup', look('A'))).toMatchObject({ status: 503 })
  })

  test('ends when it is removed or all are cleared', async () => {
    const emulator = await testEmulator()
    const fault = emulator.faults.add({ code: 'UNAVAILABLE' })
    await fault.remove()
    await fault.remove()
    emulator.faults.add({ code: 'UNAVAILABLE' })
    await emulator.faults.clear()
    expect(await call(emulator, 'lookup', look('A'))).toMatchObject({ status: 200 })
  })

  test.each([
    [{}, 'has no effect'],
    [{ code: 'NOPE' }, 'no code "NOPE"'],
    [{ code: 'ABORTED', method: 'put' }, 'no method "put"'],
    [{ code: 'ABORTED', share: 2 }, 'share is a number from 0 to 1'],
    [{ code: 'ABORTED', times: 0 }, 'times is a whole number from 1'],
    [{ latencyMs: -1 }, 'latencyMs is a number'],
    [{ latencyMs: 1, message: 'x' }, 'needs a code'],
    [{ code: 'ABORTED', kinds: 'A' }, 'no field "kinds"'],
    [{ code: 'ABORTED', kind: 5 }, 'kind is a text'],
    [{ code: 'ABORTED', key: 'A' }, 'A'],
    [{ holdApply: false }, 'holdApply is true'],
    [{ holdApply: true, code: 'ABORTED' }, 'not with code'],
    [{ holdApply: true, method: 'commit' }, 'not with method'],
  ])('%j is refused, in process and over HTTP', async (asked, message) => {
    const emulator = await testEmulator()
    expect(() => emulator.faults.add(asked as never)).toThrow(message)
    expect(await ask(emulator, 'POST', '/emulator/faults', asked)).toEqual({
      status: 400,
      json: error(400, 'INVALID_ARGUMENT', expect.stringContaining(message)),
    })
  })
})

describe('a fault that holds', () => {
  const found = async (emulator: Emulator, kind: string): Promise<number> => {
    const { json } = await call(emulator, 'runQuery', { query: { kind: [{ name: kind }] } })
    return (json as { batch: { entityResults?: unknown[] } }).batch.entityResults?.length ?? 0
  }

  test.each(['memory', 'disk'])(
    'keeps a kind from queries and not from lookups, until it ends, in %s',
    async (where) => {
      const dir = where === 'disk' ? mkdtempSync(join(tmpdir(), 'sixtables-faults-')) : undefined
      const emulator = await testEmulator({ dir })
      const fault = emulator.faults.holdApply({ kind: 'A' })
      for (const kind of ['A', 'B']) expect(await call(emulator, 'commit', put(kind))).toMatchObject({ status: 200 })
      expect([await found(emulator, 'A'), await found(emulator, 'B')]).toEqual([0, 1])
      expect(emulator.faults.list()).toMatchObject([{ kind: 'A', holdApply: true, hits: 1 }])
      await fault.remove()
      expect(await found(emulator, 'A')).toBe(1)
      await call(emulator, 'commit', put('A', 2))
      expect(await found(emulator, 'A')).toBe(2)
      emulator.faults.holdApply({ key: 'A:3' })
      await call(emulator, 'commit', put('A', 3))
      expect(await found(emulator, 'A')).toBe(2)
      await call(emulator, 'lookup', look('A', 3))
      expect(await found(emulator, 'A')).toBe(3)
      await emulator.close()
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
    },
  )

  test('is set and ended over HTTP', async () => {
    const emulator = await testEmulator()
    await ask(emulator, 'POST', '/emulator/faults', { holdApply: true, project: 'demo' })
    await call(emulator, 'commit', put('A'))
    expect(await found(emulator, 'A')).toBe(0)
    await ask(emulator, 'DELETE', '/emulator/faults')
    expect(await found(emulator, 'A')).toBe(1)
  })
})

describe('over HTTP', () => {
  test('faults are added, listed and ended', async () => {
    const emulator = await testEmulator()
    const added = await ask(emulator, 'POST', '/emulator/faults', { method: 'lookup', code: 'INTERNAL', times: 5 })
    expect(added).toEqual({
      status: 200,
      json: { id: 'fault-1', method: 'lookup', code: 'INTERNAL', times: 5, matched: 0, hits: 0 },
    })
    expect(await call(emulator, 'lookup', look('A'))).toMatchObject({ status: 500 })
    expect(await ask(emulator, 'GET', '/emulator/faults')).toMatchObject({
      json: { faults: [{ id: 'fault-1', matched: 1, hits: 1 }] },
    })
    expect(await ask(emulator, 'DELETE', '/emulator/faults/fault-1')).toEqual({ status: 200, json: { faults: [] } })
    expect(await ask(emulator, 'DELETE', '/emulator/faults/fault-1')).toMatchObject({ status: 404 })
    await ask(emulator, 'POST', '/emulator/faults', { latencyMs: 1 })
    expect(await ask(emulator, 'DELETE', '/emulator/faults')).toEqual({ status: 200, json: { faults: [] } })
    expect(emulator.faults.list()).toEqual([])
  })

  test('the clock is asked, moved on and set back', async () => {
    const emulator = await testEmulator()
    expect(await ask(emulator, 'GET', '/emulator/clock')).toMatchObject({ json: { offsetMs: 0 } })
    expect(await ask(emulator, 'POST', '/emulator/clock', { advanceMs: 5000 })).toMatchObject({
      json: { offsetMs: 5000 },
    })
    await ask(emulator, 'POST', '/emulator/clock', { to: '2099-01-01' })
    const to = '2100-01-01T00:00+00:00'
    const { json } = await ask(emulator, 'POST', '/emulator/clock', { to })
    expect(new Date((json as { now: string }).now).getTime()).toBeGreaterThanOrEqual(new Date(to).getTime())
    expect(await ask(emulator, 'DELETE', '/emulator/clock')).toMatchObject({ json: { offsetMs: 0 } })
  })

  test.each([
    [{}, 'give one of the two'],
    [{ advanceMs: -1 }, 'advanced by 0'],
    [{ advanceMs: '5' }, 'a number'],
    [{ to: 'soon' }, 'a time with its zone'],
    [{ to: '2030-2-30' }, '2030-01-01T00:00:00Z'],
    [{ to: 'Feb 30 2030' }, 'a time with its zone'],
    [{ to: '2030-02-30' }, 'a time with its zone'],
    [{ to: '2030-01-01T00:00:00' }, 'a time with its zone'],
    [{ to: 5 }, 'got 5'],
    [{ to: '9899-01-01' }, 'not moved to 9899-01-01T00:00:00.000Z in one step: a step is at most 1,000 years'],
    [{ to: '2001-01-01T00:00:00Z' }, 'only moved on'],
    [{ ms: 5 }, 'not "ms"'],
  ])('a clock is not moved by %j', async (asked, message) => {
    const emulator = await testEmulator()
    expect(await ask(emulator, 'POST', '/emulator/clock', asked)).toEqual({
      status: 400,
      json: error(400, 'INVALID_ARGUMENT', expect.stringContaining(message)),
    })
    expect(emulator.clock.offsetMs).toBe(0)
  })

  test('a page from elsewhere can neither add faults nor move the clock', async () => {
    const emulator = await testEmulator()
    for (const path of ['/emulator/faults', '/emulator/clock']) {
      const answer = await fetch(`http://${emulator.address}${path}`, {
        method: 'POST',
        headers: { origin: 'https://elsewhere.example' },
        body: '{"latencyMs": 1, "advanceMs": 1}',
      })
      expect(answer.status).toBe(403)
    }
    expect(emulator.faults.list()).toEqual([])
    expect(emulator.clock.offsetMs).toBe(0)
  })
})
