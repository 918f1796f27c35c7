/** The calls for one entity and for fixtures: preview, versions, the entity without a trace, fixtures in and out. */
import { expect, test } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { clientOf, testEmulator } from '../support/emulator.ts'

async function ask(emulator: Emulator, path: string, body?: unknown): Promise<{ status: number; json: never }> {
  const answer = await fetch(`http://${emulator.address}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  })
  return { status: answer.status, json: (await answer.json()) as never }
}

const key = { path: [{ kind: 'ToDo', id: '1' }] }
const put = (properties: object, more: object = {}) => ({
  projectId: 'demo',
  mode: 'NON_TRANSACTIONAL',
  mutations: [{ upsert: { key, properties }, ...more }],
})

test('a preview over HTTP answers what the commit does, and leaves nothing', async () => {
  const emulator = await testEmulator()
  const request = put({ title: { stringValue: 'a' } })
  const preview = await ask(emulator, '/emulator/preview', request)
  expect(preview.json).toMatchObject({
    tables: {
      Entities: { written: 1, deleted: 0 },
      EntitiesByKind: { written: 1, deleted: 0 },
      EntitiesByPropertyAsc: { written: 1, deleted: 0 },
      EntitiesByPropertyDesc: { written: 1, deleted: 0 },
      Log: { written: 1, deleted: 0 },
    },
    conflicts: [false],
    indexUpdates: 3,
  })
  expect((await ask(emulator, '/v1/projects/demo:lookup', { keys: [key] })).json).not.toHaveProperty('found')
  expect((await ask(emulator, '/v1/projects/demo:commit', request)).json).toMatchObject({ indexUpdates: 3 })
  const wrong = put({ __x__: { stringValue: 'a' } })
  const refused = await ask(emulator, '/v1/projects/demo:commit', wrong)
  expect(refused.status).toBe(400)
  expect(await ask(emulator, '/emulator/preview', wrong)).toEqual(refused)
})

test('an entity and its versions are shown as they are committed, and what waits goes on waiting', async () => {
  const emulator = await testEmulator({ apply: { type: 'manual' } })
  const name = '/emulator/inspect/'
  const of = '?project=demo&key=ToDo:1'
  await ask(emulator, '/v1/projects/demo:commit', put({ n: { doubleValue: '-0' } }))
  await ask(emulator, '/v1/projects/demo:commit', put({ n: { integerValue: '9007199254740993' } }))
  const { versions } = (await ask(emulator, `${name}versions${of}`)).json as { versions: { version: string }[] }
  expect(versions).toMatchObject([
    { operation: 'put', state: 'committed' },
    { operation: 'put', state: 'committed' },
  ])
  const entity = (n: unknown, version?: string) => ({ found: [{ version, entity: { properties: { n } } }] })
  const newest = versions[1]?.version
  expect((await ask(emulator, `${name}entity${of}`)).json).toMatchObject(
    entity({ integerValue: '9007199254740993' }, newest),
  )
  const old = await ask(emulator, `${name}entity${of}&version=${versions[0]?.version}`)
  expect(old.json).toMatchObject(entity({ doubleValue: -0 }, versions[0]?.version))
  expect((await ask(emulator, `${name}entity${of}&version=5`)).status).toBe(404)
  expect((await ask(emulator, `${name}entity?project=demo&key=ToDo:2`)).json).toMatchObject({ missing: [{}] })
  expect((await ask(emulator, `${name}pending`)).json).toMatchObject({ pending: [{}, {}] })
})

test('a fixture goes in by a JSON call, and comes out as a file of each format', async () => {
  const emulator = await testEmulator()
  const text =
    'entities:\n  - key: ToDo:1\n    properties: { title: "ä <b>" }\n  - key: User:ada\n    properties: { n: 1 }\n'
  const seeded = await ask(emulator, '/emulator/fixtures', { project: 'demo', format: 'yaml', text })
  expect(seeded.json).toEqual({ entities: 2, keys: ['ToDo:1', 'User:"ada"'] })
  const told = async (fixture: string): Promise<string> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ project: 'demo', format: 'yaml', text: fixture })
    return (await fetch(`http://${emulator.address}/emulator/fixtures?progress=true`, { ...init, body })).text()
  }
  const begin = 'data: {"progress":{"rows":0}}\n\n'
  expect(await told(text)).toBe(`${begin}data: {"report":${JSON.stringify(seeded.json)}}\n\n`)
  expect(await told('entities:\n  - key: 5')).toContain(`${begin}data: {"error":{"message":"fixture:2`)
  const [todo] = await clientOf(emulator).get(clientOf(emulator).key(['ToDo', 1]))
  expect(todo).toMatchObject({ title: 'ä <b>' })
  const out = async (query: string) => await fetch(`http://${emulator.address}/emulator/fixtures?project=demo&${query}`)
  const yaml = await out('format=yaml&kind=ToDo')
  expect(yaml.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''ToDo.yaml")
  expect(await yaml.text()).toBe('entities:\n- key: ToDo:1\n  properties:\n    title: ä <b>\n')
  expect(await (await out('format=json')).json()).toMatchObject({
    entities: [{ key: 'ToDo:1' }, { key: 'User:"ada"' }],
  })
  expect(await (await out('format=csv&kind=User')).text()).toBe('__key__,n\n"User:""ada""",1\n')
  const wrong = await ask(emulator, '/emulator/fixtures', {
    project: 'demo',
    format: 'yaml',
    name: 'a.yaml',
    text: 'entities:\n  - key: 5',
  })
  expect(wrong).toMatchObject({ status: 400, json: { error: { message: expect.stringContaining('a.yaml:2') } } })
  expect((await ask(emulator, '/emulator/fixtures', { project: 'demo', text })).status).toBe(400)
})

test('a body that takes long to parse is refused, but for fixtures', async () => {
  const emulator = await testEmulator()
  const long = ' '.repeat(4 * 1024 * 1024)
  const error = { message: expect.stringMatching(/^the body has 41943\d\d bytes, and at most 1048576 are read here/) }
  expect(await ask(emulator, '/emulator/faults', { message: long })).toMatchObject({ status: 400, json: { error } })
  const fixture = { project: 'demo', format: 'json', text: `[]${long}` }
  expect(await ask(emulator, '/emulator/fixtures', fixture)).toMatchObject({ status: 200, json: { entities: 0 } })
})
