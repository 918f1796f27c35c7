/** One put, step by step: request, log, milestone A, milestone B, and every row in each of the six tables. */
import { entityTables, type IndexDefinition, RecordingLedger, type RowsReport, requestContext } from '@sixtables/engine'
import { arm, defineLab, expected, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { entityBytes, integer, text, timestamp, unindexed, upsert } from '../sim/entities.ts'
import { bytesOf, fieldsOf } from '../sim/messages.ts'
import { released, stagesOf } from '../sim/stages.ts'
import { legacyAtOnce, projectId } from '../sim/store.ts'
import { commitMessage } from '../sim/wire.ts'

type FieldNames = Readonly<Record<number, readonly [name: string, message?: string]>>

/** Field numbers. Known: google/datastore/v1/datastore.proto and entity.proto. */
const messages: Readonly<Record<string, FieldNames>> = {
  CommitRequest: { 5: ['mode'], 6: ['mutations', 'Mutation'], 8: ['project_id'] },
  Mutation: { 4: ['insert', 'Entity'], 5: ['update', 'Entity'], 6: ['upsert', 'Entity'] },
  Entity: { 1: ['key', 'Key'], 3: ['properties', 'Property'] },
  Key: { 1: ['partition_id', 'PartitionId'], 2: ['path', 'PathElement'] },
  PartitionId: { 2: ['project_id'], 4: ['namespace_id'] },
  PathElement: { 1: ['kind'], 2: ['id'], 3: ['name'] },
  Property: { 1: ['(name)'], 2: ['(value)', 'Value'] },
  Value: {
    1: ['boolean_value'],
    2: ['integer_value'],
    10: ['timestamp_value', 'Timestamp'],
    17: ['string_value'],
    19: ['exclude_from_indexes'],
  },
  Timestamp: { 1: ['seconds'], 2: ['nanos'] },
}

/** A commit request in words: one line for each field, indented by two spaces per level, with the field's name where the API has it. */
function protobufInWords(bytes: Uint8Array, message = 'CommitRequest'): string[] {
  const fields = messages[message] ?? {}
  const lines: string[] = []
  for (const [number, value] of fieldsOf(bytes)) {
    const [name, inner] = fields[number] ?? [`field ${number}`]
    if (typeof value === 'bigint') lines.push(`${name}: ${value}`)
    else if (inner === undefined) lines.push(`${name}: ${JSON.stringify(Buffer.from(value).toString('utf8'))}`)
    else lines.push(`${name}  ${value.length} bytes`, ...protobufInWords(value, inner).map((line) => `  ${line}`))
  }
  return lines
}

const dueAndPriority: IndexDefinition = {
  kind: 'ToDo',
  ancestor: false,
  properties: [
    { name: 'due', direction: 'descending' },
    { name: 'priority', direction: 'descending' },
  ],
}

async function put(session: ArmSession, index?: IndexDefinition): Promise<void> {
  const { record } = session
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' } })
  if (index !== undefined) await store.engine.createIndex(store.database, index)
  const now = store.clock.nowMicros()
  const entity = entityBytes(store.key({ kind: 'ToDo' }), {
    created: timestamp(now),
    due: timestamp(now + 86_400_000_000n),
    owner: text('ada'),
    priority: integer(5),
    description: unindexed(text('water the plants')),
  })
  const commit = { mode: 'nonTransactional', mutations: [{ operation: 'upsert', entity }] } as const
  const request = bytesOf({ ...commitMessage(commit), 8: projectId })
  record.figure('request', request.length, 'bytes')
  record.text('1. the request: a CommitRequest as protocol buffer', protobufInWords(request))

  const ledger = new RecordingLedger()
  const context = requestContext({ clock: store.clock, ledger })
  const { mutationResults } = await store.database.commit(context, commit)
  const key = mutationResults[0]?.key
  if (key === undefined) throw new Error('the put was given no id')
  const moved = ledger.entries.filter(({ table, operation }) => table === 'IdSequences' && operation === 'put')
  record.figure('IdSequences moved', moved.length, 'times')

  const reports = await released(store, key)
  const [committed, atA, atB] = reports
  const [logged] = committed.log.records
  record.figure('log records', committed.log.records.length)
  record.text('2. the completed key, and the log record: the put is committed', [
    `${committed.key}`,
    `${logged?.row}`,
    `  ${logged?.state}: ${logged?.changes.join('; ')}`,
  ])
  record.figure('table rows when committed', storedRows(committed).length, 'rows')

  record.text('3. milestone A: the entity row', rowLines(storedRows(atA)))
  record.figure('table rows at milestone A', storedRows(atA).length, 'rows')

  const indexRows = storedRows(atB).filter(({ table }) => table !== 'Entities')
  record.text('4. milestone B: the index rows', rowLines(indexRows))
  record.figure('table rows at milestone B', storedRows(atB).length, 'rows')
  for (const table of entityTables) {
    record.figure(table, storedRows(atB).filter((row) => row.table === table).length, 'rows')
  }
  record.flow({ title: 'rows from the log to the tables', stages: stagesOf(reports) })
  record.figure('problems found by check', (await store.engine.check()).problems.length)
  const { found } = await store.database.lookup(context, { keys: [key] })
  if (found.length !== 1) throw new Error('the entity that was put is not found')
}

/** A put among other entities, over tablets on several servers: which server is told of which row, phase by phase. */
async function servers(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' }, simulate: true })
  await store.engine.createIndex(store.database, dueAndPriority)
  const { tablets } = store.engine
  const key = store.key({ kind: 'ToDo', name: 'plants' })
  const fields = { due: timestamp(store.clock.nowMicros()), priority: integer(5) }
  await store.alone(() => store.put([upsert(key, fields)]))
  const [committed, reportA, reportB] = await released(store, key)
  const logged = committed.log.records.map(({ row, rowKey }) => ({ table: 'Log', row, rowKey }))
  const atA = storedRows(reportA)
  const atB = storedRows(reportB).filter(({ table }) => table !== 'Entities')
  const placeOf = ({ table, rowKey }: { readonly table: string; readonly rowKey: string }) => {
    const own = tablets.report().tablets.filter((one) => one.table === table)
    return own.find(({ startHex, endHex }) => startHex <= rowKey && (endHex === '' || rowKey < endHex))
  }
  const used = new Set<number>()
  let unplaced = 0
  for (const [phase, rows] of Object.entries({ commit: logged, 'milestone A': atA, 'milestone B': atB })) {
    const lines = rows.map((one) => {
      const place = placeOf(one)
      if (place === undefined) unplaced++
      else used.add(place.server)
      return `${one.row} → tablet ${place?.id}, server ${place?.server}`
    })
    record.text(phase, lines)
  }
  record.figure('rows', logged.length + atA.length + atB.length, 'rows')
  record.figure('rows without a tablet', unplaced, 'rows')
  record.figure('servers that the put needs', used.size, 'servers')
}

/** Composite indexes that come and go: the number of each, and the first bytes of its rows. */
async function indexNumbers(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  const { engine, database } = store
  const numbers: number[] = []
  const create = async (...names: readonly string[]): Promise<bigint> => {
    const properties = names.map((name) => ({ name, direction: 'ascending' as const }))
    const { id } = await engine.createIndex(database, { kind: 'ToDo', ancestor: false, properties })
    numbers.push(Number(id))
    return id
  }
  const first = await create('due', 'priority')
  await create('owner', 'due')
  await engine.indexes.drop(database, first).done
  await create('owner', 'priority')
  const key = store.key({ kind: 'ToDo', id: 1n })
  const now = store.clock.nowMicros()
  const fields = { due: timestamp(now), owner: text('ada'), priority: integer(5) }
  await store.put([upsert(key, fields)])
  const rows = (await engine.inspector.rows(key)).rows.filter(({ table }) => table === 'EntitiesByCompositeProperty')
  record.figure('indexes created', numbers.length)
  record.figure('different numbers', new Set(numbers).size)
  record.figure('greatest number', Math.max(...numbers))
  record.figure('composite rows', rows.length, 'rows')
  record.text('numbers of the indexes, in the order of their creation; the first was deleted', [numbers.join(', ')])
  record.text('rows of the indexes that are left', rowLines(rows))
}

function storedRows({ rows }: RowsReport): RowsReport['rows'] {
  return rows.filter(({ state, table }) => state !== 'to be written' && entityTables.some((one) => one === table))
}

function rowLines(rows: RowsReport['rows']): string[] {
  return rows.map(({ row, value }) => (value === '' ? row : `${row}   ${value}`))
}

export const writePath: Lab = defineLab({
  name: 'write-path',
  idea:
    'A write has two phases. Commit appends one record to the log of the entity group; apply writes the entity row ' +
    '(milestone A) and then the index rows (milestone B): one by kind, one ascending and one descending for each indexed ' +
    'value, one for each composite index that matches.',
  settings: {},
  arms: [
    arm('built-in-indexes', 'four indexed properties, one excluded, no composite index', (session) => put(session)),
    arm('composite-index', 'the same, with the index (due desc, priority desc)', (session) =>
      put(session, dueAndPriority),
    ),
    arm('servers', 'where each row of a put lies: its tablet, and the server of that', servers),
    arm('index-numbers', 'three composite indexes, of which one is deleted', indexNumbers),
  ],
  expectations: [
    ...['built-in-indexes', 'composite-index'].flatMap((arm) => [
      expected(`${arm}: the commit writes one log record`).figure('log records').is(1),
      expected(`${arm}: committed, and yet no row of the tables is there`).figure('table rows when committed').is(0),
      expected(`${arm}: milestone A writes the entity row alone`).figure('table rows at milestone A').is(1),
      expected(`${arm}: the id counter moves once`).figure('IdSequences moved').is(1),
      expected(`${arm}: the tables agree with the log`).figure('problems found by check').is(0),
      expected(`${arm}: milestone B writes one row by kind, and one each way for each indexed value`)
        .of(arm, ...entityTables.slice(0, 4))
        .holds(
          (...rows) => rows.join() === '1,1,4,4',
          (...rows) => `${entityTables.slice(0, 4).join(', ')}: ${rows.join(', ')}`,
        ),
    ]),
    expected('servers: each phase finds the tablet server of each of its rows')
      .of('servers', 'rows', 'rows without a tablet', 'servers that the put needs')
      .holds(
        (rows, unplaced, used) => unplaced === 0 && rows === 8 && used > 3,
        '{1} rows on {3} servers, {2} without a tablet',
      ),
    expected('index-numbers: composite indexes are numbered, and the number of a deleted one is not given again')
      .of('index-numbers', 'indexes created', 'different numbers', 'composite rows')
      .holds(
        (created, different, rows) => created === 3 && different === 3 && rows === 2,
        '{2} numbers for {1} indexes, {3} rows of the two that are left',
      ),
    expected('without a composite index no composite row is written')
      .of('built-in-indexes', 'EntitiesByCompositeProperty')
      .is(0),
    expected('the matching composite index adds one row').of('composite-index', 'EntitiesByCompositeProperty').is(1),
    expected('with it, one put makes the eleven rows of the storage article')
      .of('composite-index', 'table rows at milestone B')
      .is(11),
  ],
})
