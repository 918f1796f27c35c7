/** Values and properties of a written entity. */
import type { Plain } from '../../support/published-protos.ts'
import {
  type Answers,
  array,
  commit,
  entity,
  incomplete,
  integer,
  invalid,
  named,
  ok,
  type Row,
  string,
  times,
} from './row.ts'

/** The value as property "v". */
function value(number: number, input: string, itsValue: Plain, answers: Answers): Row {
  return property(number, input, 'v', itsValue, answers)
}

function property(number: number, input: string, name: string, itsValue: Plain, answers: Answers): Row {
  const request = commit({ upsert: entity(named('n'), { [name]: itsValue }) })
  return { number, input, method: 'Commit', request, ...answers }
}

const unindexed = { excludeFromIndexes: true }
const text = (length: number, more: Plain = {}): Plain => string('x'.repeat(length), more)
const timestamp = (seconds: string, nanos = 0): Plain => ({ timestampValue: { seconds, nanos } })
const embedded = (properties: Plain): Plain => ({ entityValue: { properties } })

function nested(levels: number): Plain {
  return levels === 0 ? integer() : embedded({ v: nested(levels - 1) })
}

/** The emulator of old keeps values of any size; ours follows production in both modes. */
const tooLong: Answers = invalid(/"v".*1048487/s, { legacy: 'OK' })
const tooManyEntries: Answers = invalid(/20000/, { legacy: 'OK' })
const notInJson = 'JSON has no such timestamp'

export const valueRows: readonly Row[] = [
  value(68, 'no type', {}, invalid(/"v"/)),
  value(69, 'string of 1500 bytes', text(1500), ok),
  value(70, 'string of 1501 bytes', text(1501), invalid(/"v".*1501.*1500/)),
  value(71, 'string of 1501 bytes, unindexed', text(1501, unindexed), ok),
  value(72, 'string of 1500 letters in 3000 bytes', string('ä'.repeat(1500)), invalid(/"v".*3000.*1500/)),
  value(73, 'blob of 1501 bytes', { blobValue: Buffer.alloc(1501) }, invalid(/"v".*1501.*1500/)),
  value(74, 'string of 1,000,000 bytes, unindexed', text(1_000_000, unindexed), ok),
  value(75, 'string of 1,048,400 bytes, unindexed', text(1_048_400, unindexed), ok),
  value(76, 'string of 1,048,487 bytes, unindexed', text(1_048_487, unindexed), ok),
  value(77, 'string of 1,048,600 bytes, unindexed', text(1_048_600, unindexed), tooLong),
  value(78, 'string of 2 MB, unindexed', text(2_000_000, unindexed), tooLong),
  value(79, 'array in an array', array(array(integer())), invalid(/"v".*array/)),
  value(80, 'array, unindexed', { ...array(integer()), ...unindexed }, invalid(/"v".*array/)),
  value(81, 'array with a meaning', { ...array(integer()), meaning: 9 }, invalid(/"v".*meaning/)),
  value(82, 'latitude 91', { geoPointValue: { latitude: 91, longitude: 0 } }, invalid(/"v".*latitude.*91/)),
  value(83, 'longitude 181', { geoPointValue: { latitude: 0, longitude: 181 } }, invalid(/"v".*longitude.*181/)),
  value(84, 'timestamp of 10^9 nanoseconds', timestamp('0', 1_000_000_000), invalid(/"v".*1000000000/, { notInJson })),
  value(85, 'timestamp in the year 10000', timestamp('253402300800'), invalid(/"v"/, { notInJson })),
  value(86, 'timestamp in the year 0', timestamp('-62135596801'), invalid(/"v"/, { notInJson })),
  value(87, 'key that is incomplete', { keyValue: incomplete }, invalid(/neither id nor name|incomplete/)),
  value(88, 'key of another project', { keyValue: { partitionId: { projectId: 'q' }, ...named('n') } }, ok),
  value(89, 'entity with a reserved property', embedded({ __x__: integer() }), invalid(/"?__x__"?.*reserved/)),
  value(90, 'entity with a string of 1501 bytes', embedded({ w: text(1501) }), invalid(/w.*1501.*1500/)),
  value(91, 'entities in 20 levels', nested(20), ok),
  value(92, 'entities in 21 levels', nested(21), invalid(/20/)),
  value(93, 'meaning 18', integerWithMeaning(18), invalid(/"v".*meaning 18/)),
  value(94, 'meaning 15, indexed', string('x', { meaning: 15 }), invalid(/"v".*meaning 15/)),
  value(95, 'meaning 99', integerWithMeaning(99), invalid(/"v".*meaning 99/)),
  property(96, 'property name empty', '', integer(), invalid(/property.*name.*empty|empty.*name/)),
  property(97, 'property name of 1501 bytes', 'p'.repeat(1501), integer(), invalid(/1501.*1500/)),
  property(98, 'property name reserved', '__x__', integer(), invalid(/"__x__".*reserved/)),
  property(99, 'property name __key__', '__key__', integer(), invalid(/"__key__".*reserved/)),
  property(100, 'property name with a dot', 'a.b', integer(), ok),
  value(101, '20,001 indexed values', array(...times(20_001, integer)), tooManyEntries),
  value(102, '40,001 indexed values', array(...times(40_001, integer)), tooManyEntries),
]

function integerWithMeaning(meaning: number): Plain {
  return { ...integer(), meaning }
}
