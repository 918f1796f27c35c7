/** Aggregations, ids, lookups and transactions; and what depends on the state of the store. */
import type { MethodName } from '../../../src/methods.ts'
import type { Plain } from '../../support/published-protos.ts'
import {
  type Answers,
  commit,
  entity,
  fault,
  incomplete,
  invalid,
  key,
  named,
  ok,
  type RequestOf,
  type Row,
  secondsFromNow,
  string,
  times,
  tooOld,
} from './row.ts'

function row(number: number, method: MethodName, input: string, request: RequestOf, answers: Answers): Row {
  return { number, input, method, request, ...answers }
}

/** The emulator of old has no aggregations; ours has them in both modes. */
function aggregation(number: number, input: string, request: Plain, answers: Answers): Row {
  return row(number, 'RunAggregationQuery', input, request, { ...answers, legacy: 'UNIMPLEMENTED' })
}

const nestedQuery = { kind: [{ name: 'K' }] }
const aggregations = (...list: Plain[]): Plain => ({ aggregationQuery: { nestedQuery, aggregations: list } })
const count = { count: {} }

export const aggregationRows: readonly Row[] = [
  aggregation(179, 'no aggregations', aggregations(), invalid(/aggregation/)),
  aggregation(180, 'six aggregations', aggregations(...times(6, () => count)), fault(/6.*5|5.*6/)),
  aggregation(181, 'an alias twice', aggregations({ ...count, alias: 'a' }, { ...count, alias: 'a' }), invalid(/"a"/)),
  aggregation(182, 'a reserved alias', aggregations({ ...count, alias: '__x__' }), invalid(/"__x__"/)),
  aggregation(183, 'up_to negative', aggregations({ count: { upTo: { value: '-1' } } }), invalid(/up_to.*-1/)),
  aggregation(184, 'up_to 0', aggregations({ count: { upTo: { value: '0' } } }), ok),
  aggregation(185, 'no operator', aggregations({ alias: 'a' }), invalid(/operator/)),
  aggregation(186, 'a sum of no property', aggregations({ sum: {} }), invalid(/sum/)),
  aggregation(187, 'a sum of __key__', aggregations({ sum: { property: { name: '__key__' } } }), invalid(/__key__/)),
  aggregation(
    188,
    'a projection below',
    {
      aggregationQuery: {
        nestedQuery: { ...nestedQuery, projection: [{ property: { name: 'v' } }] },
        aggregations: [count],
      },
    },
    ok,
  ),
  aggregation(189, 'no query below', { aggregationQuery: { aggregations: [count] } }, ok),
  aggregation(
    190,
    'GQL without an aggregation',
    { gqlQuery: { queryString: 'SELECT * FROM K' } },
    fault(/RunQuery|aggregat/i),
  ),
  aggregation(191, 'GQL that counts', { gqlQuery: { queryString: 'SELECT COUNT(*) FROM K' } }, ok),
  aggregation(
    192,
    'GQL that counts over a query',
    { gqlQuery: { queryString: 'AGGREGATE COUNT(*) OVER (SELECT * FROM K)' } },
    ok,
  ),
]

const noReservation = (because: string): Answers => ({
  firestore: 'UNKNOWN',
  legacy: 'OK',
  ours: { code: 'OK', because },
})
const neverGiven = 'the id is never given automatically: there is nothing to reserve'

const refusedReservations: readonly (readonly [string, Plain, RegExp])[] = [
  ['kind reserved', key({ kind: '__T__', id: '5' }), /"__T__".*reserved/],
  ['kind of an ancestor reserved', key({ kind: '__T__', id: '5' }, { id: '1' }), /"__T__".*reserved/],
  ['name reserved', named('__n__'), /"__n__".*reserved/],
  ['namespace reserved', { partitionId: { namespaceId: '__a__' }, ...key({ id: '5' }) }, /"__a__".*reserved/],
]

export const idRows: readonly Row[] = [
  row(193, 'AllocateIds', 'complete key', { keys: [key({ id: '1' })] }, invalid(/K:1/)),
  row(194, 'AllocateIds', 'named key', { keys: [named('n')] }, invalid(/K:"?n"?/)),
  row(195, 'AllocateIds', 'no keys', {}, ok),
  row(196, 'AllocateIds', 'reserved kind', { keys: [key({ kind: '__x__' })] }, invalid(/"__x__".*reserved/)),
  row(197, 'AllocateIds', '500 keys', { keys: times(500, () => incomplete) }, ok),
  row(198, 'AllocateIds', '501 keys', { keys: times(501, () => incomplete) }, ok),
  row(199, 'ReserveIds', 'incomplete key', { keys: [incomplete] }, invalid(/neither id nor name|incomplete/)),
  ...refusedReservations.map(([input, itsKey, names]) => ({
    input,
    method: 'ReserveIds' as const,
    request: { keys: [itsKey] },
    ...invalid(names),
  })),
  row(200, 'ReserveIds', 'named key', { keys: [named('n')] }, ok),
  row(
    201,
    'ReserveIds',
    'no keys',
    {},
    { firestore: 'FAILED_PRECONDITION', legacy: 'OK', oursLegacy: 'OK', names: /key/ },
  ),
  row(202, 'ReserveIds', 'id 2^62', { keys: [key({ id: String(2n ** 62n) })] }, noReservation(neverGiven)),
  row(203, 'ReserveIds', 'id negative', { keys: [key({ id: '-5' })] }, noReservation(neverGiven)),
]

export const lookupRows: readonly Row[] = [
  row(
    204,
    'Lookup',
    '1001 keys',
    { keys: times(1001, (i) => key({ id: `${i + 1}` })) },
    {
      ...ok,
      ours: { code: 'INVALID_ARGUMENT', because: 'production refuses more than 1,000, and documents it' },
      names: /1001.*1000/,
    },
  ),
  row(205, 'Lookup', 'a key twice', { keys: [named('n'), named('n')] }, ok),
  row(
    206,
    'Lookup',
    'project missing',
    { projectId: '', keys: [named('n')] },
    {
      ...invalid(/project/, { legacy: 'UNKNOWN' }),
      notOverHttp: 'the path names the project',
    },
  ),
  row(207, 'Lookup', 'project with bad letters', { projectId: 'a b', keys: [named('n')] }, invalid(/"a b".*project/)),
  row(208, 'Lookup', 'named database', { databaseId: 'db2', keys: [named('n')] }, ok),
  row(209, 'Lookup', 'database (default)', { databaseId: '(default)', keys: [named('n')] }, invalid(/"\(default\)"/)),
  row(
    210,
    'Lookup',
    'mask with a bad path',
    { keys: [named('n')], propertyMask: { paths: ['a..b'] } },
    invalid(/"a\.\.b"/),
  ),
  row(
    211,
    'Lookup',
    'read time 30 seconds ago',
    () => ({ keys: [named('n')], readOptions: { readTime: secondsFromNow(-30) } }),
    ok,
  ),
  row(
    212,
    'Lookup',
    'read time finer than microseconds',
    () => ({ keys: [named('n')], readOptions: { readTime: { ...secondsFromNow(-30), nanos: 1 } } }),
    invalid(/microsecond/),
  ),
]

const garbage = Buffer.from('garbage')
/** A token of the right form that was never given out: its last byte is changed. */
const unknown = (token: Buffer): Buffer =>
  Buffer.from(token.map((byte, i) => (i === token.length - 1 ? byte ^ 1 : byte)))
const afterUnknown = (token: Buffer): Plain => ({ transactionOptions: { readWrite: { previousTransaction: token } } })

export const transactionRows: readonly Row[] = [
  row(213, 'Rollback', 'transaction empty', {}, invalid(/transaction is empty/)),
  row(
    214,
    'Rollback',
    'transaction that was never begun',
    async (world) => ({ transaction: unknown(await world.begin()) }),
    invalid(/transaction.*unknown/),
  ),
  row(
    215,
    'BeginTransaction',
    'previous transaction unknown',
    async (world) => afterUnknown(unknown(await world.begin())),
    {
      firestore: 'UNKNOWN',
      legacy: 'OK',
      ours: {
        code: 'OK',
        because: 'the emulator has an unhandled fault; a forgotten one gives no rank, which is no harm',
      },
    },
  ),
  row(
    216,
    'BeginTransaction',
    'previous transaction garbage',
    afterUnknown(garbage),
    invalid(/transaction/, { legacy: 'INTERNAL' }),
  ),
  row(
    217,
    'BeginTransaction',
    'read-only, two hours ago',
    () => ({ transactionOptions: { readOnly: { readTime: secondsFromNow(-7200) } } }),
    tooOld,
  ),
  row(
    218,
    'BeginTransaction',
    'project missing',
    { projectId: '' },
    {
      ...invalid(/project/),
      notOverHttp: 'the path names the project',
    },
  ),
]

function state(input: string, method: MethodName, request: RequestOf, answers: Answers): Row {
  return { input, method, request, ...answers }
}

const write = (transaction: unknown): Plain => ({
  mode: 'TRANSACTIONAL',
  transaction,
  mutations: [{ upsert: entity(named('n')) }],
})

export const stateRows: readonly Row[] = [
  state(
    'a commit of a transaction that is committed',
    'Commit',
    async (world) => {
      const transaction = await world.begin()
      await world.ok('Commit', write(transaction))
      return write(transaction)
    },
    invalid(/transaction.*committed/),
  ),
  state(
    'a read in a transaction that is rolled back',
    'Lookup',
    async (world) => {
      const transaction = await world.begin()
      await world.ok('Rollback', { transaction })
      return { keys: [named('n')], readOptions: { transaction } }
    },
    invalid(/transaction.*rolled back/),
  ),
  state(
    'a rollback of a transaction that is committed',
    'Rollback',
    async (world) => {
      const transaction = await world.begin()
      await world.ok('Commit', write(transaction))
      return { transaction }
    },
    {
      ...ok,
      legacy: 'INVALID_ARGUMENT',
      ours: { code: 'INVALID_ARGUMENT', because: 'nothing can be undone any more; legacy says so too' },
      names: /transaction.*committed/,
    },
  ),
  state(
    'a second rollback',
    'Rollback',
    async (world) => {
      const transaction = await world.begin()
      await world.ok('Rollback', { transaction })
      return { transaction }
    },
    { ...ok, legacy: 'INVALID_ARGUMENT' },
  ),
  state(
    'a write in a read-only transaction',
    'Commit',
    async (world) => write(await world.begin({ readOnly: {} })),
    invalid(/read-only/),
  ),
  state(
    'an empty commit of a read-only transaction',
    'Commit',
    async (world) => ({ mode: 'TRANSACTIONAL', transaction: await world.begin({ readOnly: {} }) }),
    invalid(/read-only/, {
      legacy: 'OK',
      ours: { code: 'OK', because: 'programs end read-only transactions so, as published samples do' },
    }),
  ),
  state(
    'a rollback of a transaction of another project',
    'Rollback',
    async (world) => ({ projectId: world.otherProject, transaction: await world.begin() }),
    invalid(/transaction/, { legacy: 'UNKNOWN' }),
  ),
  state(
    'a read of a 26th entity group in a transaction',
    'Lookup',
    async (world) => {
      const transaction = await world.begin()
      const keys = times(25, (i) => key({ id: `${i + 1}` }))
      await world.ok('Lookup', { keys, readOptions: { transaction } })
      return { keys: [key({ id: '26' })], readOptions: { transaction } }
    },
    { ...ok, legacy: 'INVALID_ARGUMENT', oursLegacy: 'INVALID_ARGUMENT' },
  ),
  state(
    'a query without an ancestor in a transaction',
    'RunQuery',
    async (world) => ({ query: nestedQuery, readOptions: { transaction: await world.begin() } }),
    { ...ok, legacy: 'INVALID_ARGUMENT', oursLegacy: 'INVALID_ARGUMENT' },
  ),
  state(
    'an entity of more than a mebibyte',
    'Commit',
    commit({
      upsert: entity(named('n'), {
        v: string('x'.repeat(600_000), { excludeFromIndexes: true }),
        w: string('x'.repeat(600_000), { excludeFromIndexes: true }),
      }),
    }),
    invalid(/1048572/, { legacy: 'OK' }),
  ),
  state(
    'a lone surrogate in a string',
    'Commit',
    ({ project }) => {
      const itsKey = field(1, field(2, Buffer.concat([field(1, 'K'), field(3, 'n')])))
      const property = field(3, Buffer.concat([field(1, 'v'), field(2, field(17, Buffer.from('eda080', 'hex')))]))
      const upsert = field(6, Buffer.concat([itsKey, property]))
      const nonTransactional = Buffer.of(0x28, 2)
      return Buffer.concat([nonTransactional, field(6, upsert), field(8, project)])
    },
    fault(/"v".*UTF-8/, {
      exceptions: [
        { column: 'firestore', wire: 'HTTP protobuf', code: 'INVALID_ARGUMENT' },
        { column: 'legacy', wire: 'HTTP protobuf', code: 'INVALID_ARGUMENT' },
      ],
      notInJson: 'bytes that are no UTF-8 are no JSON',
    }),
  ),
]

/** A field of length-delimited content: a text, a message, or bytes that no encoder would write. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const tag = (number << 3) | 2
  const head = tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]
  return Buffer.concat([Buffer.of(...head, bytes.length), bytes])
}
