import { describe, expect, test } from 'vitest'
import { systemScheduler } from '../clock.ts'
import { RecordingLedger, requestContext } from '../context.ts'
import type { Kv, KvWrite } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { decodeCounter, encodeCounter } from '../tables/id-sequences.ts'
import { atOnce } from '../testing/at-once.ts'
import { exactBlocks, growingBlocks, IdSequence } from './id-sequence.ts'
import { counterMax } from './scatter.ts'

const rowKey = 'I-row'
const context = requestContext({ clock: systemScheduler })

function rowOf(kv: MemoryKv): number | undefined {
  const row = kv.get(rowKey)
  return row === undefined ? undefined : Number(decodeCounter(row))
}

function open(kv: Kv, blocks = growingBlocks): IdSequence {
  return new IdSequence({ kv, rowKey, space: 'sequential', blocks })
}

/** A store whose conditional writes wait until they are let go, one by one. */
class HeldKv extends MemoryKv {
  readonly held: (() => void)[] = []
  failNext = false

  override mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
    return new Promise((resolve, reject) => {
      this.held.push(() => {
        try {
          if (this.failNext) throw new Error('no disk')
          resolve(super.mutateIf(write, expected))
        } catch (error) {
          this.failNext = false
          reject(error)
        }
      })
    }) as unknown as boolean
  }

  /** Lets the writes go that are held now and later, until none is left. */
  async letAllGo(): Promise<number> {
    let writes = 0
    for (let idle = 0; idle < 3; idle++) {
      await new Promise((resolve) => setImmediate(resolve))
      const write = this.held.shift()
      if (write === undefined) continue
      write()
      writes++
      idle = -1
    }
    return writes
  }
}

describe('a sequence of ids', () => {
  test('gives 1, 2, 3 … at once from a store that answers at once', () => {
    const sequence = open(new MemoryKv())
    expect(sequence.take(context, 1)).toEqual([1])
    expect(sequence.take(context, 3)).toEqual([2, 3, 4])
    expect(sequence.peek(context)).toBe(5)
  })

  test('blocks double with demand, up to the largest', () => {
    const kv = new MemoryKv()
    const sequence = open(kv, { firstSize: 2, maxSize: 8 })
    const rows: unknown[] = []
    for (let i = 0; i < 23; i++) {
      atOnce(sequence.take(context, 1))
      if (rows.at(-1) !== rowOf(kv)) rows.push(rowOf(kv))
    }
    expect(rows).toEqual([3, 7, 15, 23, 31])
  })

  test('a call for more than a block takes what it needs in one write', () => {
    const kv = new MemoryKv()
    const ledger = new RecordingLedger()
    const sequence = open(kv)
    atOnce(sequence.take(context, 3))
    const numbers = sequence.take(requestContext({ clock: systemScheduler, ledger }), 500)
    expect(numbers).toEqual(Array.from({ length: 500 }, (_, i) => i + 4))
    expect(ledger.entries.map((e) => [e.table, e.operation, e.rows])).toEqual([['IdSequences', 'put', 1]])
  })

  test('a crash loses the rest of the block, and no more', () => {
    const kv = new MemoryKv()
    atOnce(open(kv).take(context, 5))
    expect(open(kv).take(context, 1)).toEqual([17])
  })

  test('a close gives the rest of the block back', () => {
    const kv = new MemoryKv()
    const sequence = open(kv)
    atOnce(sequence.take(context, 5))
    atOnce(sequence.release(context))
    expect(rowOf(kv)).toBe(6)
    expect(open(kv).take(context, 1)).toEqual([6])
  })

  test('a close gives nothing back when another allocator has moved the row', () => {
    const kv = new MemoryKv()
    const [one, other] = [open(kv), open(kv)]
    atOnce(one.take(context, 5))
    expect(other.take(context, 1)).toEqual([17])
    atOnce(one.release(context))
    expect(rowOf(kv)).toBe(33)
    atOnce(other.release(context))
    expect(rowOf(kv)).toBe(18)
  })

  test('a close gives nothing back over the numbers of another allocator, even when it has seen them', () => {
    const kv = new MemoryKv([{ key: rowKey, value: encodeCounter(BigInt(counterMax.sequential - 19)) }])
    const [one, other] = [open(kv), open(kv)]
    atOnce(one.take(context, 1))
    atOnce(other.take(context, 1))
    expect(() => one.take(context, 18)).toThrow('used up')
    atOnce(one.release(context))
    expect(rowOf(kv)).toBe(counterMax.sequential + 1)
  })

  test('in exact mode nothing is kept in hand', () => {
    const kv = new MemoryKv()
    const [one, other] = [open(kv, exactBlocks), open(kv, exactBlocks)]
    expect(one.take(context, 1)).toEqual([1])
    expect(other.take(context, 2)).toEqual([2, 3])
    atOnce(other.skipPast(context, 10))
    expect(one.take(context, 1)).toEqual([11])
    expect(rowOf(kv)).toBe(12)
  })

  test('callers that wait share a refill and are served in order', async () => {
    for (const blocks of [exactBlocks, growingBlocks]) {
      const kv = new HeldKv()
      const sequence = open(kv, blocks)
      const answers: number[] = []
      const calls = Array.from({ length: 100 }, () =>
        Promise.resolve(sequence.take(context, 1)).then((numbers) => answers.push(...numbers)),
      )
      const writes = await kv.letAllGo()
      await Promise.all(calls)
      expect(answers).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
      // The first call, then all others at once.
      expect(writes).toBe(2)
    }
  })

  test('a call behind a waiting one waits too, even with enough in hand', async () => {
    const kv = new HeldKv()
    const sequence = open(kv, { firstSize: 4, maxSize: 4 })
    const first = sequence.take(context, 1)
    await kv.letAllGo()
    expect(await first).toEqual([1])
    const large = sequence.take(context, 10)
    const small = sequence.take(context, 1)
    await kv.letAllGo()
    expect([await large, await small]).toEqual([[2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [12]])
  })

  test('a failed refill fails its caller and not the next one', async () => {
    let broken = true
    class FailingKv extends MemoryKv {
      override mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
        if (broken) throw new Error('no disk')
        return super.mutateIf(write, expected)
      }
    }
    const sequence = open(new FailingKv())
    expect(() => sequence.take(context, 1)).toThrow('no disk')
    broken = false
    expect(sequence.take(context, 1)).toEqual([1])

    const held = new HeldKv()
    const waiting = open(held)
    held.failNext = true
    const answers = Promise.allSettled([waiting.take(context, 1), waiting.take(context, 1)])
    await held.letAllGo()
    expect(await answers).toEqual([
      { status: 'rejected', reason: new Error('no disk') },
      { status: 'fulfilled', value: [1] },
    ])
  })

  test('a write that failed after it was done costs its numbers and nothing else', () => {
    let broken = true
    class UnsureKv extends MemoryKv {
      override mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
        const done = super.mutateIf(write, expected)
        if (broken) throw new Error('lost the answer')
        return done
      }
    }
    const sequence = open(new UnsureKv())
    expect(() => sequence.take(context, 1)).toThrow('lost the answer')
    broken = false
    expect(sequence.take(context, 1)).toEqual([17])
  })

  test('the last number of the space is given, and none after it', () => {
    const kv = new MemoryKv([{ key: rowKey, value: encodeCounter(BigInt(counterMax.sequential - 2)) }])
    const sequence = open(kv)
    expect(() => sequence.take(context, 4)).toThrow(expect.objectContaining({ code: 'RESOURCE_EXHAUSTED' }))
    expect(sequence.take(context, 2)).toEqual([counterMax.sequential - 2, counterMax.sequential - 1])
    expect(() => sequence.takeRun(context, 2)).toThrow('used up')
    expect(sequence.takeRun(context, 1)).toBe(counterMax.sequential)
    expect(() => sequence.take(context, 1)).toThrow('used up')
    expect(rowOf(kv)).toBe(counterMax.sequential + 1)
  })

  test('a run in one piece does not tear on numbers of another allocator', () => {
    const kv = new MemoryKv()
    const [one, other] = [open(kv), open(kv)]
    atOnce(one.take(context, 10))
    expect(other.take(context, 1)).toEqual([17])
    expect(one.takeRun(context, 6)).toBe(11)
    atOnce(one.skipPast(context, 0))
    expect(one.takeRun(context, 6)).toBe(33)
    expect(other.takeRun(context, 20)).toBe(39)
  })

  test('a run goes on from the rest of the block when no caller is behind it', () => {
    const kv = new MemoryKv()
    const sequence = open(kv)
    atOnce(sequence.take(context, 10))
    expect(sequence.takeRun(context, 50)).toBe(11)
    expect(sequence.take(context, 1)).toEqual([61])
  })
})
