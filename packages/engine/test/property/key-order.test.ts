/** The order of codes of keys, and their prefixes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { invert } from '../../src/encoding/bytes.ts'
import {
  ancestorPrefixes,
  databaseCode,
  decodeKeyCode,
  decodePartition,
  decodePath,
  keyCode,
  keyCodes,
  keyCodesOfPath,
  partitionCode,
  pathCode,
  pathEnd,
  pathLength,
  pathPrefix,
  rootPath,
  skipPartition,
  skipPath,
} from '../../src/encoding/key-codec.ts'
import { encodeText } from '../../src/encoding/ordered.ts'
import type { Key, PathElement } from '../../src/model/key.ts'
import { anyKeys, anyPartitions, anyPaths, anyTexts, int64s } from '../support/arbitraries.ts'
import { compareKeys, comparePartitions } from './model-order.ts'
import { holdsFor } from './order-laws.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const keyOf = (path: readonly PathElement[]): Key => ({ partition, path })
const comparePaths = (a: readonly PathElement[], b: readonly PathElement[]): number => compareKeys(keyOf(a), keyOf(b))

/** Paths of elements so alike that one is often the other's ancestor. */
const relatedPaths: fc.Arbitrary<PathElement[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('A', 'A\u0000', 'B'), id: fc.constantFrom(-1n, 0n, 1n) }),
    fc.record({ kind: fc.constantFrom('A', 'A\u0000', 'B'), name: fc.constantFrom('', 'a', '\uffff', '\u{1f600}') }),
  ),
  { minLength: 1, maxLength: 3 },
)

describe('partitions', () => {
  test('codes of partitions obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: anyPartitions, encode: partitionCode, compare: comparePartitions })
  })

  test('a partition is decoded and skipped from among other codes, and starts with its database', () => {
    fc.assert(
      fc.property(anyTexts, anyPartitions, (before, value) => {
        const start = encodeText(before)
        const code = start + partitionCode(value) + start
        const next = start.length + partitionCode(value).length
        expect(decodePartition(code, start.length)).toEqual({ value, next })
        expect(skipPartition(code, start.length)).toBe(next)
        expect(partitionCode(value).startsWith(databaseCode(value.projectId, value.databaseId))).toBe(true)
      }),
    )
  })
})

describe('paths', () => {
  test('codes of paths obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: anyPaths, encode: pathCode, compare: comparePaths })
    holdsFor({ values: relatedPaths, encode: pathCode, compare: comparePaths })
  })

  test('a path is decoded and skipped from among other codes', () => {
    fc.assert(
      fc.property(anyTexts, anyPaths, (before, path) => {
        const start = encodeText(before)
        const code = start + pathCode(path) + pathCode(path)
        const next = start.length + pathCode(path).length
        expect(decodePath(code, start.length)).toEqual({ path, next })
        expect(skipPath(code, start.length)).toBe(next)
        expect(skipPath(invert(code), start.length, true)).toBe(next)
        expect(pathLength(code, start.length)).toBe(path.length)
      }),
    )
  })

  test('a path of a hundred elements is decoded as it was', () => {
    fc.assert(
      fc.property(fc.array(int64s, { minLength: 100, maxLength: 100 }), (ids) => {
        const path = ids.map((id) => ({ kind: 'A', id }))
        expect(decodePath(pathCode(path), 0).path).toEqual(path)
      }),
      { numRuns: runs(20) },
    )
  })

  test('a path code starts with a path prefix exactly if the path starts with that path', () => {
    const isUnder = (path: readonly PathElement[], ancestor: readonly PathElement[]): boolean =>
      path.length >= ancestor.length && comparePaths(path.slice(0, ancestor.length), ancestor) === 0
    fc.assert(
      fc.property(relatedPaths, relatedPaths, (path, ancestor) => {
        const prefix = pathPrefix(ancestor)
        const code = pathCode(path)
        expect(code.startsWith(prefix)).toBe(isUnder(path, ancestor))
        expect(code >= prefix && code < `${prefix}\xff`).toBe(isUnder(path, ancestor))
      }),
      { numRuns: runs(500) },
    )
  })

  test('the prefixes in a path code are those of its ancestors and itself', () => {
    fc.assert(
      fc.property(anyPaths, (path) => {
        const prefixes = path.map((_, i) => pathPrefix(path.slice(0, i + 1)))
        expect(ancestorPrefixes(pathCode(path))).toEqual(prefixes)
        expect(rootPath(pathCode(path))).toBe(`${prefixes[0]}${pathEnd}`)
      }),
    )
  })
})

describe('keys', () => {
  test('codes of keys obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: anyKeys, encode: keyCode, compare: compareKeys })
  })

  test('a key is decoded as it was', () => {
    fc.assert(
      fc.property(anyKeys, (key) => {
        const code = keyCode(key)
        expect(decodeKeyCode(code, 0)).toEqual({ value: key, next: code.length })
      }),
    )
  })

  test('the codes of a key follow from those of its partition and path', () => {
    fc.assert(
      fc.property(anyKeys, (key) => {
        expect(keyCodesOfPath(partitionCode(key.partition), pathCode(key.path))).toEqual(keyCodes(key))
      }),
    )
  })
})
