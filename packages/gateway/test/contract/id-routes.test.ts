/** The endpoints of ids, over HTTP. */
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addIdRoutes } from '../../src/admin/emulator/ids.ts'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'

let engine: Engine
let gateway: Gateway

beforeEach(async () => {
  engine = await openEngine({ mode: 'legacy', apply: { type: 'immediate' } })
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0, routes: (router) => addIdRoutes(router, engine) })
})

afterEach(async () => {
  await gateway.close()
  await engine.close()
})

async function call(path: string, init: RequestInit): Promise<{ readonly status: number; readonly json: unknown }> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, init)
  return { status: response.status, json: await response.json() }
}

function post(what: string, body: unknown): ReturnType<typeof call> {
  return call(`/emulator/ids/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

function next(query: string): ReturnType<typeof call> {
  return call(`/emulator/ids/next?${query}`, { method: 'GET' })
}

async function insert(id?: string): Promise<unknown> {
  const path = [{ kind: 'ToDo', ...(id === undefined ? {} : { id }) }]
  const mutations = [{ insert: { key: { path }, properties: {} } }]
  const { json } = await call('/v1/projects/p:commit', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations }),
  })
  return json
}

describe('a range', () => {
  test('is EMPTY, then CONTENTION, then COLLISION, and automatic ids go on behind it', async () => {
    const ids = { project: 'p', kind: 'ToDo', start: 5, end: '9' }
    expect(await post('range', ids)).toEqual({
      status: 200,
      json: {
        state: 'EMPTY',
        start: '5',
        end: '9',
        nextBefore: '1',
        nextAfter: '10',
        words:
          'EMPTY: ToDo:5 to ToDo:9: no entity is there and none of its ids was given before: it is wholly yours. ' +
          'The high-water mark moved from 1 to 10: no id below it is given any more.',
      },
    })
    expect(await post('range', ids)).toMatchObject({ json: { state: 'CONTENTION', nextBefore: '10', nextAfter: '10' } })
    await insert('7')
    expect(await post('range', ids)).toMatchObject({ json: { state: 'COLLISION' } })
    expect(await insert()).toMatchObject({ mutationResults: [{ key: { path: [{ kind: 'ToDo', id: '10' }] } }] })
  })

  test('is of a parent, a namespace and a database', async () => {
    const ids = { project: 'p', kind: 'ToDo', start: 1, end: 3 }
    for (const where of [{}, { parent: 'User:"ada"' }, { namespace: 'n' }, { database: 'd' }]) {
      expect(await post('range', { ...ids, ...where })).toMatchObject({ json: { state: 'EMPTY' } })
      expect(await post('range', { ...ids, ...where })).toMatchObject({ json: { state: 'CONTENTION' } })
    }
    expect(await post('range', { ...ids, database: '(default)' })).toMatchObject({ json: { state: 'CONTENTION' } })
  })
})

test('ids are allocated by size and up to a highest one', async () => {
  const of = { project: 'p', kind: 'ToDo' }
  expect(await post('allocate', { ...of, size: 4 })).toEqual({
    status: 200,
    json: {
      start: '1',
      end: '4',
      nextAfter: '5',
      words: 'The ids 1 to 4 are yours. The high-water mark is 5 now: no id below it is given any more.',
    },
  })
  expect(await post('allocate', { ...of, max: '10' })).toMatchObject({ json: { start: '5', end: '10' } })
  expect(await post('allocate', { ...of, max: 3 })).toMatchObject({ json: { start: '11', end: '10' } })
})

test('what is reserved is told for each id of a key, and is not given', async () => {
  const scattered = '5629499534213120'
  const keys = [`User:7/ToDo:${scattered}`, 'ToDo:"x"', 'ToDo:-5']
  const { json } = await post('reserve', { project: 'p', keys })
  expect(json).toEqual({
    reserved: [
      {
        key: 'User:7',
        space: 'sequential',
        nextAfter: '8',
        words: 'User:7 is not given any more. The high-water mark of User:? is 8 now.',
      },
      {
        key: `User:7/ToDo:${scattered}`,
        space: 'scattered',
        nextAfter: '2',
        words: `User:7/ToDo:${scattered} is not given any more. The next scattered id is number 2 of its counter.`,
      },
      { key: 'ToDo:-5', words: 'ToDo:-5: this id is never given; there was nothing to do.' },
    ],
  })
  expect(await next('project=p&kind=User')).toMatchObject({ json: { scattered: { counter: '2' } } })
})

test('the next ids are told and stay the next', async () => {
  const answer = {
    status: 200,
    json: {
      of: 'User:"ada"/ToDo:?',
      automatic: 'storewide',
      scattered: { counter: '1', id: '5629499534213120' },
      sequential: { counter: '1', id: '1' },
      storewide: { counter: '1', id: '1' },
    },
  }
  expect(await next('project=p&kind=ToDo&parent=User:ada')).toEqual(answer)
  expect(await next('project=p&kind=ToDo&parent=User:ada')).toEqual(answer)
  await post('allocate', { project: 'p', kind: 'ToDo', max: String(2n ** 52n - 1n) })
  expect(await next('project=p&kind=ToDo')).toMatchObject({
    json: { sequential: { counter: String(2n ** 52n), id: null } },
  })
})

describe('a request that makes no sense is refused in words', () => {
  const of = { project: 'p', kind: 'ToDo' }
  test.each<[string, unknown, string]>([
    ['range', '{', 'the body is not JSON'],
    ['range', [], 'the body is no JSON object'],
    ['range', { kind: 'ToDo', start: 1, end: 2 }, 'the field project is missing'],
    ['range', { project: 'p', start: 1, end: 2 }, 'the field kind is missing'],
    ['range', { ...of, end: 2 }, 'the field start is missing'],
    ['range', { ...of, start: 1 }, 'the field end is missing'],
    ['range', { ...of, start: 1.5, end: 2 }, 'start is a whole number, not 1.5'],
    ['range', { ...of, start: '1', end: 'x' }, 'end is a whole number, not "x"'],
    ['range', { ...of, start: 0, end: 2 }, 'a range of ids starts at 1 or above'],
    ['range', { ...of, start: 1, end: 2, parent: 'User' }, 'the key User cannot be read'],
    ['range', { ...of, start: 1, end: 2, parent: 5 }, 'parent is a text, not 5'],
    ['range', { ...of, start: 1, end: 2, form: 3 }, 'there is no field "form"; there is project'],
    ['range', { ...of, kind: '__Stat__', start: 1, end: 2 }, 'is reserved'],
    ['allocate', of, 'by size or up to a max; neither was given'],
    ['allocate', { ...of, size: 1, max: 1 }, 'both were given'],
    ['allocate', { ...of, size: 0 }, 'a range of ids has a size of 1 to 1000000000, not 0'],
    ['reserve', { project: 'p' }, 'keys is a list of keys'],
    ['reserve', { project: 'p', keys: [] }, 'at least one'],
    ['reserve', { project: 'p', keys: ['ToDo'] }, 'the key ToDo cannot be read'],
  ])('%s %j', async (what, body, why) => {
    expect(await post(what, body)).toEqual({
      status: 400,
      json: { error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining(why) } },
    })
    expect(await next('project=p&kind=ToDo'), 'and nothing moves').toMatchObject({ json: { sequential: { id: '1' } } })
  })

  test('a question by the wrong verb, or of another name, is not found', async () => {
    for (const [method, what] of [
      ['GET', 'range'],
      ['POST', 'next'],
      ['POST', 'other'],
    ] as const) {
      const response = await fetch(`http://127.0.0.1:${gateway.port}/emulator/ids/${what}`, { method })
      expect(response.status).toBe(404)
    }
  })
})
