import { type Key, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { bytesOfCell, type GroupBytes, sumOf, unsweptOf, withBytes } from './group-bytes.ts'
import { decodeHead } from './group-row.ts'
import { severalGateways } from './several-gateways.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const root: Key = { partition, path: [{ kind: 'G', name: 'a' }] }
const child: Key = { partition, path: [...root.path, { kind: 'A', id: 1n }] }
const groupBytesMax = 20_000

test('spans of 15 minutes are counted until they are swept wholly', () => {
  const minute = 60_000_000n
  let spans: GroupBytes = []
  for (let at = 1n; at <= 400n; at++) spans = withBytes(spans, at * minute, 3)
  expect(spans).toHaveLength(10)
  expect(sumOf(spans)).toBe(1_200)
  const [first, second] = spans
  expect(unsweptOf(spans, 400n * minute, (second?.since ?? 0n) - 2n)).toEqual(spans)
  expect(unsweptOf(spans, 400n * minute, (second?.since ?? 0n) - 1n)).toEqual(spans.slice(1))
  expect(first?.since).toBe(minute)
  expect(sumOf(unsweptOf(spans, 400n * minute, 399n * minute))).toBe(spans.at(-1)?.bytes)
  expect(unsweptOf(spans, 400n * minute, 400n * minute)).toEqual([])
})

test('a head that was written before heads counted has no bytes', () => {
  expect(decodeHead(new Uint8Array(32)).bytes).toEqual([])
})

test('a group whose row is full takes no commit until it is swept', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1, groupBytesMax }), scheduler })
  const database = engine.database('p')
  const put = async (key: Key, value: number): Promise<void> => {
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key, value)] })
  }
  /** Bytes in the row of the group, and as its head counts them. */
  const held = async () => {
    const wanted = [{ family: 'v' }, { family: 'l' }, { family: 'h' }] as const
    const [row] = await rows.scanRows({ range: { start: 'E', end: 'F' }, limit: 1, wanted })
    const { v = [], l = [], h = [] } = row?.cells ?? {}
    const bytes = [...v, ...l].reduce((sum, { value }) => sum + bytesOfCell(row?.key ?? '', value), 0)
    return {
      bytes,
      counted: sumOf(decodeHead(h[0]?.value ?? new Uint8Array(32)).bytes),
      ofRoot: bytesOfCell(row?.key ?? '', v[0]?.value ?? new Uint8Array(0)),
    }
  }
  const fill = async (from: number): Promise<number> => {
    for (let value = from; value < from + 1_000; value++) {
      try {
        await put(value % 3 === 0 ? child : root, value)
      } catch (error) {
        expect(error).toMatchObject({
          code: 'RESOURCE_EXHAUSTED',
          message: expect.stringContaining('entity group of G:"a"'),
        })
        return value
      }
      const { bytes, counted, ofRoot } = await held()
      expect(bytes).toBeLessThanOrEqual(counted + ofRoot)
      expect(bytes).toBeLessThanOrEqual(groupBytesMax + ofRoot)
      await scheduler.advance(20_000)
    }
    throw new Error('no commit was refused')
  }
  const refused = await fill(1)
  expect((await held()).bytes, 'the row is full indeed').toBeGreaterThan(0.9 * groupBytesMax)
  await put({ partition, path: [{ kind: 'G', name: 'b' }] }, 1)
  const { found } = await database.lookup(engine.context(), { keys: [root, child], read: {} })
  expect(found.map(({ image }) => storedValue(image.properties))).not.toContain(refused)
  for (let minutes = 0; minutes < 150; minutes += 5) await scheduler.advance(300_000)
  const refusedAgain = await fill(refused)
  expect(refusedAgain - refused, 'commits after a sweep').toBeGreaterThan(0.8 * refused)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
