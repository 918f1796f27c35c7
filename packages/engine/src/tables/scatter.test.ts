import { describe, expect, test } from 'vitest'
import { hexOf } from '../encoding/bytes.ts'
import { pathCode } from '../encoding/key-codec.ts'
import type { PathElement } from '../model/key.ts'
import { scatterOf } from './scatter.ts'

function legacy(...path: readonly PathElement[]): string | undefined {
  const value = scatterOf(pathCode(path), 'legacy')
  return value === undefined ? undefined : hexOf(value, '')
}

describe('the scatter value', () => {
  test('of the legacy way is that of the worked examples', () => {
    expect(legacy({ kind: 'A', id: 236n })).toBe('0116')
    expect(legacy({ kind: 'A', id: 7n }, { kind: 'B', id: 59n })).toBe('072b')
    expect(legacy({ kind: 'A', name: 'k1' })).toBe('07f7')
  })

  test('of the legacy way is on about half of all entities', () => {
    const paths = Array.from({ length: 2000 }, (_, i) => pathCode([{ kind: 'A', id: BigInt(i + 1) }]))
    const sampled = paths.filter((path) => scatterOf(path, 'legacy') !== undefined).length
    expect(sampled).toBeGreaterThan(900)
    expect(sampled).toBeLessThan(1100)
  })

  test('of the sparse way is on about one in 128 entities, spread over ids and over values', () => {
    const paths = Array.from({ length: 64_000 }, (_, i) => pathCode([{ kind: 'A', id: BigInt(i + 1) }]))
    const sampled = paths.flatMap((path, i) => {
      const value = scatterOf(path, 'sparse')
      return value === undefined ? [] : [{ i, first: value[0] ?? 0 }]
    })
    expect(sampled.length).toBeGreaterThan(400)
    expect(sampled.length).toBeLessThan(600)
    for (let eighth = 0; eighth < 8; eighth++) {
      expect(sampled.filter(({ i }) => Math.floor(i / 8000) === eighth).length).toBeGreaterThan(30)
      expect(sampled.filter(({ first }) => first >> 5 === eighth).length).toBeGreaterThan(30)
    }
  })
})
