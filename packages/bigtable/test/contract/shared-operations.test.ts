/** Operations of indexes at two gateways of one store: seen, waited for and cancelled at either. */
import { openEngine } from '@sixtables/engine'
import { type Gateway, startGateway } from '@sixtables/gateway'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patienceMs } from '../../../gateway/test/support/patience.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { MemoryRows, type RowSeam } from '../../src/row-store/memory-rows.ts'

interface Operation {
  readonly name: string
  readonly done?: boolean
  readonly error?: { readonly code: number; readonly message: string }
  readonly response?: { readonly indexId?: string; readonly state?: string }
  readonly metadata: { readonly common?: { readonly state: string } }
}

const closing: (() => Promise<void>)[] = []
let a: Gateway
let b: Gateway
/** Rows of composite indexes are written when this resolves. */
let open: Promise<void> = Promise.resolve()

beforeAll(async () => {
  const rows = new MemoryRows()
  const seam: RowSeam = async (call, effect) => {
    if (call.kind === 'mutate' && call.key.startsWith('C')) await open
    return effect()
  }
  const started: Gateway[] = []
  for (const gateway of [1, 2]) {
    const engine = await openEngine({ store: severalGateways({ rows: rows.through(seam), gateway }) })
    const served = await startGateway({ engine, host: '127.0.0.1', port: 0 })
    started.push(served)
    closing.push(async () => {
      await served.close()
      await engine.close()
    })
  }
  ;[a, b] = started as [Gateway, Gateway]
  const entity = {
    key: { path: [{ kind: 'K', id: '1' }] },
    properties: { v: { integerValue: '1' }, w: { integerValue: '2' } },
  }
  await ask(a, 'POST', 'projects/p:commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: entity }] })
})
afterAll(async () => {
  for (const close of closing) await close()
})

async function ask<T = Operation>({ port }: Gateway, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as T
}

const create = (at: Gateway, ...names: readonly string[]): Promise<Operation> =>
  ask(at, 'POST', 'projects/p/indexes', {
    kind: 'K',
    ancestor: 'NONE',
    properties: names.map((name) => ({ name, direction: 'ASCENDING' })),
  })
const wait = (at: Gateway, name: string): Promise<Operation> =>
  ask(at, 'POST', `${name}:wait`, { timeout: `${patienceMs / 1000}s` })

interface IndexJson {
  readonly indexId: string
  readonly state: string
}

const indexesAt = async (at: Gateway): Promise<readonly IndexJson[]> =>
  (await ask<{ readonly indexes?: readonly IndexJson[] }>(at, 'GET', 'projects/p/indexes')).indexes ?? []

function hold(): () => void {
  let release = (): void => {}
  open = new Promise((resolve) => {
    release = resolve
  })
  return release
}

test('an index that is made at one gateway is an operation of the other, from its begin to its end', async () => {
  const release = hold()
  const { name } = await create(a, 'v', 'w')
  expect(await ask(b, 'GET', name)).toMatchObject({ name, metadata: { common: { state: 'PROCESSING' } } })
  const listed = await ask<{ readonly operations: readonly Operation[] }>(b, 'GET', 'projects/p/operations')
  expect(listed.operations.map((one) => one.name)).toEqual([name])
  release()
  for (const at of [b, a]) {
    expect(await wait(at, name)).toMatchObject({ done: true, response: { state: 'READY' } })
  }
})

test('cancelling at the other gateway ends it at both, and the index goes', async () => {
  const release = hold()
  const { name } = await create(a, 'w', 'v')
  expect(await ask(b, 'POST', `${name}:cancel`, {})).toEqual({})
  const stateAt = async (at: Gateway): Promise<string | undefined> => (await indexesAt(at))[1]?.state
  while ((await stateAt(b)) !== 'DELETING') await new Promise((resolve) => setImmediate(resolve))
  release()
  for (const at of [a, b]) expect(await wait(at, name)).toMatchObject({ done: true, error: { code: 1 } })
  while ((await indexesAt(a)).length > 1) await new Promise((resolve) => setTimeout(resolve, 20))
})

test('a deletion is an operation of the other gateway, also when it is over; others are NOT_FOUND', async () => {
  const [index] = await indexesAt(a)
  const { name } = await ask(a, 'DELETE', `projects/p/indexes/${index?.indexId}`)
  for (const at of [b, a]) expect(await wait(at, name)).toMatchObject({ done: true, response: {} })
  for (const none of ['index-create-4711', 'index-create-x', 'abc']) {
    expect(await ask(b, 'GET', `projects/p/operations/${none}`)).toMatchObject({ error: { code: 404 } })
  }
})
