/** The structure of a Commit: modes, transactions, pairs of mutations, conflicts, masks and transforms. */
import type { Plain } from '../../support/published-protos.ts'
import {
  type Answers,
  atomic,
  commit,
  entity,
  incomplete,
  integer,
  invalid,
  key,
  named,
  ok,
  type RequestOf,
  type Row,
  string,
  times,
  unknownToLegacy,
} from './row.ts'

function row(number: number, input: string, request: RequestOf, answers: Answers): Row {
  return { number, input, method: 'Commit', request, ...answers }
}

const upsert = (name = 'n'): Plain => ({ upsert: entity(named(name)) })
const insert = (name = 'n'): Plain => ({ insert: entity(named(name)) })
const update = (name = 'n'): Plain => ({ update: entity(named(name)) })
const remove = (name = 'n'): Plain => ({ delete: named(name) })
const groups = (count: number): Plain[] => times(count, (i) => ({ upsert: entity(key({ id: `${i + 1}` })) }))

/** A request over an entity K:n that is there already. */
const onPresent = (request: Plain): RequestOf => {
  return async (world) => {
    await world.put(named('n'))
    return request
  }
}

const existing = (more: Partial<Answers> = {}): Answers => ({
  firestore: 'ALREADY_EXISTS',
  names: /insert.*K:"?n"?.*exists/,
  ...more,
})
const missing = (more: Partial<Answers> = {}): Answers => ({
  firestore: 'NOT_FOUND',
  names: /update.*K:"?n"?/,
  ...more,
})
/** A pair of operations on one key that Firestore refuses and legacy plays through. */
const pair = (legacy: 'ALREADY_EXISTS' | 'NOT_FOUND', names: RegExp): Answers =>
  invalid(names, { legacy, oursLegacy: legacy })

const tooManyGroups = (): Answers => ({ ...ok, legacy: 'INVALID_ARGUMENT', oursLegacy: 'INVALID_ARGUMENT' })

const masked = (...paths: string[]): Plain => commit({ ...upsert(), propertyMask: { paths } })
const transformed = (...propertyTransforms: Plain[]): Plain => commit({ ...upsert(), propertyTransforms })
const transforms = (answers: Answers): Answers => ({ ...answers, ...unknownToLegacy })
/** A token of the right form that was never given out: its last byte is changed. */
function unknownToken(token: Buffer): Buffer {
  const copy = Buffer.from(token)
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1)
  return copy
}

export const commitRows: readonly Row[] = [
  row(30, 'empty mutation', commit({}), invalid(/mutation.*operation/)),
  row(31, 'no mutations', commit(), ok),
  row(
    32,
    'mode unspecified, no transaction',
    { mutations: [] },
    invalid(/requires a transaction \(begin one, .* NON_TRANSACTIONAL\)/),
  ),
  row(
    33,
    'transactional, no transaction',
    { mode: 'TRANSACTIONAL' },
    invalid(/requires a transaction \(begin one, .* NON_TRANSACTIONAL\)/),
  ),
  row(
    34,
    'transactional, empty transaction',
    { mode: 'TRANSACTIONAL', transaction: Buffer.alloc(0) },
    invalid(/transaction is empty/),
  ),
  row(
    35,
    'transactional, garbage for a transaction',
    { mode: 'TRANSACTIONAL', transaction: Buffer.from('garbage') },
    invalid(/transaction/),
  ),
  row(
    36,
    'transaction that was never begun',
    async (world) => ({ mode: 'TRANSACTIONAL', transaction: unknownToken(await world.begin()) }),
    invalid(/transaction.*unknown/),
  ),
  row(
    37,
    'non-transactional with a transaction',
    async (world) => ({ ...commit(), transaction: await world.begin() }),
    invalid(/non-transactional.*transaction/),
  ),
  row(
    38,
    'single-use transaction that is read-only',
    { mode: 'TRANSACTIONAL', singleUseTransaction: { readOnly: {} } },
    invalid(/single-use.*read-write/),
  ),
  row(39, 'one key upserted twice', commit(upsert(), upsert()), invalid(/K:"?n"?/)),
  row(40, 'one key upserted and deleted', commit(upsert(), remove()), invalid(/K:"?n"?/)),
  row(41, 'transaction: insert twice', atomic(insert(), insert()), pair('ALREADY_EXISTS', /K:"?n"?/)),
  row(42, 'transaction: upsert, then insert', atomic(upsert(), insert()), pair('ALREADY_EXISTS', /K:"?n"?/)),
  row(43, 'transaction: update, then insert', atomic(update(), insert()), pair('NOT_FOUND', /K:"?n"?/)),
  row(44, 'transaction: delete, then update', atomic(remove(), update()), pair('NOT_FOUND', /K:"?n"?/)),
  row(45, 'transaction: delete, then insert', atomic(remove(), insert()), ok),
  row(46, 'transaction: insert, then update', atomic(insert(), update()), ok),
  row(47, 'transaction: insert, then delete', atomic(insert(), remove()), ok),
  row(48, 'transaction: delete, then upsert', atomic(remove(), upsert()), ok),
  row(49, 'insert of what is there', onPresent(commit(insert())), existing()),
  row(50, 'update of what is not there', commit(update()), missing()),
  row(51, 'transaction: insert of what is there', onPresent(atomic(insert())), existing()),
  row(52, 'transaction: update of what is not there', atomic(update()), missing()),
  row(53, 'base version that differs', onPresent(commit({ ...upsert(), baseVersion: '1' })), ok),
  row(54, 'base version negative', commit({ ...upsert(), baseVersion: '-1' }), invalid(/-1/)),
  row(
    55,
    'base version on an incomplete key',
    commit({ upsert: entity(incomplete), baseVersion: '1' }),
    invalid(/base version/),
  ),
  row(
    56,
    'base version that must not differ',
    onPresent(commit({ ...upsert(), baseVersion: '1', conflictResolutionStrategy: 'FAIL' })),
    { firestore: 'FAILED_PRECONDITION', names: /K:"?n"?.*\b1\b/ },
  ),
  row(
    57,
    'conflict resolution without detection',
    commit({ ...upsert(), conflictResolutionStrategy: 'FAIL' }),
    invalid(/conflict_resolution_strategy/),
  ),
  row(58, '501 mutations', commit(...groups(501)), ok),
  row(59, 'transaction: 501 mutations', atomic(...groups(501)), tooManyGroups()),
  row(60, 'transaction: 26 entity groups', atomic(...groups(26)), tooManyGroups()),
  row(61, 'transaction: 30 entity groups', atomic(...groups(30)), tooManyGroups()),
  row(62, 'mask with a reserved path', masked('__x__'), invalid(/__x__/)),
  row(63, 'mask with an empty path', masked(''), invalid(/mask/)),
  row(
    64,
    'transform: increment by a string',
    transformed({ property: 'n', increment: string('x') }),
    transforms(invalid(/increment/)),
  ),
  row(65, 'transform: increment by an integer', transformed({ property: 'n', increment: integer() }), transforms(ok)),
  row(
    66,
    'transform: server value not chosen',
    transformed({ property: 'n', setToServerValue: 'SERVER_VALUE_UNSPECIFIED' }),
    transforms(invalid(/server value|set_to_server_value/i)),
  ),
  row(
    67,
    'transform on a delete',
    commit({ ...remove(), propertyTransforms: [{ property: 'n', increment: integer() }] }),
    transforms(invalid(/delete/)),
  ),
]
