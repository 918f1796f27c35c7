/** The labs over HTTP: a run to its end, one that is cancelled, and challenges, whose programs run in the page alone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts'

let emulator: Emulator
beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.close())

/** The members of answers that the tests look into. */
interface Body {
  readonly id: string
  readonly error: { readonly message: string }
  readonly labs: readonly { readonly name: string }[]
  readonly chapters: readonly unknown[]
  readonly judge: string
  readonly challenges: readonly unknown[]
  readonly runs: readonly unknown[]
  readonly result: { readonly comparison: { readonly flows: readonly unknown[] } }
}

interface Answer {
  readonly status: number
  readonly json: Body
}

async function call(method: string, path: string, body?: unknown, address = emulator.address): Promise<Answer> {
  const response = await fetch(`http://${address}/emulator/labs${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as Body }
}

/** Resolves when the first event of a run was sent, with what reads all of them, to its end. */
async function listen(id: string, address = emulator.address): Promise<() => Promise<readonly Body[]>> {
  const response = await fetch(`http://${address}/emulator/labs/runs/${id}/events`)
  return async () => {
    const texts = (await response.text()).split('\n\n').filter((text) => text.startsWith('data: '))
    return texts.map((text) => JSON.parse(text.slice('data: '.length)))
  }
}

/** The last event of a run. */
async function endOf(id: string, address = emulator.address): Promise<Body | undefined> {
  const events = await listen(id, address)
  return (await events()).at(-1)
}

describe('labs', () => {
  test('are listed with chapters, arms and settings', async () => {
    const { json } = await call('GET', '')
    expect(json).toMatchObject({ installed: true, challenges: expect.any(Array) })
    const lab = json.labs.find(({ name }) => name === 'key-range-state')
    expect(lab).toMatchObject({ predict: expect.any(String), arms: expect.any(Array) })
    expect(json.chapters[0]).toMatchObject({ number: 1, labs: ['names-and-types'] })
  })

  test('run in a thread while calls are served, to a judged result with pictures', async () => {
    const begun = await call('POST', '/write-path/runs', { seed: 7 })
    expect(begun).toMatchObject({ status: 200, json: { state: 'running', lab: 'write-path', seed: 7 } })
    const last = await endOf(begun.json.id)
    expect(last).toMatchObject({ state: 'finished', result: { lab: 'write-path', seed: 7, passed: true } })
    expect(last?.result.comparison.flows.length).toBeGreaterThan(0)
    expect((await call('GET', `/runs/${begun.json.id}`)).json).toEqual(last)
  })

  test('tell of their progress, are cancelled, and only one runs at a time', async () => {
    const { json } = await call('POST', '/sequential-keys/runs')
    const second = await call('POST', '/write-path/runs')
    expect(second).toMatchObject({ status: 400, json: { error: { status: 'FAILED_PRECONDITION' } } })
    expect(second.json.error.message).toContain(`sequential-keys is running`)
    const events = await listen(json.id)
    expect((await call('DELETE', `/runs/${json.id}`)).json).toMatchObject({ state: 'cancelled' })
    const told = await events()
    expect([told.at(0), told.at(-1)]).toMatchObject([{ state: 'running' }, { state: 'cancelled' }])
    expect((await call('GET', '/runs')).json.runs.at(-1)).toMatchObject({ id: json.id, state: 'cancelled' })
  })

  test('refuse what makes no sense', async () => {
    expect((await call('POST', '/no-such-lab/runs')).json.error).toMatchObject({ status: 'NOT_FOUND' })
    expect((await call('POST', '/write-path/runs', { sede: 1 })).json.error.message).toContain('sede')
    const { json } = await call('POST', '/write-path/runs', { settings: { 'no.such': 1 } })
    expect(await endOf(json.id)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('no setting no.such'),
    })
    expect((await call('GET', '/runs/99')).json.error).toMatchObject({ status: 'NOT_FOUND' })
  })
})

describe('challenges', () => {
  test('come with their programs, and with files in which a page can execute a program, but reach nothing', async () => {
    const { json } = await call('GET', '')
    expect(json.challenges[0]).toMatchObject({ program: expect.stringContaining('export'), goals: expect.any(Array) })
    for (const name of [json.judge.split('/').at(-1), 'program.js']) {
      const file = await fetch(`http://${emulator.address}/emulator/labs/files/${name}`)
      expect(file.headers.get('content-type')).toContain('javascript')
      expect(file.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self' blob:; worker-src 'self'",
      )
      expect((await file.text()).length).toBeGreaterThan(1000)
    }
    expect((await call('GET', '/files/..%2F..%2Findex.js')).status).toBe(404)
  })

  test('are neither written nor executed by the server', async () => {
    for (const path of ['/challenges/follower-list', '/challenges/follower-list/runs']) {
      expect((await fetch(`http://${emulator.address}/emulator/labs${path}`, { method: 'POST' })).status).toBe(404)
    }
  })
})
