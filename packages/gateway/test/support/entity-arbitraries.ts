/**
 * Entities for property tests, weighted to where texts and numbers break on their way through a file: quotes, line breaks,
 * characters that readers of YAML or CSV treat apart, texts that look like numbers, extreme numbers.
 */
import type { PartitionId, PathElement, Value } from '@sixtables/engine'
import fc from 'fast-check'

const oddTexts = [
  '',
  ' ',
  ' a ',
  'a\nb',
  'a\r\nb\r',
  '\t',
  '\u0000',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\ufffe',
  '\u{1f600}',
  'null',
  '~',
  'true',
  'no',
  '5',
  '-0',
  '007',
  '1e3',
  '1.5',
  '.5',
  '.nan',
  '0x1F',
  '2026-11-21',
  '"quoted"',
  "'",
  '{',
  '[a]',
  '# no comment',
  '- a',
  'a: b',
  'a,b;c',
  '&x',
  '*x',
  '<<',
  '!t',
  '|',
  '>',
  '%',
  '@',
  '\\',
  '$key',
  'a:string',
  '=1+1',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the notation of fixtures
  '${n}',
  'constructor',
  'toString',
] as const

const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...oddTexts), fc.constantFrom(...oddTexts)).map((two) => two.join('')),
  },
)

const names = texts.filter((text) => text !== '' && !/^__.*__$/s.test(text))

const ids = fc.oneof(fc.bigInt({ min: 1n, max: 3n }), fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }))

/** Complete paths of one to three elements. */
export const paths: fc.Arbitrary<PathElement[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.oneof(fc.constant('A'), names), id: ids }),
    fc.record({ kind: fc.oneof(fc.constant('A'), names), name: names }),
  ),
  { minLength: 1, maxLength: 3 },
)

const partitions: fc.Arbitrary<PartitionId> = fc.record({
  projectId: fc.constantFrom('p', 'p', 'other'),
  databaseId: fc.constantFrom('', '', 'd'),
  namespaceId: fc.constantFrom('', '', 'n'),
})

const doubles = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.MIN_VALUE,
    2 ** 53 + 2,
  ),
  fc.double(),
)

const scalars: fc.Arbitrary<Value> = fc.oneof(
  fc.constant<Value>({ type: 'null' }),
  fc.boolean().map((value): Value => ({ type: 'boolean', value })),
  fc
    .oneof(fc.bigInt({ min: -3n, max: 3n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
    .map((value): Value => ({ type: 'integer', value })),
  doubles.map((value): Value => ({ type: 'double', value })),
  { weight: 3, arbitrary: texts.map((value): Value => ({ type: 'string', value })) },
  fc.uint8Array({ maxLength: 5 }).map((value): Value => ({ type: 'blob', value: new Uint8Array(value) })),
  fc
    .oneof(
      fc.bigInt({ min: -3n, max: 3n }),
      fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }),
    )
    .map((micros): Value => ({ type: 'timestamp', micros })),
  fc
    .tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true }))
    .map(([latitude, longitude]): Value => ({ type: 'geoPoint', latitude, longitude })),
  fc.record({ partition: partitions, path: paths }).map((key): Value => ({ type: 'key', key })),
  fc.integer({ min: 0, max: 100 }).map((rating): Value => ({ type: 'integer', value: BigInt(rating), meaning: 13 })),
  texts.map((value): Value => ({ type: 'string', value, meaning: 15, excludeFromIndexes: true })),
)

const vectors: fc.Arbitrary<Value> = fc.array(doubles, { minLength: 1, maxLength: 3 }).map(
  (list): Value => ({
    type: 'array',
    meaning: 31,
    excludeFromIndexes: true,
    values: list.map((value): Value => ({ type: 'double', value })),
  }),
)

function excluded(value: Value): Value {
  if (value.type === 'array' && value.meaning === undefined) return { ...value, values: value.values.map(excluded) }
  return { ...value, excludeFromIndexes: true }
}

/** Values as a client may write them: arrays hold no arrays, and exclusion belongs to their elements. */
export const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value; element: Value; entity: Value }>((tie) => ({
  value: fc
    .tuple(
      fc.oneof(
        { maxDepth: 2 },
        { weight: 6, arbitrary: scalars },
        { weight: 1, arbitrary: vectors },
        { weight: 1, arbitrary: tie('entity') },
        {
          weight: 1,
          arbitrary: fc.array(tie('element'), { maxLength: 3 }).map((list): Value => ({ type: 'array', values: list })),
        },
      ),
      fc.boolean(),
    )
    .map(([value, isExcluded]) => (isExcluded ? excluded(value) : value)),
  element: fc
    .tuple(
      fc.oneof({ maxDepth: 2 }, { weight: 6, arbitrary: scalars }, { weight: 1, arbitrary: tie('entity') }),
      fc.boolean(),
    )
    .map(([value, isExcluded]) => (isExcluded ? excluded(value) : value)),
  entity: fc
    .tuple(
      fc.array(fc.tuple(names, tie('value')), { maxLength: 3 }),
      fc.option(fc.record({ partition: partitions, path: paths }), { nil: undefined }),
    )
    .map(([fields, key]): Value => {
      const properties = new Map(fields)
      return key === undefined ? { type: 'entity', properties } : { type: 'entity', key, properties }
    }),
})).value

/** The properties of an entity. */
export const propertyMaps: fc.Arbitrary<Map<string, Value>> = fc
  .array(fc.tuple(names, values), { maxLength: 4 })
  .map((entries) => new Map(entries))
