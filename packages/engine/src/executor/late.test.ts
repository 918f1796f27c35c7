/** Orders and conditions behind __key__: no index row has them, so each entity is read. */
import { expect, test } from 'vitest'
import { systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { decodePath } from '../encoding/key-codec.ts'
import { prettyPath } from '../encoding/pretty.ts'
import { valueCode } from '../encoding/value-codec.ts'
import type { Filter } from '../model/query.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import { KvTableView } from '../tables/table.ts'
import { entity, key, query, queryDatabase, storeOf, where } from '../testing/query-world.ts'
import { openResults } from './execute.ts'
import { pathIn } from './position.ts'

const context = requestContext({ clock: systemScheduler })

const kv = storeOf([
  entity('A:1', { v: 3n }),
  entity('A:2', { v: [1n, 5n] }),
  entity('A:3', {}),
  entity('A:4', { v: 9n }),
])

async function keysOf(order: readonly string[], filter?: Filter, size = 2): Promise<readonly string[]> {
  const planned = plan(normalize(query({ kind: 'A', order, filter }), queryDatabase), [])
  expect(planned.source.type).toBe('late')
  const stream = openResults({ context, view: new KvTableView(kv), plan: planned }, { bounds: undefined, expect: 4 })
  const keys: string[] = []
  for (;;) {
    const rows = await stream.next(size)
    expect(rows.length).toBeLessThanOrEqual(size)
    if (rows.length === 0) break
    keys.push(...rows.map(({ position }) => prettyPath(decodePath(pathIn(planned, position), 0).path)))
  }
  stream.close()
  return keys
}

test('beside an equality on the key an order by a property asks for the property too', async () => {
  const found = (path: string, order: readonly string[]) => keysOf(order, where('__key__', '=', key(path)))
  expect(await found('A:1', ['v'])).toEqual(['A:1'])
  expect(await found('A:2', ['v desc', '__key__'])).toEqual(['A:2'])
  expect(await found('A:3', ['v'])).toEqual([])
})

test('an entity without the property is left out, and one with several values stands once', async () => {
  expect(await keysOf(['__key__', 'v'])).toEqual(['A:1', 'A:2', 'A:4'])
})

test('a condition on it is judged by the values of the entity', async () => {
  expect(await keysOf(['__key__', 'v'], where('v', '>', 4n))).toEqual(['A:2', 'A:4'])
  expect(await keysOf(['__key__', 'v'], where('v', '>', 5n), 1)).toEqual(['A:4'])
})

test('the rows of an entity with two long arrays are made when they are asked for, and skipped by branches', async () => {
  const values = Array.from({ length: 5000 }, (_, i) => BigInt(i))
  const wide = storeOf([entity('A:1', { v: values, w: values }), entity('A:2', { v: 7n, w: 8n })])
  const words = query({ kind: 'A', order: ['__key__'], projection: ['v', 'w'] })
  const planned = plan(normalize(words, queryDatabase), [])
  const stream = openResults({ context, view: new KvTableView(wide), plan: planned }, { bounds: undefined, expect: 4 })
  const [first, second] = await stream.next(2)
  expect((first?.position ?? '') < (second?.position ?? '')).toBe(true)
  const path = pathIn(planned, first?.position ?? '')
  const last = path + valueCode({ type: 'integer', value: 4999n }).repeat(2)
  stream.seek(last)
  const rest = await stream.next(10)
  expect(rest.map(({ position }) => position.startsWith(last))).toEqual([true, false])
  expect(prettyPath(decodePath(pathIn(planned, rest[1]?.position ?? ''), 0).path)).toBe('A:2')
  expect(await stream.next(10)).toEqual([])
  stream.close()
})
