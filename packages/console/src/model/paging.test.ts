import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Page, type PageRequest, Pages, pageMax } from './paging.ts'

interface Row {
  readonly id: number
  readonly version: number
}

/** Results as a server has them: rows by id; a cursor stands behind an id. */
class Server {
  rows: readonly Row[]
  readonly requests: PageRequest[] = []
  failure: Error | undefined

  constructor(ids: readonly number[]) {
    this.rows = ids.map((id) => ({ id, version: 1 }))
  }

  read = async (request: PageRequest): Promise<Page<Row>> => {
    this.requests.push(request)
    if (this.failure !== undefined) throw this.failure
    const [low, high] = [Number(request.start ?? -1), Number(request.end ?? Number.POSITIVE_INFINITY)]
    const found = this.rows.filter(({ id }) => id > low && id <= high)
    const rows = found.slice(0, request.limit)
    return { rows, end: String(rows.at(-1)?.id ?? low), hasMore: found.length > request.limit }
  }
}

function pagesOf(server: Server): Pages<Row> {
  return new Pages({
    read: server.read,
    idOf: ({ id }) => String(id),
    stampOf: ({ version }) => String(version),
    onChange: () => undefined,
  })
}

async function rest(pages: Pages<Row>): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve))
  while (pages.isReading)
}

async function look(pages: Pages<Row>, first: number, last: number): Promise<readonly (number | undefined)[]> {
  pages.want(first, last)
  await rest(pages)
  return Array.from({ length: last - first + 1 }, (_, i) => pages.row(first + i)?.id)
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

test('reads on as the viewport moves, a page and one ahead at a time', async () => {
  const server = new Server(range(1000))
  const pages = pagesOf(server)
  expect(await look(pages, 0, 29)).toEqual(range(30))
  expect(server.requests.map(({ start, end, limit, before }) => [start, end, limit, before])).toEqual([
    [undefined, undefined, pageMax, 0],
    ['99', undefined, pageMax, 100],
  ])
  expect([pages.count, pages.isComplete]).toEqual([201, false])
  await look(pages, 150, 200)
  expect(pages.count).toBe(401)
})

test('knows the end when it was read', async () => {
  const pages = pagesOf(new Server(range(42)))
  await look(pages, 0, 29)
  expect([pages.count, pages.isComplete]).toEqual([42, true])
})

test('an empty result is complete, and shows what comes as fresh', async () => {
  const server = new Server([])
  const pages = pagesOf(server)
  await look(pages, 0, 29)
  expect([pages.count, pages.isComplete, pages.isNew]).toEqual([0, true, false])
  server.rows = [{ id: 5, version: 1 }]
  pages.invalidate()
  await rest(pages)
  expect([pages.row(0)?.id, pages.count, [...pages.fresh]]).toEqual([5, 1, ['5']])
})

test('rows that come above the viewport shift it, and its first row stays', async () => {
  const server = new Server(range(400).map((id) => id * 10))
  const pages = pagesOf(server)
  for (let first = 0; first <= 250; first += 50) await look(pages, first, first + 20)
  const top = pages.row(250)
  server.rows = [...server.rows, { id: 1005, version: 1 }, { id: 2495, version: 1 }].sort((a, b) => a.id - b.id)
  pages.invalidate()
  await rest(pages)
  expect(pages.row(250 + pages.shift)).toEqual(top)
  expect(pages.shift).toBe(2)
})

test('rows that come at the top of the list are seen there', async () => {
  const server = new Server(range(10).map((id) => id + 5))
  const pages = pagesOf(server)
  await look(pages, 0, 9)
  server.rows = [{ id: 1, version: 1 }, ...server.rows]
  pages.invalidate()
  await rest(pages)
  expect([pages.row(0)?.id, pages.shift]).toEqual([1, 0])
})

test('rows that were updated while they were read keep their new values', async () => {
  const server = new Server(range(10))
  const pages = pagesOf(server)
  await look(pages, 0, 9)
  pages.invalidate()
  server.rows = server.rows.map((row) => (row.id === 3 ? { id: 3, version: 2 } : row))
  pages.update((row) => (row.id === 3 ? { ...row, version: 2 } : row))
  const seen = new Set<number | undefined>()
  for (let turn = 0; turn < 10; turn++) {
    seen.add(pages.row(3)?.version)
    await Promise.resolve()
  }
  await rest(pages)
  expect([...seen, pages.row(3)?.version]).toEqual([2, 2])
  expect([...pages.fresh]).toEqual(['3'])
})

test('a failed read is told, and is made up for by the next look', async () => {
  const server = new Server(range(10))
  const pages = pagesOf(server)
  server.failure = new Error('away')
  await look(pages, 0, 9)
  expect(pages.error).toBe(server.failure)
  server.failure = undefined
  expect(await look(pages, 0, 9)).toEqual(range(10))
  expect(pages.error).toBeUndefined()
})

test('the reason of a refusal stays while the same is asked again', async () => {
  const server = new Server(range(10))
  const pages = pagesOf(server)
  server.failure = new Error('away')
  await look(pages, 0, 9)
  for (const again of [() => pages.invalidate(), () => pages.want(0, 9)]) {
    again()
    expect([pages.isReading, pages.error]).toEqual([true, server.failure])
    await rest(pages)
    expect(pages.error).toBe(server.failure)
  }
})

test('thousands of deleted pages are left behind by few requests', async () => {
  const server = new Server(range(20_000))
  const pages = pagesOf(server)
  for (let first = 0; first < 20_000; first += 100) await look(pages, first, first + 30)
  expect(pages.count).toBe(20_000)
  server.rows = []
  server.requests.length = 0
  pages.want(0, 30)
  pages.invalidate()
  await rest(pages)
  expect([pages.count, pages.isComplete]).toEqual([0, true])
  expect(server.requests.length).toBeLessThan(20)
})

describe('paging/PG2', () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('look' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.record({ type: fc.constant('put' as const), ids: fc.array(fc.nat(9999), { maxLength: 300 }) }),
    fc.record({ type: fc.constant('delete' as const), from: fc.nat(9999), length: fc.nat(3000) }),
  )

  test('at rest the viewport shows the rows of the query, and no request asks for more than a page', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(9999), { maxLength: 500 }), fc.array(step), async (ids, steps) => {
        const server = new Server(ids.sort((a, b) => a - b))
        const pages = pagesOf(server)
        let first = 0
        for (const one of steps) {
          if (one.type === 'look') {
            first = Math.floor(one.at * pages.count)
            await look(pages, first, first + 30)
          } else {
            const kept = server.rows.filter(
              ({ id }) => one.type === 'put' || id < one.from || id >= one.from + one.length,
            )
            const added = one.type === 'put' ? one.ids.filter((id) => !kept.some((row) => row.id === id)) : []
            server.rows = [...kept, ...[...new Set(added)].map((id) => ({ id, version: 1 }))].sort(
              (a, b) => a.id - b.id,
            )
            pages.invalidate()
          }
          await rest(pages)
        }
        // The whole list, from the top.
        await look(pages, 0, 30)
        const seen: (number | undefined)[] = []
        for (let at = 0; at < pages.count; at++) {
          if (pages.row(at) === undefined) await look(pages, at, at + 30)
          seen.push(pages.row(at)?.id)
        }
        while (seen.at(-1) === undefined && seen.length > 0) seen.pop()
        expect(seen).toEqual(server.rows.map(({ id }) => id))
        expect(Math.max(0, ...server.requests.map(({ limit }) => limit))).toBeLessThanOrEqual(pageMax)
      }),
      { numRuns: 60 },
    )
  })
})
