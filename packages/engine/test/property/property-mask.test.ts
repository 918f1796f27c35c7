import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { decodeProperties, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { cutProperties, mergeProperties, parsePropertyMask } from '../../src/encoding/property-mask.ts'
import { formatPropertyPath } from '../../src/encoding/property-path.ts'
import { propertyMaps } from '../support/arbitraries.ts'
import { comparable, readBack } from '../support/plain-values.ts'
import { maskPaths, modelCut, modelMerge } from './mask-model.ts'

const maskOf = (paths: readonly (readonly string[])[]) => parsePropertyMask(paths.map(formatPropertyPath))

test('a read through a mask gives what is under it', () => {
  fc.assert(
    fc.property(propertyMaps, maskPaths, (stored, paths) => {
      const cut = cutProperties(encodeProperties(stored), maskOf(paths))
      expect(readBack(cut)).toEqual(comparable(modelCut(stored, paths)))
    }),
    { numRuns: runs(300) },
  )
})

test('a read of whole properties gives their bytes', () => {
  fc.assert(
    fc.property(propertyMaps, fc.func(fc.boolean()), (stored, isAsked) => {
      const asked = [...stored].filter(([name]) => isAsked(name))
      const cut = cutProperties(encodeProperties(stored), maskOf(asked.map(([name]) => [name])))
      expect(Buffer.from(cut).equals(encodeProperties(new Map(asked)))).toBe(true)
    }),
    { numRuns: runs(200) },
  )
})

test('a write through a mask changes what is under it and nothing else', () => {
  fc.assert(
    fc.property(propertyMaps, propertyMaps, maskPaths, (stored, written, paths) => {
      const merged = mergeProperties(encodeProperties(stored), encodeProperties(written), maskOf(paths))
      expect(readBack(merged)).toEqual(comparable(modelMerge(stored, written, paths)))
      expect(decodeProperties(merged).size).toBe(modelMerge(stored, written, paths).size)
    }),
    { numRuns: runs(400) },
  )
})

test('a write through a mask, done twice, is the same as done once', () => {
  fc.assert(
    fc.property(propertyMaps, propertyMaps, maskPaths, (stored, written, paths) => {
      const bytes = encodeProperties(written)
      const once = mergeProperties(encodeProperties(stored), bytes, maskOf(paths))
      expect(Buffer.from(mergeProperties(once, bytes, maskOf(paths))).equals(once)).toBe(true)
    }),
    { numRuns: runs(200) },
  )
})
