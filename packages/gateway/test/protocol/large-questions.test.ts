/** Questions to an emulator with large and silly bodies: refused before they cost much, or answered in many turns. */
import { type Engine, openEngine } from '@sixtables/engine'
import { turnScheduler } from '@sixtables/engine/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bodyObject } from '../../src/admin/admin-service.ts'
import { addEngineRoutes } from '../../src/admin/emulator/engine-routes.ts'
import { Call, messageOf } from '../../src/call.ts'
import { handlersOf } from '../../src/handlers/handlers.ts'
import { Router } from '../../src/protocols/router.ts'
import { decodeAnswer, encodeRequest } from '../support/published-protos.ts'

let engine: Engine
let turns = 0
const router = new Router()

beforeEach(async () => {
  turns = 0
  engine = await openEngine({ scheduler: turnScheduler(() => turns++) })
  addEngineRoutes(router, engine)
})
afterEach(() => engine.close())

async function ask(path: string, body: object): Promise<unknown> {
  const found = router.find('POST', path)
  const { signal } = new AbortController()
  const asked = { query: new URLSearchParams(), body: Buffer.from(JSON.stringify(body)), headers: {}, signal }
  return await found?.route({ ...asked, parameters: found.parameters })
}

test.each([
  ['of more than a MiB', JSON.stringify({ a: 'x'.repeat(1024 * 1024) }), 'at most 1048576 are read here'],
  ['with many elements', `{"a": [${'{},'.repeat(30_000)}1]}`, 'more than 20000 members of objects and elements'],
  ['with many members', `{${'"a": 1,'.repeat(30_000)}"b": 2}`, 'more than 20000 members of objects and elements'],
  ['that is nested deep', '['.repeat(1000), 'nested deeper than 200 levels'],
])('a body %s is refused before it is parsed', (_, text, message) => {
  expect(() => bodyObject(Buffer.from(text))).toThrow(message)
})

test('ids are reserved in many turns, and not for too many keys, or keys with too long a path', async () => {
  const project = 'p'
  const keys = (count: number, path: (i: number) => string) => ({
    project,
    keys: Array.from({ length: count }, (_, i) => path(i)),
  })
  const long = (elements: number) => (i: number) => Array.from({ length: elements }, () => `K${i}:1`).join('/')
  await expect(
    ask(
      '/emulator/ids/reserve',
      keys(1001, (i) => `A:${i + 1}`),
    ),
  ).rejects.toThrow('at most 1000 are reserved')
  await expect(ask('/emulator/ids/reserve', keys(1, long(5000)))).rejects.toThrow('a key has 101 path elements')
  const silly = await ask(
    '/emulator/ids/reserve',
    keys(1, () => 'A'.repeat(5000)),
  ).catch(String)
  expect(String(silly).length).toBeLessThan(600)
  expect(turns).toBe(0)
  await ask('/emulator/ids/reserve', keys(40, long(100)))
  expect(turns).toBeGreaterThan(40)
})

test('the keys of a large lookup are read in many turns', async () => {
  const path = Array.from({ length: 100 }, (_, i) => ({ kind: `K${i}`, id: '1' }))
  const keys = Array.from({ length: 999 }, () => ({ path }))
  const bytes = encodeRequest('Lookup', { projectId: 'p', keys })
  const answer = await handlersOf(engine).Lookup(bytes, new Call({ clock: engine.context().clock }))
  expect(decodeAnswer('Lookup', messageOf(answer))).toMatchObject({ missing: [{ entity: { key: { path } } }] })
  expect(turns).toBeGreaterThan(bytes.length / (100 * 1024))
})

test('a large lookup with a wrong key and wrong options is refused for its key, once', async () => {
  const path = Array.from({ length: 100 }, (_, i) => ({ kind: `K${i}`, id: '1' }))
  const keys = [...Array.from({ length: 900 }, () => ({ path })), { path: [] }]
  const bytes = encodeRequest('Lookup', { projectId: 'p', keys, readOptions: { readConsistency: 0 } })
  const unheard: unknown[] = []
  const hear = (error: unknown) => unheard.push(error)
  process.on('unhandledRejection', hear)
  const answer = async () => await handlersOf(engine).Lookup(bytes, new Call({ clock: engine.context().clock }))
  await expect(answer()).rejects.toThrow('Key path is empty.')
  await new Promise((resolve) => setTimeout(resolve, 200))
  process.off('unhandledRejection', hear)
  expect(unheard).toEqual([])
})

test('a long index.yaml is read in parts, and its errors have the lines of the whole', async () => {
  const entry = (i: number): string => `- kind: Y${i}\n  properties:\n  - name: a\n  - name: b\n`
  const create = (yaml: string): Promise<unknown> => ask('/emulator/indexes/create', { project: 'p', yaml })
  const entries = (count: number): string => Array.from({ length: count }, (_, i) => entry(i)).join('')
  const all = { json: { indexes: Array.from({ length: 400 }, (_, i) => expect.objectContaining({ kind: `Y${i}` })) } }
  expect(await create(`indexes:\n${entries(400)}`)).toEqual(all)
  expect(turns).toBeGreaterThan(10)
  await expect(create(`indexes:\n\n${entries(400)}- kind: Z\n  size: 1\n${entries(9)}`)).rejects.toThrow(
    'line 1604: an index has no member "size"',
  )
  const licence = '# A long comment above all indexes, such as a licence.\n'.repeat(100)
  expect(await create(`${licence}indexes:\n${entry(400)}`)).toMatchObject({ json: { indexes: [{ kind: 'Y400' }] } })
  await expect(create(`${licence}indexes:\n- kind: Z\n  size: 1\n`)).rejects.toThrow('line 103: an index has no')
  await expect(create(`indexes: [${'{},'.repeat(3000)}]`)).rejects.toThrow(
    'more than 4096 characters between two indexes',
  )
  await expect(create(`indexes:\n${'- kind: A\n'.repeat(9000)}`)).rejects.toThrow('at most 65536 are read')
})
