/**
 * Texts of errors that programs look for: our messages begin with production's words. A row names one of the table of answers
 * (errors/), which is sent as it stands there; where the text was seen stands beside it. The table can be put to an emulator:
 *
 *   SIXTABLES_ORACLE=firestore@127.0.0.1:9700 npx vitest run packages/gateway/test/contract/error-texts.test.ts
 */

import { type Engine, openEngine } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { MethodName } from '../../src/methods.ts'
import type { Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, type Wire } from '../support/wires.ts'
import { array, atomic, commit, entity, integer, named, string, worldOf } from './errors/row.ts'
import { sections } from './errors/sections.ts'

const [, oracleHost, oraclePort] = /^firestore@(.+):(\d+)$/.exec(process.env['SIXTABLES_ORACLE'] ?? '') ?? []

/** Both of Google's emulators say it (measured); they share the validation of production. */
const both = 'both emulators'
/** The Firestore emulator says it (measured). */
const newer = 'the Firestore emulator'

/** Number in the table of answers, what the message begins with, where it was seen. */
const rows: readonly (readonly [number, string, string])[] = [
  [1, 'Key path is empty.', both],
  [2, 'The kind is the empty string.', both],
  [3, 'Key path id is invalid. Must not be zero.', both],
  [5, 'The key path element name is the empty string.', both],
  [7, 'The key path element name is longer than 1500 bytes.', both],
  [8, 'The kind is longer than 1500 bytes.', both],
  [9, 'The kind "__x__" is reserved.', both],
  [13, 'The key path element name "__n__" is reserved.', both],
  [15, 'Key path element must not be incomplete: [K: , K: n]', both],
  [17, 'Key path is too long. Cannot exceed 100 elements.', both],
  [18, 'Illegal string "a b" in namespace id.', both],
  [20, 'The namespace id "__a__" is reserved.', both],
  [22, 'mismatched databases within request: ', `${both}; production, in the notes of viur-core on named databases`],
  [26, 'Key path element must not be incomplete: [K: ]', both],
  [27, 'Key path element must not be incomplete: [K: ]', both],
  [29, 'Entity is missing key.', both],
  [30, 'Mutation is missing operation.', both],
  [33, 'transactional commit requires a transaction', both],
  [34, 'a transaction cannot be the empty string.', both],
  [35, 'Invalid transaction.', both],
  [37, 'non-transaction commit cannot specify a transaction', both],
  [38, 'single_use_transaction in a commit request must be READ_WRITE.', both],
  [
    39,
    'A non-transactional commit may not contain multiple mutations affecting the same entity.',
    `${both}; compared by the tests of ts-datastore-orm, quoted in DatastoreIO of Apache Beam`,
  ],
  [41, 'Cannot insert then insert an entity in the same request.', newer],
  [44, 'Cannot delete then update an entity in the same request.', newer],
  [49, 'entity already exists', both],
  [50, 'no entity to update', `${both}; production, in issues of Firestore clients`],
  [54, 'Invalid base_version: -1, it should be >= 0', both],
  [55, 'conflict detection is not allowed for incomplete keys', both],
  [56, 'the stored version (', both],
  [57, 'cannot set a conflict resolution strategy if no detection strategy was set', both],
  [63, 'Invalid empty property path string.', newer],
  [64, 'Input must be int64 or double.', newer],
  [67, 'Delete mutation cannot have PropertyTransforms.', newer],
  [68, 'The value "v" does not contain a value.', both],
  [70, 'The value of property "v" is longer than 1500 bytes.', `${both}; production, in its page of error codes`],
  [77, 'The value of property "v" is longer than 1048487 bytes.', newer],
  [79, 'list_value cannot contain a Value containing another list_value.', both],
  [80, 'Exclude from indexes cannot be set on a list value', both],
  [81, 'A Value containing a list_value cannot specify a meaning.', both],
  [82, 'Geo point latitude outside permitted range -90.0 to 90.0.', both],
  [83, 'Geo point longitude outside permitted range -180.0 to 180.0.', both],
  [84, 'Timestamp nanos exceeds limit for field', both],
  [85, 'Timestamp seconds exceeds limit for field', both],
  [89, 'The property.name "__x__" is reserved.', both],
  [92, 'At most 20 nested entity values are supported.', both],
  [93, 'Projection property cannot be used.', both],
  [94, 'Indexed value has meaning 15.', both],
  [95, 'Unknown value meaning 99.', both],
  [96, 'The property.name is the empty string.', both],
  [97, 'The property.name is longer than 1500 bytes.', both],
  [101, 'Too many indexed properties', newer],
  [103, 'multiple kinds not supported', both],
  [104, 'Limit must be non-negative.', both],
  [105, 'Offset must be non-negative.', both],
  [106, 'Error parsing protocol message', both],
  [108, 'kind is required for filter: v', newer],
  [109, 'kind is required for all orders except __key__ ascending', both],
  [110, 'kind is required for all orders except __key__ ascending', both],
  [113, 'projections are not supported for the property: __x__', newer],
  [114, 'Cannot project a property multiple times.', newer],
  [115, 'Cannot use projection on a property with an equality filter.', newer],
  [118, 'All group by properties must be ordered before any non group by properties.', newer],
  [120, 'a property filter must specify an operator', both],
  [121, 'A composite filter must have at least one sub-filter.', both],
  [122, 'a composite filter must specify an operator', both],
  [123, 'a filter must have exactly one of its fields set', both],
  [124, 'a filter value must be indexed', both],
  [126, 'A list value is not allowed', both],
  [127, '__key__ filter value must be a Key', both],
  [129, "The query namespace is '' but __key__ filter namespace is 'elsewhere'.", newer],
  [130, 'property must be __key__', both],
  [131, 'HAS_ANCESTOR requires a key value', both],
  [132, 'All disjunctions must have a common and unique ancestor constraint.', both],
  [133, 'IN requires an non-empty ArrayValue.', newer],
  [134, 'IN requires an ArrayValue.', newer],
  [135, 'IN supports up to 30 values.', newer],
  [138, 'NOT_IN supports up to 10 values.', newer],
  [140, "Only a single 'NOT_EQUAL' or 'NOT_IN' is allowed per query.", both],
  [147, 'The query may not have more than 100 filters + sort orders + ancestor total.', newer],
  [155, "The requested 'read_time' cannot be in the future.", newer],
  [156, 'ReadConsistency must be specified.', both],
  [162, 'property masks are not allowed on projection queries', newer],
  [164, 'one of fields Query.query and Query.gql_query must be set', both],
  [166, 'Query Value must be of type vector.', newer],
  [169, 'Absent named binding: x.', both],
  [170, 'Absent positional binding: 1.', both],
  [171, 'Unused positional binding: 1.', both],
  [173, 'The GQL query parameter name "__x__" is reserved.', both],
  [174, 'GQL query parameter name "1x" starts with a digit.', both],
  [179, 'Aggregations can not be empty.', newer],
  [181, 'Aggregation aliases contain duplicate alias: a.', newer],
  [183, 'The `up_to` value in a COUNT aggregation must be greater than or equal to zero.', newer],
  [185, 'Operator field in Aggregation is not set.', newer],
  [186, 'Empty aggregation field.', newer],
  [193, 'Key path element must not be complete: [K: 1]', both],
  [201, 'List of Ids to reserve cannot be empty.', newer],
  [212, 'timestamp cannot have more than microseconds precision', both],
]

/** Requests beside the table, of what the emulators say otherwise or not at all. */
interface Asked {
  readonly what: string
  readonly method: MethodName
  readonly request: Plain
  readonly text: string | RegExp
  readonly seen: string
  /** Said by the Firestore emulator too. */
  readonly isMeasured?: true
}

const count: Plain = { count: {} }
const vector = (more: Plain, ...values: Plain[]): Plain => ({ ...array(...values), meaning: 31, ...more })
const excluded: Plain = { excludeFromIndexes: true }
const ofVector = (v: Plain): Plain => commit({ upsert: entity(named('n'), { v }) })

const others: readonly Asked[] = [
  {
    what: 'a sum of keys',
    method: 'RunAggregationQuery',
    request: {
      aggregationQuery: {
        nestedQuery: { kind: [{ name: 'K' }] },
        aggregations: [{ sum: { property: { name: '__key__' } } }],
      },
    },
    text: /^Aggregations are not supported for the property: __key__$/,
    seen: 'compared whole by googleapis/nodejs-datastore, system-test/datastore.ts',
    isMeasured: true,
  },
  {
    what: 'six aggregations',
    method: 'RunAggregationQuery',
    request: {
      aggregationQuery: {
        nestedQuery: { kind: [{ name: 'K' }] },
        aggregations: [count, count, count, count, count, count],
      },
    },
    text: /^The maximum number of aggregations allowed in an aggregation query is 5\. Received: 6$/,
    seen: 'compared whole by googleapis/nodejs-datastore, system-test/datastore.ts',
  },
  {
    what: 'a vector that is not excluded',
    method: 'Commit',
    request: ofVector(vector({}, { doubleValue: 1 })),
    text: "Vector's must be excluded from indexes.",
    seen: newer,
    isMeasured: true,
  },
  {
    what: 'a vector of integers',
    method: 'Commit',
    request: ofVector(vector(excluded, integer())),
    text: "Vector must only contain values of type 'double'.",
    seen: newer,
    isMeasured: true,
  },
  {
    what: 'a vector of nothing',
    method: 'Commit',
    request: ofVector(vector(excluded)),
    text: 'Cannot have a zero length vector.',
    seen: newer,
    isMeasured: true,
  },
  {
    what: 'a projection without a kind',
    method: 'RunQuery',
    request: { query: { projection: [{ property: { name: 'v' } }] } },
    text: 'kind is required',
    seen: 'the Datastore emulator, longer; the Firestore emulator finds nothing',
  },
  {
    what: 'a moment two hours ago',
    method: 'Lookup',
    request: {
      keys: [named('n')],
      readOptions: { readTime: { seconds: String(Math.floor(Date.now() / 1000) - 7200) } },
    },
    text: "The requested 'read_time' is too old.",
    seen: `production, in notes on recovery; ${newer}, beyond seven days`,
  },
]

let engine: Engine | undefined
let gateway: Gateway | undefined
let wire: Wire

beforeAll(async () => {
  if (oracleHost === undefined) {
    engine = await openEngine()
    gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  }
  wire = await openWire('gRPC', { host: oracleHost ?? '127.0.0.1', port: gateway?.port ?? Number(oraclePort) })
})

afterAll(async () => {
  wire.close()
  await gateway?.close()
  await engine?.close()
})

const worldAt = (project: string) =>
  worldOf(project, async (method, request) => {
    const answer = await wire.send(project, method, request)
    expect(answer, `${method} that prepares the row`).toMatchObject({ code: 'OK' })
    return readAnswer(wire, method, answer)
  })

const byNumber = new Map(
  sections.flatMap(([, all]) => all).flatMap((row) => (row.number === undefined ? [] : [[row.number, row] as const])),
)

describe('messages begin with words that programs look for', () => {
  test.each(rows)('row %i: %s (%s)', async (number, text) => {
    const row = byNumber.get(number)
    if (row === undefined) throw new Error(`the table of answers has no row ${number}`)
    const project = `text-${number}-${process.pid}`
    const request = typeof row.request === 'function' ? await row.request(worldAt(project)) : row.request
    const { message } = await wire.send(project, row.method, request)
    expect(message.slice(0, text.length)).toBe(text)
  })

  test.each(others.map((asked) => [asked.what, asked.seen, asked] as const))('%s (%s)', async (_what, _seen, asked) => {
    const { method, request, text, isMeasured } = asked
    // The emulator says otherwise, or fails.
    if (oracleHost !== undefined && isMeasured !== true) return
    const { message } = await wire.send('text', method, request)
    if (typeof text === 'string') expect(message.slice(0, text.length)).toBe(text)
    else expect(message).toMatch(text)
  })
})

// Reason: these need servers of their own settings.
describe.skipIf(oracleHost !== undefined)('messages of states that production has', () => {
  const contention =
    'Aborted due to cross-transaction contention. This occurs when multiple transactions attempt to access the same data, ' +
    'requiring Datastore to abort at least one in order to enforce serializability.'

  test('a lost conflict: production’s page of errors; looked for by programs in many languages', async () => {
    const other = await openEngine()
    other.configure({ concurrency: 'optimistic' })
    const served = await startGateway({ engine: other, host: '127.0.0.1', port: 0 })
    const client = await openWire('gRPC', { host: '127.0.0.1', port: served.port })
    try {
      const { transaction } = readAnswer(client, 'BeginTransaction', await client.send('p', 'BeginTransaction', {}))
      await client.send('p', 'Lookup', { keys: [named('n')], readOptions: { transaction } })
      await client.send('p', 'Commit', commit({ upsert: entity(named('n')) }))
      const mutations = [{ upsert: entity(named('n'), { v: integer(2) }) }]
      const lost = await client.send('p', 'Commit', { mode: 'TRANSACTIONAL', transaction, mutations })
      expect(lost.code).toBe('ABORTED')
      expect(lost.message.slice(0, contention.length)).toBe(contention)
      const after = await client.send('p', 'Lookup', { keys: [named('n')], readOptions: { transaction } })
      expect(after.message.split('Aborted due to')).toHaveLength(2)
    } finally {
      client.close()
      await served.close()
      await other.close()
    }
  })

  test('a transaction that has ended: production, in tests of Python programs', async () => {
    const world = worldAt('ended')
    const transaction = await world.begin()
    await world.ok('Rollback', { transaction })
    const { message } = await wire.send('ended', 'Lookup', { keys: [named('n')], readOptions: { transaction } })
    expect(message).toMatch(/^The referenced transaction has expired or is no longer valid\. /)
  })

  test('a missing index: production, in notes of a Python program', async () => {
    const other = await openEngine({ indexes: 'require' })
    const served = await startGateway({ engine: other, host: '127.0.0.1', port: 0 })
    const client = await openWire('gRPC', { host: '127.0.0.1', port: served.port })
    try {
      await client.send('p', 'Commit', atomic({ upsert: entity(named('n'), { a: string('x'), b: integer() }) }))
      const order = [{ property: { name: 'a' } }, { property: { name: 'b' }, direction: 'DESCENDING' }]
      const { code, message } = await client.send('p', 'RunQuery', { query: { kind: [{ name: 'K' }], order } })
      expect(code).toBe('FAILED_PRECONDITION')
      const yaml = '- kind: K\n  properties:\n  - name: a\n  - name: b\n    direction: desc\n'
      expect(message.startsWith(`no matching index found. recommended index is:\n${yaml}`), message).toBe(true)
    } finally {
      client.close()
      await served.close()
      await other.close()
    }
  })
})
