/**
 * The API as every client must find it: one suite for each client and each store. What a protocol or a client alone can do
 * is tested elsewhere (node-client.test.ts, test/protocol).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Address, ApiClient, OpenClient, Path, PlainEntity, PlainQuery } from '../support/api-client.ts'

export interface TestServer extends Address {
  /** Removes every entity. */
  empty(): Promise<void>
  close(): Promise<void>
}

const notFound = 5
const alreadyExists = 6

export function apiContract(name: string, openServer: () => Promise<TestServer>, openClient: OpenClient): void {
  describe(name, () => {
    let server: TestServer
    let client: ApiClient

    beforeAll(async () => {
      server = await openServer()
      client = await openClient(server)
    })

    afterAll(async () => {
      await client.close()
      await server.close()
    })

    beforeEach(() => server.empty())

    const save = (...entities: PlainEntity[]) => client.write('upsert', entities)
    const readOne = async (path: Path) => (await client.read([{ path }]))[0]

    describe('an entity', () => {
      test('of every type comes back as it was saved', async () => {
        const path = ['Parent', 7, 'Child', 'ä/"\u0000😀']
        const properties = {
          nothing: null,
          yes: true,
          integer: -42,
          large: Number.MAX_SAFE_INTEGER,
          double: 1.5,
          text: 'τεξτ',
          empty: '',
          blob: Buffer.from([0, 255, 251, 239]),
          at: new Date('2020-02-03T04:05:06.789Z'),
          list: [1, 'two', null],
          none: [],
          inner: { a: { b: 'c' }, list: [{ d: false }] },
        }
        await save({ path, properties })
        expect(await readOne(path)).toEqual({ path, properties })
      })

      test('without an id is given one, and the client learns it', async () => {
        const written = await client.write('insert', [
          { path: ['Auto'], properties: { n: 1 } },
          { path: ['Auto'], properties: { n: 2 } },
          { path: ['Auto', 'root', 'Auto'], properties: { n: 3 } },
        ])
        expect(written.map((path) => path.length)).toEqual([2, 2, 4])
        expect(new Set(written.map((path) => path.at(-1))).size).toBe(3)
        for (const path of written) expect(path.at(-1)).toBeTypeOf('number')
        const found = await client.read(written.map((path) => ({ path })))
        expect(found.map((entity) => entity?.properties)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
      })

      test('is inserted once', async () => {
        const entity = { path: ['K', 'a'], properties: { v: 1 } }
        await client.write('insert', [entity])
        await expect(client.write('insert', [{ ...entity, properties: { v: 2 } }])).rejects.toMatchObject({
          code: alreadyExists,
        })
        expect(await readOne(entity.path)).toEqual(entity)
      })

      test('is updated only where it is', async () => {
        const path = ['K', 'a']
        await expect(client.write('update', [{ path, properties: {} }])).rejects.toMatchObject({ code: notFound })
        await save({ path, properties: { v: 1, old: true } })
        await client.write('update', [{ path, properties: { v: 2 } }])
        expect(await readOne(path)).toEqual({ path, properties: { v: 2 } })
      })

      test('is gone when it is deleted, as often as one likes', async () => {
        await save({ path: ['K', 'a'], properties: {} }, { path: ['K', 'b'], properties: {} })
        await client.remove([{ path: ['K', 'a'] }, { path: ['K', 'never'] }])
        await client.remove([{ path: ['K', 'a'] }])
        const found = await client.read([{ path: ['K', 'a'] }, { path: ['K', 'b'] }])
        expect(found.map((entity) => entity?.path)).toEqual([undefined, ['K', 'b']])
        expect((await client.query({ kind: 'K' })).entities.map(({ path }) => path)).toEqual([['K', 'b']])
      })

      test('has a key that is its whole path', async () => {
        await save(
          { path: ['K', 1], properties: { v: 'id' } },
          { path: ['K', '1'], properties: { v: 'name' } },
          { path: ['Other', 1], properties: { v: 'kind' } },
          { path: ['P', 1, 'K', 1], properties: { v: 'parent' } },
          { path: ['K', 1], namespace: 'n', properties: { v: 'namespace' } },
        )
        const found = await client.read([
          { path: ['P', 1, 'K', 1] },
          { path: ['K', 1], namespace: 'n' },
          { path: ['K', '1'] },
          { path: ['K', 1] },
          { path: ['Other', 1] },
        ])
        expect(found.map((entity) => entity?.properties['v'])).toEqual(['parent', 'namespace', 'name', 'id', 'kind'])
      })
    })

    test('a batch of 500 is written, read, queried and deleted at once', async () => {
      const entities = Array.from({ length: 500 }, (_, i) => ({ path: ['Batch', i + 1], properties: { n: i } }))
      expect(await client.write('insert', entities)).toEqual(entities.map(({ path }) => path))
      expect(await client.read(entities)).toEqual(entities)
      expect((await client.query({ kind: 'Batch', order: ['n'] })).entities).toEqual(entities)
      await client.remove(entities)
      expect(await client.query({ kind: 'Batch' })).toMatchObject({ entities: [], hasMore: false })
    })

    test('allocated ids are numbers that no other caller has', async () => {
      const paths = await client.allocate(['P', 'p', 'K'], 50)
      expect(new Set(paths.map((path) => path.at(-1))).size).toBe(50)
      for (const path of paths) expect(path).toEqual(['P', 'p', 'K', expect.any(Number)])
      const [inserted] = await client.write('insert', [{ path: ['P', 'p', 'K'], properties: {} }])
      expect(paths).not.toContainEqual(inserted)
    })

    describe('a query', () => {
      /** 30 tasks of three lists: n grows, and with it the place in the list; every third one is done. */
      const tasks: readonly PlainEntity[] = Array.from({ length: 30 }, (_, i) => ({
        path: ['List', ['a', 'b', 'c'][i % 3] ?? '', 'Task', i + 1],
        properties: { n: i, done: i % 3 === 0, tags: [`mod2-${i % 2}`, `mod5-${i % 5}`], text: `task ${i}` },
      }))

      beforeEach(async () => {
        await save(...tasks)
        await save(
          { path: ['List', 'a', 'Task', 1], namespace: 'other', properties: { n: 1000, done: true } },
          { path: ['Another', 1], properties: { n: 3, done: true } },
        )
      })

      const numbersOf = async (query: Omit<PlainQuery, 'kind'>): Promise<unknown[]> =>
        (await client.query({ kind: 'Task', ...query })).entities.map(({ properties }) => properties['n'])
      const numbers = (test: (n: number) => boolean): number[] => Array.from({ length: 30 }, (_, i) => i).filter(test)

      test('of a kind gives its entities in the order of their keys', async () => {
        const { entities, hasMore } = await client.query({ kind: 'Task' })
        const byList = (list: string): PlainEntity[] => tasks.filter(({ path }) => path[1] === list)
        expect(entities).toEqual([...byList('a'), ...byList('b'), ...byList('c')])
        expect(hasMore).toBe(false)
      })

      test.each<[string, Omit<PlainQuery, 'kind'>, number[]]>([
        ['an equality', { filters: [['n', '=', 7]] }, [7]],
        ['an equality on an array', { filters: [['tags', '=', 'mod5-2']], order: ['n'] }, numbers((n) => n % 5 === 2)],
        [
          'several equalities',
          {
            filters: [
              ['done', '=', true],
              ['tags', '=', 'mod2-1'],
              ['tags', '=', 'mod5-4'],
            ],
          },
          numbers((n) => n % 3 === 0 && n % 2 === 1 && n % 5 === 4),
        ],
        [
          'a range',
          {
            filters: [
              ['n', '>=', 4],
              ['n', '<', 8],
            ],
          },
          [4, 5, 6, 7],
        ],
        ['a range, descending', { filters: [['n', '>', 26]], order: ['-n'] }, [29, 28, 27]],
        ['one of several values', { filters: [['n', 'IN', [20, 3, 11]]], order: ['n'] }, [3, 11, 20]],
        ['another value', { filters: [['n', '!=', 5]], order: ['n'], limit: 8 }, [0, 1, 2, 3, 4, 6, 7, 8]],
        ['a limit and an offset', { order: ['-n'], offset: 5, limit: 3 }, [24, 23, 22]],
        ['an ancestor', { ancestor: ['List', 'b'] }, numbers((n) => n % 3 === 1)],
        ['an ancestor and an equality', { ancestor: ['List', 'b'], filters: [['n', '=', 4]] }, [4]],
        ['an ancestor elsewhere', { ancestor: ['List', 'nowhere'] }, []],
        ['a namespace', { namespace: 'other' }, [1000]],
        ['an ancestor in a namespace', { namespace: 'other', ancestor: ['List', 'a'] }, [1000]],
        ['a value that nothing has', { filters: [['text', '=', 'none']] }, []],
        ['a value of another type', { filters: [['n', '=', '7']] }, []],
      ])('by %s', async (_what, query, expected) => {
        const found = await numbersOf(query)
        // Without an order results come by key; below one parent that is the order of n.
        expect(found).toEqual(expected)
      })

      test('for keys alone gives no properties', async () => {
        const { entities } = await client.query({ kind: 'Task', ancestor: ['List', 'c'], keysOnly: true, limit: 2 })
        expect(entities).toEqual([
          { path: ['List', 'c', 'Task', 3], properties: {} },
          { path: ['List', 'c', 'Task', 6], properties: {} },
        ])
      })

      test.each<[string, Omit<PlainQuery, 'kind'>]>([
        ['in an order', { order: ['-n'] }],
        ['by keys', {}],
        ['with a filter', { filters: [['done', '=', false]] }],
        ['below an ancestor', { ancestor: ['List', 'a'] }],
        ['over arrays', { filters: [['tags', '>', 'mod5']], order: ['tags'] }],
      ])('%s pages by cursors to the end, giving each entity once', async (_what, query) => {
        const whole = await numbersOf(query)
        const seen: unknown[] = []
        let after: string | undefined
        for (let pages = 0, hasMore = true; hasMore && pages < 12; pages++) {
          const page = await client.query({
            kind: 'Task',
            ...query,
            limit: 4,
            ...(after === undefined ? {} : { after }),
          })
          seen.push(...page.entities.map(({ properties }) => properties['n']))
          after = page.cursor
          // A full page says that there may be more; the last one is short or empty.
          hasMore = page.entities.length === 4
        }
        expect(whole.length).toBeGreaterThan(8)
        expect(seen).toEqual(whole)
      })

      test('goes on behind a cursor although entities around it come and go', async () => {
        const first = await client.query({ kind: 'Task', order: ['n'], limit: 10 })
        await client.remove(tasks.slice(5, 12))
        await save({ path: ['Task', 'new'], properties: { n: 12 } }, { path: ['Task', 'early'], properties: { n: 3 } })
        const rest = await client.query({ kind: 'Task', order: ['n'], limit: 4, after: first.cursor })
        expect(rest.entities.map(({ properties }) => properties['n'])).toEqual([12, 12, 13, 14])
      })
    })
  })
}
