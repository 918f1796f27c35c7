import { afterEach, beforeEach, expect, test } from 'vitest'
import { mutationOf } from '../../../test/property/log-world.ts'
import { type Engine, openEngine } from '../../engine/engine.ts'

let engine: Engine

const keyIn = (projectId: string, id: number) => ({
  partition: { projectId, databaseId: '', namespaceId: '' },
  path: [
    { kind: 'G', name: 'g' },
    { kind: 'A', id: BigInt(id) },
  ],
})

beforeEach(async () => {
  engine = await openEngine({ apply: { type: 'manual' } })
  for (const [project, id] of [
    ['p', 1],
    ['p', 2],
    ['p', 3],
    ['q', 4],
  ] as const) {
    const mutations = [mutationOf(keyIn(project, id), id)]
    await engine.database(project).commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
})

afterEach(() => engine.close())

const states = async (): Promise<readonly string[]> =>
  (await engine.inspector.pending({ projectId: 'p' })).pending.map(({ state }) => state)

test('waiting records are reported by place, as many as asked for, in few words', async () => {
  const { pending, more } = await engine.inspector.pending({ projectId: 'p', databaseId: '', limit: 2, words: 12 })
  expect(more).toBe(1)
  expect(pending.map(({ project, changes }) => [project, changes])).toEqual([
    ['p', ['put G:"g"/A:…']],
    ['p', ['put G:"g"/A:…']],
  ])
  expect(await engine.inspector.pending({ namespaceId: 'n' })).toEqual({ pending: [] })
})

test('one record is released to A and then to B; those before it go wholly, those behind it wait', async () => {
  const second = BigInt((await engine.inspector.pending({ projectId: 'p' })).pending[1]?.version ?? 0)
  expect(await engine.inspector.release(keyIn('p', 1), 'A', second)).toMatchObject({ released: 2 })
  expect(await states()).toEqual(['A', 'committed'])
  expect(await engine.inspector.release(keyIn('p', 1), 'A', second)).toMatchObject({ released: 0 })
  expect(await engine.inspector.release(keyIn('p', 1), 'B', second)).toMatchObject({ released: 1 })
  expect(await states()).toEqual(['committed'])
  // It is applied already: nothing moves.
  expect(await engine.inspector.release(keyIn('p', 1), 'B', second)).toMatchObject({ released: 0 })
  expect(await states()).toEqual(['committed'])
})

test('a database is released, the others wait', async () => {
  expect(await engine.inspector.releaseAll(engine.database('p').code)).toBe(3)
  expect((await engine.inspector.pending()).pending.map(({ project }) => project)).toEqual(['q'])
})
