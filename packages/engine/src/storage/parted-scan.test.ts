import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AsyncKv } from '../testing/async-kv.ts'
import { Areas } from './areas.ts'
import type { KeyRange, KvScan } from './kv.ts'
import { MemoryKv } from './memory-kv.ts'
import { partedScan } from './parted-scan.ts'

const key = fc.integer({ min: 0, max: 40 }).map((at) => String.fromCharCode(65 + at))
const range: fc.Arbitrary<KeyRange> = fc.tuple(key, key).map(([start, end]) => ({ start, end }))
const step = fc.oneof(
  fc.record({ do: fc.constant('next' as const), count: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ do: fc.constant('seek' as const), key }),
)

describe('a scan of the parts in one area', () => {
  it.each(['at once', 'by promise'])(
    'finds, over seeks, what is there without the rows elsewhere; %s',
    async (answers) => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(key, { maxLength: 40 }),
          fc.array(range, { maxLength: 5 }),
          range,
          fc.boolean(),
          fc.array(step, { maxLength: 20 }),
          async (keys, hidden, asked, reverse, steps) => {
            const whole = new MemoryKv()
            const plain = new MemoryKv()
            for (const each of keys) {
              whole.mutate({ key: each, value: Uint8Array.of(1) })
              const isHidden = hidden.some(({ start, end }) => start <= each && each < end)
              if (!isHidden) plain.mutate({ key: each, value: Uint8Array.of(1) })
            }
            const kv = answers === 'at once' ? whole : new AsyncKv(whole)
            let isClosed = false
            const parts = new Areas()
              .moved(hidden)
              .parts(asked)
              .filter(({ prefix }) => prefix === '')
            const scan = partedScan(
              parts,
              reverse,
              (part): KvScan => kv.scan(part, { reverse }),
              () => {
                isClosed = true
              },
            )
            const model = plain.scan(asked, { reverse })
            let ahead: string[] = []
            for (const each of [...steps, { do: 'next' as const, count: 40 }]) {
              if (each.do === 'seek') {
                scan.seek(each.key)
                model.seek(each.key)
                ahead = []
                continue
              }
              const found = (await scan.next(each.count)).map((row) => row.key)
              expect(found.length).toBeLessThanOrEqual(each.count)
              // A scan may answer fewer rows than are asked for, but none only at its end.
              while (ahead.length < Math.max(1, found.length)) {
                const [row] = model.next(1)
                if (row === undefined) break
                ahead.push(row.key)
              }
              expect(found).toEqual(ahead.splice(0, Math.max(1, found.length)))
            }
            scan.close()
            expect(isClosed).toBe(true)
            expect(await scan.next(1)).toEqual([])
          },
        ),
      )
    },
  )
})
