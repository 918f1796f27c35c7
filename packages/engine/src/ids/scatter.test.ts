import { describe, expect, test } from 'vitest'
import { counterOf, idOfCounter, scatterId, spaceOf } from './scatter.ts'

describe('scatter', () => {
  test.each([
    [1n, 0x14000000000000n],
    [2n, 0x12000000000000n],
    [3n, 6_192_449_487_634_432n],
    [4n, 4_785_074_604_081_152n],
    [5n, 0x15000000000000n],
    [6n, 5_348_024_557_502_464n],
    [7n, 6_473_924_464_345_088n],
    [8n, 4_644_337_115_725_824n],
    [9n, 5_770_237_022_568_448n],
    [16n, 4_573_968_371_548_160n],
    [100n, 4_837_851_162_214_400n],
    [1000n, 0x10be0000000000n],
    [4095n, 0x17ff8000000000n],
    [65_536n, 4_503_616_807_239_680n],
    [1_048_576n, 4_503_600_701_112_320n],
    [2n ** 40n, 0x10000000000400n],
    [2n ** 51n - 2n, 5_629_499_534_213_119n],
    [0n, 2n ** 52n],
  ])('counter %s gives id %s and back', (counter, id) => {
    expect(scatterId(counter)).toBe(id)
    expect(counterOf(id)).toBe(counter)
    expect(idOfCounter('scattered', Number(counter))).toBe(id)
  })

  test('the edges of the spaces are where they should be', () => {
    expect([-1n, 0n, 2n ** 52n + 2n ** 51n, 2n ** 53n, 2n ** 62n].map(spaceOf)).toEqual(new Array(5).fill(undefined))
    expect([1n, 2n ** 52n - 1n].map(spaceOf)).toEqual(['sequential', 'sequential'])
    expect([2n ** 52n, 2n ** 52n + 2n ** 51n - 1n].map(spaceOf)).toEqual(['scattered', 'scattered'])
  })

  test('a number outside the space is refused, never wrapped', () => {
    expect(() => scatterId(-1n)).toThrow('no counter of')
    expect(() => scatterId(2n ** 51n)).toThrow('no counter of')
    expect(() => counterOf(2n ** 52n - 1n)).toThrow('no scattered id')
    expect(() => counterOf(2n ** 52n + 2n ** 51n)).toThrow('no scattered id')
  })
})
