/** Writes: entities of all values; series of commits of all mutations over few keys; and a look at what they left. */
import fc from 'fast-check'
import { answerOf, type Case, type Mode, type Step } from '../case.ts'
import { commitOf, lookup } from './steps.ts'
import {
  anyKey,
  anyProperties,
  anyValue,
  double,
  embedded,
  fewKeys,
  fewScalars,
  instant,
  integer,
  list,
  member,
  mixed,
  nothing,
  stored,
  string,
  type Values,
} from './values.ts'

/** One entity, written and read. */
export const valueCases: fc.Arbitrary<Case> = fc
  .tuple(
    mixed([3, fewKeys], [1, anyKey]),
    mixed([3, fc.dictionary(fc.constantFrom('a', 'b'), anyValue, { minKeys: 1, maxKeys: 2 })], [1, anyProperties]),
    fc.boolean(),
  )
  .map(([key, properties, isAtomic]) => {
    return { steps: [commitOf([{ upsert: { key, properties } }], isAtomic), lookup([key])] }
  })

const names = fc.constantFrom('a', 'b', 'c', 'e', 'e.x')
const properties: Values = fc.record(
  {
    a: stored,
    b: fc.oneof(
      fewScalars,
      fc.array(fewScalars, { maxLength: 3 }).map((values) => list(...values)),
    ),
    c: stored,
    e: fc.oneof(
      fc.record({ x: stored, y: fewScalars }, { requiredKeys: [] }).map((inner) => embedded(inner)),
      fewScalars,
    ),
  },
  { requiredKeys: [] },
)

const operand: Values = mixed(
  [
    6,
    fc.constantFrom(
      ...[1, -2, 0, '9223372036854775807', '-9223372036854775808'].map(integer),
      ...[1.5, Number.NaN, -0, 0].map(double),
    ),
  ],
  [1, fc.constantFrom(string('x'), nothing, instant(1), {}, list(integer(1)))],
)
const members = member('values', fc.array(fewScalars, { maxLength: 3 }))

const transform: Values = fc
  .tuple(
    mixed([8, names], [1, fc.constantFrom('', '__x__', '__key__', 'a..b', '`d e`', 'e.x.y')]),
    fc.oneof<Values[]>(
      ...['increment', 'maximum', 'minimum'].map((name) => member(name, operand)),
      ...['appendMissingElements', 'removeAllFromArray'].map((name) => member(name, members)),
    ),
  )
  .map(([property, what]) => ({ property, ...what }))

const oddPaths = fc.constantFrom('', '__key__', '__x__', 'a..b', '`a`', 'zz', 'e.y', 'e.x.z')
const masks = member('paths', fc.array(mixed([10, names], [1, oddPaths]), { maxLength: 3 }))

const maybe = (arbitrary: Values, weight: number): Values => mixed([10 - weight, fc.constant({})], [weight, arbitrary])

const entities: Values = fc
  .tuple(mixed([12, fewKeys], [1, fc.constant({ path: [{ kind: 'Auto' }] })]), properties)
  .map(([key, itsProperties]) => ({ key, properties: itsProperties }))

/** `earlier` writers stand before: versions and times of their answers are what conflicts are detected by. */
function mutation(earlier: number, mode: Mode): Values {
  const plain: Values = mixed(
    [4, member('upsert', entities)],
    [2, member('insert', entities)],
    [2, member('update', entities)],
    [2, member('delete', fewKeys)],
  )
  const fromEarlier = (part: string): Values =>
    fc.nat({ max: Math.max(0, earlier - 1) }).map((step) => answerOf(step, 'mutationResults', 0, part))
  const detection: Values = fc.oneof<Values[]>(
    member('baseVersion', fc.constantFrom('1', '0', '-1', '4000000000000000')),
    ...(earlier === 0 ? [] : [member('baseVersion', fromEarlier('version'))]),
    ...(earlier === 0 || mode === 'legacy' ? [] : [member('updateTime', fromEarlier('updateTime'))]),
  )
  const strategy: Values = fc.constantFrom(
    {},
    { conflictResolutionStrategy: 'SERVER_VALUE' },
    { conflictResolutionStrategy: 'FAIL' },
  )
  const conflict = fc.tuple(detection, strategy).map(([a, b]) => ({ ...a, ...b }))
  const transforms = fc.array(transform, { minLength: 1, maxLength: 3 })
  const rare = mode === 'firestore' ? 3 : 1
  return fc
    .tuple(
      plain,
      maybe(conflict, 2),
      maybe(member('propertyMask', masks), rare),
      maybe(member('propertyTransforms', transforms), rare),
    )
    .map((parts) => Object.assign({}, ...parts))
}

function commit(earlier: number, mode: Mode): fc.Arbitrary<Step> {
  return fc
    .tuple(fc.array(mutation(earlier, mode), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([mutations, isAtomic]) => commitOf(mutations, isAtomic))
}

const everything = lookup(['1', '2', '3'].map((id) => ({ path: [{ kind: 'K', id }] })))

/** Up to four commits, each with a look at all keys behind it. */
export function commitCases(mode: Mode): fc.Arbitrary<Case> {
  return fc
    .tuple(commit(0, mode), fc.option(commit(1, mode)), fc.option(commit(2, mode)), fc.option(commit(3, mode)))
    .map((commits) => {
      const steps = commits.filter((one): one is Step => one !== null)
      return { steps: [...steps, everything] }
    })
}
