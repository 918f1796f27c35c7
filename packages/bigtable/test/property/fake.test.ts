/**
 * The fake answers as Google's emulator does: the same random calls to both (fake-bigtable/FB1). The calls are valid ones, as the emulator
 * answers INTERNAL to wrong mutations, and leaves those before them in the row.
 */
import { credentials } from '@grpc/grpc-js'
import { DatastoreError } from '@sixtables/engine'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Int64 } from '#gen/codecs.js'
import { runs } from '../../../../scripts/deep.ts'
import type { ReadRow } from '../../src/client/cell-chunks.ts'
import { createTable } from '../../src/client/table-admin.ts'
import { type Mutation, type ReadRowsOptions, type RowFilter, TableClient } from '../../src/client/table-client.ts'
import { GrpcTransport } from '../../src/client/transport.ts'
import { families, OutcomeUnknown } from '../../src/row-store/row-store.ts'
import { type Emulator, hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { placeOf } from '../support/fake-client.ts'
import { SleptTime } from '../support/slept-time.ts'

const key = fc.string({ minLength: 1, maxLength: 2, unit: fc.constantFrom('a', 'b', 'm', '\x00', '\xff') })
const micros = fc.nat(5).map((at): Int64 => ({ low: at * 1000, high: 0 }))
const value = fc.uint8Array({ maxLength: 2, max: 3 })
const family = fc.constantFrom(...families)
const noQualifier = { columnQualifier: new Uint8Array(0) }
const times = fc
  .record({ startTimestampMicros: micros, endTimestampMicros: micros }, { requiredKeys: [] })
  .filter(({ startTimestampMicros: start, endTimestampMicros: end }) => (start?.low ?? 0) < (end?.low ?? 9000))

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ familyName: family, timestampMicros: micros, value })
      .map((setCell) => ({ setCell: { ...setCell, ...noQualifier } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ familyName: family, timeRange: times })
      .map((column) => ({ deleteFromColumn: { ...column, ...noQualifier } })),
  },
  { weight: 1, arbitrary: family.map((familyName) => ({ deleteFromFamily: { familyName } })) },
  { weight: 1, arbitrary: fc.constant({ deleteFromRow: {} }) },
)

const simpleFilter: fc.Arbitrary<RowFilter> = fc.oneof(
  fc.constantFrom(...families).map((name) => ({ familyNameRegexFilter: name })),
  fc.constant({ familyNameRegexFilter: '[hlv]' }),
  times.map((timestampRangeFilter) => ({ timestampRangeFilter })),
  fc.integer({ min: 1, max: 3 }).map((cellsPerColumnLimitFilter) => ({ cellsPerColumnLimitFilter })),
  fc
    .record(
      { startValueClosed: value, startValueOpen: value, endValueClosed: value, endValueOpen: value },
      { requiredKeys: [] },
    )
    .map(({ startValueClosed, startValueOpen, endValueClosed, endValueOpen }) => ({
      valueRangeFilter: {
        ...(startValueClosed === undefined
          ? startValueOpen === undefined
            ? {}
            : { startValueOpen }
          : { startValueClosed }),
        ...(endValueClosed === undefined ? (endValueOpen === undefined ? {} : { endValueOpen }) : { endValueClosed }),
      },
    })),
  fc.constant({ stripValueTransformer: true }),
  fc.constant({ passAllFilter: true }),
  fc.constant({ blockAllFilter: true }),
)
const chain = fc.array(simpleFilter, { minLength: 2, maxLength: 4 }).map((filters) => ({ chain: { filters } }))
const filter: fc.Arbitrary<RowFilter> = fc.oneof(
  simpleFilter,
  chain,
  fc
    .array(fc.oneof(simpleFilter, chain), { minLength: 2, maxLength: 3 })
    .map((filters) => ({ interleave: { filters } })),
)

const rows: fc.Arbitrary<ReadRowsOptions['rows']> = fc.oneof(
  fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => ({ keys })),
  fc
    .tuple(key, fc.oneof(key, fc.constant('')))
    .map(([start, end]) => ({ start: end !== '' && start > end ? end : start, end })),
)
type Step =
  | { readonly type: 'read'; readonly options: ReadRowsOptions }
  | { readonly type: 'mutate'; readonly rows: readonly { key: string; mutations: readonly Mutation[] }[] }
  | {
      readonly type: 'check'
      readonly key: string
      readonly filter: RowFilter
      readonly some: boolean
      readonly mutations: readonly Mutation[]
    }

const mutations = fc.array(mutation, { minLength: 1, maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record(
      { rows, filter, limit: fc.integer({ min: 1, max: 4 }), reverse: fc.boolean() },
      { requiredKeys: ['rows', 'filter'] },
    )
    .map((options) => ({ type: 'read', options }) as const),
  fc
    .uniqueArray(fc.record({ key, mutations }), { selector: (row) => row.key, minLength: 1, maxLength: 3 })
    .map((changed) => ({ type: 'mutate', rows: changed }) as const),
  fc.record({ key, filter, some: fc.boolean(), mutations }).map((check) => ({ type: 'check', ...check }) as const),
)

/** The outcome of a step, in plain data: of an error its code. */
async function outcome(client: TableClient, one: Step): Promise<unknown> {
  try {
    if (one.type === 'read') {
      const read = await client.readRows(one.options)
      // The order of families is left to the server.
      const cellsOf = ({ cells }: ReadRow) =>
        [...cells].sort((a, b) => (a.family < b.family ? -1 : a.family > b.family ? 1 : 0))
      return read.map((row) => [row.key, ...cellsOf(row).map((cell) => [cell.family, cell.micros, ...cell.value])])
    }
    if (one.type === 'mutate') {
      const refused = await client.mutateRows(one.rows)
      return [...refused].map(([index]) => index).sort()
    }
    const changes = one.some ? { ifSome: one.mutations } : { ifNone: one.mutations }
    return await client.checkAndMutateRow(one.key, one.filter, changes)
  } catch (error) {
    if (error instanceof DatastoreError || error instanceof OutcomeUnknown) return error.name
    throw error
  }
}

// Needs a program of Google's: `npm run bigtable`.
describe.skipIf(!hasCbtemulator)("the fake and Google's emulator", () => {
  let emulator: Emulator
  let fake: FakeBigtable
  let tables = 0
  const transports: GrpcTransport[] = []
  beforeAll(async () => {
    emulator = await startCbtemulator()
    fake = await FakeBigtable.start(11)
    for (const { address } of [emulator, fake]) {
      transports.push(new GrpcTransport({ address, credentials: credentials.createInsecure(), connections: 1 }))
    }
  })
  afterAll(async () => {
    for (const transport of transports) transport.close()
    await Promise.all([emulator.close(), fake.close()])
  })

  test('answer random calls alike', async () => {
    // The emulator takes seconds for an answer when other programs use the machine.
    const timeoutMs = 30_000
    const law = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const name = `t${tables++}`
      const time = new SleptTime()
      const clients = await Promise.all(
        transports.map(async (transport) => {
          const place = placeOf('', name)
          await createTable({ place, transport, waiting: time, timeoutMs })
          return new TableClient(place, transport, time, timeoutMs)
        }),
      )
      for (const one of steps) {
        const [real, fakes] = await Promise.all(clients.map((client) => outcome(client, one)))
        expect(fakes).toEqual(real)
      }
    })
    await fc.assert(law, { numRuns: runs(100) })
  })
})
