import { expect, test } from 'vitest'
import { systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { decodeProperties } from '../encoding/entity-codec.ts'
import type { Value } from '../model/value.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import { KvTableView } from '../tables/table.ts'
import { entity, index, type PlainValue, query, queryDatabase, storeOf } from '../testing/query-world.ts'
import { openResults } from './execute.ts'
import { projectRow } from './project.ts'

const context = requestContext({ clock: systemScheduler })

/** The projected properties of each row, values by name. */
async function projected(
  entities: readonly Readonly<Record<string, PlainValue>>[],
  projection: readonly string[],
  order: readonly string[] = [],
): Promise<readonly (readonly (readonly [string, Value])[])[]> {
  const indexes = projection.length > 1 ? [index(`A(${(order.length > 0 ? order : projection).join(', ')})`)] : []
  const kv = storeOf(
    entities.map((properties, i) => entity(`A:${i + 1}`, properties)),
    indexes,
  )
  const planned = plan(normalize(query({ kind: 'A', projection, order }), queryDatabase), indexes)
  const stream = openResults({ context, view: new KvTableView(kv), plan: planned }, { bounds: undefined, expect: 4 })
  const rows = await stream.next(100)
  stream.close()
  return rows.map((row) => [...decodeProperties(projectRow(planned, row))])
}

test('values come back from ascending and descending columns, in the order asked for', async () => {
  const entities = [
    { a: 1n, b: 'x' },
    { a: 2n, b: 'y' },
  ]
  const rows = await projected(entities, ['b', 'a'], ['a desc', 'b'])
  expect(rows).toEqual([
    [
      ['b', { type: 'string', value: 'y', meaning: 18 }],
      ['a', { type: 'integer', value: 2n, meaning: 18 }],
    ],
    [
      ['b', { type: 'string', value: 'x', meaning: 18 }],
      ['a', { type: 'integer', value: 1n, meaning: 18 }],
    ],
  ])
})

test('an array has a result for each of its values', async () => {
  const rows = await projected([{ tags: ['x', 'y'] }], ['tags'])
  expect(rows.map(([first]) => first?.[1])).toEqual([
    { type: 'string', value: 'x', meaning: 18 },
    { type: 'string', value: 'y', meaning: 18 },
  ])
})

test('an instant comes as microseconds, a blob as a string where it is UTF-8', async () => {
  const of = async (value: Value): Promise<Value | undefined> => (await projected([{ v: value }], ['v']))[0]?.[0]?.[1]
  expect(await of({ type: 'timestamp', micros: 5n })).toEqual({ type: 'integer', value: 5n, meaning: 18 })
  expect(await of({ type: 'blob', value: Buffer.from('text') })).toEqual({ type: 'string', value: 'text', meaning: 18 })
  const bytes = Uint8Array.of(0xff, 0x00)
  expect(await of({ type: 'blob', value: bytes })).toMatchObject({ type: 'blob', meaning: 18 })
})
