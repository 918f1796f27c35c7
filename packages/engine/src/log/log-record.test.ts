import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLogRecord, encodeLogRecord } from './log-record.ts'

const code = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
const image = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined })
const change = fc.record({ path: code, before: image, after: image })

describe('a log record', () => {
  it('log-record/R1: is read as it was written', () => {
    fc.assert(
      fc.property(
        fc
          .record(
            {
              transaction: fc.uint8Array({ maxLength: 20 }),
              groups: fc.array(code, { maxLength: 4 }),
              shared: fc.record({ commit: code, epoch: fc.nat() }),
            },
            { requiredKeys: ['transaction', 'groups'] },
          )
          .map(({ shared, ...head }) => ({ ...head, ...shared })),
        change,
        fc.array(change, { maxLength: 4 }),
        (head, first, others) => {
          const { changes, ...read } = decodeLogRecord(encodeLogRecord(head, [first, ...others]))
          expect({ ...read, transaction: [...read.transaction] }).toEqual({
            ...head,
            transaction: [...head.transaction],
          })
          const plain = [first, ...others].map(({ path, before, after }) => [
            path,
            before && [...before],
            after && [...after],
          ])
          expect(changes.map(({ path, before, after }) => [path, before && [...before], after && [...after]])).toEqual(
            plain,
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('shares its buffer with few others: a cell that is kept keeps all of it', () => {
    const head = { transaction: new Uint8Array(), groups: [] }
    for (const length of [1, 300, 900, 5000, 100_000]) {
      const record = encodeLogRecord(head, [{ path: 'p', before: undefined, after: new Uint8Array(length) }])
      expect(record.buffer.byteLength).toBeLessThanOrEqual(Math.max(8192, record.length))
    }
  })
})
