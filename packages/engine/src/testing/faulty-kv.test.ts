import { describe, expect, it } from 'vitest'
import { MemoryKv } from '../storage/memory-kv.ts'
import { FaultyKv } from './faulty-kv.ts'

const put = (key: string) => ({ key, value: Uint8Array.of(1) })
const unavailable = expect.objectContaining({ code: 'UNAVAILABLE' })

describe('a store with a fault', () => {
  it('crashes before the chosen write took effect, and answers nothing after it', async () => {
    const inner = new MemoryKv()
    const kv = new FaultyKv(inner, { kind: 'crash', atWrite: 2 })
    const scan = kv.scan({ start: '', end: 'z' })
    const snapshot = kv.snapshot()
    await kv.mutate(put('a'))
    await expect(kv.batch([put('b')])).rejects.toEqual(unavailable)
    expect(kv.crashed).toBe(true)
    await expect(kv.get('a')).rejects.toEqual(unavailable)
    await expect(kv.scan({ start: '', end: 'z' }).next(1)).rejects.toEqual(unavailable)
    await expect(scan.next(1)).rejects.toEqual(unavailable)
    await expect(snapshot.get('a')).rejects.toEqual(unavailable)
    await expect(kv.mutateIf(put('c'), undefined)).rejects.toEqual(unavailable)
    await expect(kv.clear()).rejects.toEqual(unavailable)
    expect(() => kv.snapshot()).toThrow(unavailable)
    await kv.close()
    expect(inner.get('a')).toEqual(Uint8Array.of(1))
    expect(inner.get('b')).toBeUndefined()
    expect(new FaultyKv(inner).get('a')).toEqual(Uint8Array.of(1))
  })

  it('crashes after the chosen write took effect, which no caller is told', async () => {
    const inner = new MemoryKv()
    const kv = new FaultyKv(inner, { kind: 'crash', atWrite: 1, when: 'after' })
    await expect(kv.mutateIf(put('a'), undefined)).rejects.toEqual(unavailable)
    expect(inner.get('a')).toEqual(Uint8Array.of(1))
    expect(kv.writes).toBe(1)
  })

  it('kv/K5: fails the chosen write, then refuses writes and goes on reading', async () => {
    const kv = new FaultyKv(new MemoryKv(), { kind: 'fail', atWrite: 2 })
    await kv.mutate(put('a'))
    await expect(kv.mutate(put('b'))).rejects.toEqual(unavailable)
    await expect(kv.mutate(put('c'))).rejects.toEqual(unavailable)
    expect(kv.get('a')).toEqual(Uint8Array.of(1))
    expect(kv.get('b')).toBeUndefined()
    expect(kv.crashed).toBe(false)
  })
})
