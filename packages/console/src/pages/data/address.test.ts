import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAddress } from '../../model/route.ts'
import { addressOfOpened, addressOfPlace, movedTo, type Place, placeOf } from './address.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const places: fc.Arbitrary<Place> = fc.record({
  project: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  database: text,
  namespace: text,
  kind: text,
  gql: fc.option(text, { nil: undefined }),
  columns: fc.option(fc.array(text, { maxLength: 3 }), { nil: undefined }),
  isExplained: fc.boolean(),
  opened: fc.option(text, { nil: undefined }),
})

test('an address gives its place back', () => {
  fc.assert(
    fc.property(places, (place) => {
      expect(placeOf(readAddress(addressOfPlace(place)))).toEqual(place)
    }),
  )
})

test('a key leads to its own database and namespace', () => {
  const home = { project: 'p', database: 'd', namespace: 'n' }
  const path = [{ kind: 'K', id: '5' }]
  const open = (partitionId: object | undefined) => addressOfOpened(home, { ...(partitionId && { partitionId }), path })
  expect(open(undefined)).toBe('#/data/p/K?database=d&namespace=n&open=K%3A5')
  expect(open({ projectId: 'p', databaseId: 'd' })).toBe('#/data/p/K?database=d&open=K%3A5')
  expect(open({ projectId: 'p', namespaceId: 'm' })).toBe('#/data/p/K?namespace=m&open=K%3A5')
})

test('another kind has its own columns and query', () => {
  const place = placeOf(readAddress('#/data/p/A?namespace=n&gql=SELECT&columns=["a"]&explain=1'))
  expect(addressOfPlace(movedTo(place, { kind: 'B' }))).toBe('#/data/p/B?namespace=n&explain=1')
  expect(placeOf(readAddress('#/data/p/A?columns=oops')).columns).toBeUndefined()
})
