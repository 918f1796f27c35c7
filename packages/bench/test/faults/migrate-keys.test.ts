import { migrateKeys } from '../../src/labs/migrate-keys.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const mislabelled = (arm: string, other: string): Fault => ({
  fault: `${other} runs under the name of ${arm}`,
  as: { [arm]: other },
})
const hot = "one tablet carries nearly all of the load, and what is above its server's capacity is refused"
const spread = 'the load is spread over tablets, and served'
const back = 'each number has a key of its own, which tells the number'

faultsOf(
  migrateKeys,
  {
    [`int-ids: ${hot}`]: mislabelled('int-ids', 'permuted-ids'),
    [`decimal-names: ${hot}`]: mislabelled('decimal-names', 'permuted-names'),
    [`permuted-ids: ${spread}`]: mislabelled('permuted-ids', 'int-ids'),
    [`permuted-names: ${spread}`]: mislabelled('permuted-names', 'decimal-names'),
    [`permuted-ids: ${back}`]: mislabelled('permuted-ids', 'short-hash'),
    [`permuted-names: ${back}`]: mislabelled('permuted-names', 'short-hash'),
    'short-hash: spreads as well, but overwrites rows and has no way back': mislabelled('short-hash', 'permuted-names'),
    'unreserved: new entities are given the ids of old rows, and fail': {
      fault: 'the engine takes the next free id instead of failing, as production does today',
      engine: { idCollisions: 'next' },
    },
    'reserved: no new id collides': mislabelled('reserved', 'unreserved'),
    'allocated-names: an allocated id, enciphered, never makes the name of an old row': {
      fault: 'reserving moves no counter',
      hook: ({ database }) =>
        spoil(
          database,
          'allocateIdRange',
          (sound) => (context, of, range) => sound(context, { ...of, path: [{ kind: 'Other' }] }, range),
        ),
    },
    'counted-names: numbers that begin anew make the names of old rows': mislabelled(
      'counted-names',
      'allocated-names',
    ),
  },
  { settings: { 'load.slotMs': 40_000 }, isDear: true },
)
