import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decompressed } from './gzip.ts'

const megabyte = 1024 * 1024
const bomb = gzipSync(Buffer.alloc(8 * megabyte))
const tooLarge = (): Error => new Error('too large')

describe('the bytes of a result', () => {
  test('a request is given up where it passes its limit', async () => {
    let taken = 0
    const take = (bytes: number): void => {
      taken += bytes
    }
    await expect(decompressed(bomb, { bytesMax: megabyte, tooLarge, take })).rejects.toThrow('too large')
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThanOrEqual(megabyte)
  })

  test('it is given up where what is told of it throws, and is told of nothing more', async () => {
    let told = 0
    const take = (bytes: number): void => {
      told += bytes
      if (told > megabyte) throw new Error('no room')
    }
    await expect(decompressed(bomb, { bytesMax: 100 * megabyte, tooLarge, take })).rejects.toThrow('no room')
    const after = told
    await decompressed(gzipSync('x'), { bytesMax: 10, tooLarge, take: () => {} })
    expect(told).toBe(after)
    expect(told).toBeLessThan(2 * megabyte)
  })

  test('one that is whole has told of all its bytes', async () => {
    let taken = 0
    const take = (bytes: number): void => {
      taken += bytes
    }
    expect(await decompressed(bomb, { bytesMax: 8 * megabyte, tooLarge, take })).toHaveLength(8 * megabyte)
    expect(taken).toBe(8 * megabyte)
  })
})

describe('Z2', () => {
  test('of many that come together only a few hold bytes at a time', async () => {
    let held = 0
    let most = 0
    const one = async (): Promise<void> => {
      let own = 0
      const take = (bytes: number): void => {
        own += bytes
        held += bytes
        most = Math.max(most, held)
      }
      await decompressed(bomb, { bytesMax: 8 * megabyte, tooLarge, take })
      held -= own
    }
    await Promise.all(Array.from({ length: 20 }, one))
    expect(most).toBeLessThanOrEqual(3 * 8 * megabyte)
  })

  test('a small one goes before large ones that came first', async () => {
    const ended: string[] = []
    const limits = { bytesMax: 8 * megabyte, tooLarge, take: () => {} }
    const large = Array.from({ length: 10 }, () => decompressed(bomb, limits).then(() => ended.push('large')))
    const small = decompressed(gzipSync('small'), limits).then(() => ended.push('small'))
    await Promise.all([...large, small])
    expect(ended.indexOf('small')).toBeLessThan(4)
  })

  test('one that fails gives its place to the next', async () => {
    const limits = { bytesMax: megabyte, tooLarge, take: () => {} }
    const failing = Array.from({ length: 10 }, (_, i) =>
      decompressed(i % 2 === 0 ? bomb : Buffer.from('no gzip'), limits),
    )
    expect((await Promise.allSettled(failing)).every(({ status }) => status === 'rejected')).toBe(true)
    expect(String(await decompressed(gzipSync('still'), limits))).toBe('still')
  })
})
