/** The labs over HTTP: a run to its end, one that is cancelled, and challenges in the folder that the user named. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts'
import { type Started, startCommand } from '../support/cli.ts'

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
  readonly challengesDir?: string
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
    expect(json.challengesDir).toBeUndefined()
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
  const dir = mkdtempSync(join(tmpdir(), 'sixtables-challenges-'))
  let server: Started
  beforeAll(async () => {
    server = await startCommand(['--testing', '--challenges', dir])
  })
  afterAll(async () => {
    await server.stop()
    rmSync(dir, { recursive: true })
  })

  test('are neither written nor executed without a folder of the user', async () => {
    for (const path of ['/challenges/follower-list', '/challenges/follower-list/runs']) {
      const { json } = await call('POST', path)
      expect(json.error).toMatchObject({
        status: 'FAILED_PRECONDITION',
        message: expect.stringContaining('--challenges'),
      })
    }
  })

  test('are begun and judged in the folder that the server was started with, by their names alone', async () => {
    const ask = (method: string, path: string) => call(method, path, undefined, server.address)
    expect((await ask('POST', '/challenges/..%2F..%2Fetc')).json.error).toMatchObject({ status: 'NOT_FOUND' })
    const begun = await ask('POST', '/challenges/follower-list')
    expect(begun.json).toEqual({ challenge: 'follower-list', folder: join(dir, 'follower-list') })
    expect(existsSync(join(dir, 'follower-list', 'solution.mjs'))).toBe(true)
    expect((await ask('POST', '/challenges/follower-list')).json.error.message).toContain('is there already')
    // A whole judgement is in packages/console/test/labs.test.ts.
    const program = 'console.log("reached")\nconsole.log("the end")\nthrow new Error("not finished")\n'
    writeFileSync(join(dir, 'follower-list', 'solution.mjs'), program)
    const { json } = await ask('POST', '/challenges/follower-list/runs')
    const last = await endOf(json.id, server.address)
    // All that it has printed is there with its end.
    const fault = 'Loading the program ended the process with Error: not finished (solution.mjs:3).'
    expect(last).toMatchObject({ state: 'finished', result: { passed: false, fault } })
    expect(last).toMatchObject({ output: expect.stringMatching(/^reached\nthe end\n[\s\S]*not finished/) })
  })
})
