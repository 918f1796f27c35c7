import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { names } from '../../test/support/arbitraries.ts'
import { formatPropertyPath, parsePropertyPath } from './property-path.ts'

const parse = (text: string): readonly string[] => parsePropertyPath(text, 'the mask')

describe('a property path', () => {
  test.each([
    ['a', ['a']],
    ['a.b.c', ['a', 'b', 'c']],
    ['first name.größe', ['first name', 'größe']],
    ['1a.*.a[0]', ['1a', '*', 'a[0]']],
    ['__a.b__', ['__a', 'b__']],
    // Escaped, as the API's comments say.
    ['a\\.b', ['a.b']],
    ['a\\\\b.c', ['a\\b', 'c']],
    ['\\.', ['.']],
    ['a`b', ['a`b']],
    // Quoted, as the newer emulator wants it.
    ['`a.b`', ['a.b']],
    ['`a`.b', ['a', 'b']],
    ['a.`b c`', ['a', 'b c']],
    ['`a\\`b\\\\c`', ['a`b\\c']],
    [Array.from({ length: 20 }, () => 'a').join('.'), Array.from({ length: 20 }, () => 'a')],
    ['x'.repeat(1500), ['x'.repeat(1500)]],
  ])('%j has the names %j', (text, expected) => {
    expect(parse(text)).toEqual(expected)
  })

  test.each([
    ['', 'empty path'],
    ['.', 'empty name'],
    ['a.', 'empty name'],
    ['.a', 'empty name'],
    ['a..b', 'empty name'],
    ['``', 'empty name'],
    ['a\\', 'ends in a backslash'],
    ['a\\b', 'a backslash stands before "b"'],
    ['`', 'not closed'],
    ['`a', 'not closed'],
    ['`a`b', 'only a dot'],
    ['`a\\n`', 'a backslash stands before "n"'],
    ['__x__', 'reserved'],
    ['a.__x__', 'reserved'],
    ['__key__.a', 'reserved'],
    ['`__x__`', 'reserved'],
    ['x'.repeat(1501), '1501 bytes'],
    ['ä'.repeat(751), '1502 bytes'],
    [Array.from({ length: 21 }, () => 'a').join('.'), '21 names, at most 20'],
  ])('%j is refused', (text, why) => {
    expect(() => parse(text)).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(why) }),
    )
  })

  test('written and read again has the same names', () => {
    const anyNames = fc.oneof(
      names,
      fc.string({ unit: fc.constantFrom('a', '.', '\\', '`'), minLength: 1, maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(anyNames, { minLength: 1, maxLength: 4 }), (path) => {
        expect(parse(formatPropertyPath(path))).toEqual(path)
      }),
      { numRuns: 300 },
    )
  })
})
