import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DeferredLogRecord, decodeLogRecord } from './log-record.ts'

const code = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
const image = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined })
const change = fc.record({ path: code, before: image, after: image })

describe('a log record', () => {
  it('log-record/R1: has the length that was said, and is read as it was written', () => {
    fc.assert(
      fc.property(
        fc.record({
          state: fc.constantFrom('committed' as const, 'prepared' as const),
          transaction: fc.uint8Array({ maxLength: 20 }),
          groups: fc.array(code, { maxLength: 4 }),
        }),
        change,
        fc.array(change, { maxLength: 4 }),
        (head, first, others) => {
          const record = new DeferredLogRecord(head, first.path, first.before, first.after, others)
          const bytes = record.bytes()
          expect(bytes.length).toBe(record.length)
          const { changes, ...read } = decodeLogRecord(bytes)
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
          expect(record.changes).toEqual([first, ...others])
        },
      ),
      { numRuns: 200 },
    )
  })
})
