/** The cost of a put by its indexes: rows, bytes, and the time in which one server writes them. */
import type { IndexDefinition, Value } from '@sixtables/engine'
import { arm, defineLab, expected, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf } from '../settings.ts'
import { refusalOf } from '../sim/client.ts'
import { array, type Fields, text, unindexed, upsert } from '../sim/entities.ts'
import type { Store } from '../sim/store.ts'

const names = ['author', 'city', 'language', 'section', 'title', 'year'] as const
const kind = 'Article'

/** As many properties as `names`, of the same size whatever the arm, and drawn anew for each put. */
function properties({ random }: ArmSession, index: (value: Value) => Value = (value) => value): Fields {
  return Object.fromEntries(
    names.map((name) => [name, index(text(String(random.integer(1_000_000)).padStart(8, '0')))]),
  )
}

function tags(session: ArmSession, count: number): Value {
  const start = session.random.integer(1000)
  return array(Array.from({ length: count }, (_, i) => text(`tag-${String(start + i).padStart(6, '0')}`)))
}

const definition = (...over: readonly string[]): IndexDefinition => ({
  kind,
  ancestor: false,
  properties: over.map((name) => ({ name, direction: 'ascending' })),
})

interface Case {
  readonly indexes: readonly IndexDefinition[]
  readonly fields: Fields
  readonly changed?: Fields
}

/**
 * The cost of some work, beside which nothing may run: the rows put or deleted in the tables of entities and indexes, the bytes of their keys
 * and values, the rows of composite indexes among them, and the time that the store's single server needs for the rows in its queue. The reports
 * to tablets have every row where servers are simulated.
 */
async function written(store: Store, work: () => Promise<unknown>) {
  let [rows, bytes, compositeRows, applyMs] = [0, 0, 0, 0]
  const { tablets } = store.engine
  const end = tablets.onSample((sample) => {
    if (!sample.table.startsWith('Entities') || (sample.operation !== 'put' && sample.operation !== 'delete')) return
    rows += sample.rows
    bytes += sample.bytes
    if (sample.table === 'EntitiesByCompositeProperty') compositeRows += sample.rows
    // When the client gets its answer, the server has already written a part.
    applyMs = Math.max(applyMs, tablets.report().servers[0]?.queueMs ?? 0)
  })
  try {
    await store.alone(work)
  } finally {
    end()
  }
  return { rows, bytes, compositeRows, applyMs }
}

type Cost = Readonly<Record<'put' | 'update', Awaited<ReturnType<typeof written>>>>

/** Puts one entity into a store of one server, and puts it again. */
async function cost(session: ArmSession, { indexes, fields, changed = {} }: Case): Promise<Cost> {
  const store = await session.open({ simulate: true })
  for (const index of indexes) await store.alone(() => store.engine.createIndex(store.database, index))
  const key = store.key({ kind, name: 'first' })
  const put = await written(store, () => store.put([upsert(key, fields)]))
  await store.alone(() => store.sleep(10_000))
  const update = await written(store, () => store.put([upsert(key, { ...fields, ...changed })]))
  return { put, update }
}

function record(session: ArmSession, { put, update }: Cost): void {
  session.record.figure('rows', put.rows, 'per put')
  session.record.figure('bytes', put.bytes, 'per put')
  session.record.figure('apply', put.applyMs, 'ms of one server')
  session.record.figure('rows of an update of one property', update.rows)
}

/** The put of six properties, each changed by `index`. */
async function six(session: ArmSession, index: (value: Value) => Value): Promise<void> {
  const changed = { title: index(text('changed.')) }
  record(session, await cost(session, { indexes: [], fields: properties(session, index), changed }))
}

/** The same with 0, 1, 2, … composite indexes, each over two properties. */
async function composites(session: ArmSession): Promise<void> {
  const fields = properties(session)
  const counts = Array.from({ length: session.setting('index.count') + 1 }, (_, count) => count)
  await costsOf(session, 'composite indexes', counts, (count) => {
    const indexes = Array.from({ length: count }, (_, i) => definition(...pairOf(i)))
    return { indexes, fields, changed: { title: text('changed.') } }
  })
}

/** The i-th pair of properties, `title` first: no two alike. */
function pairOf(i: number): readonly string[] {
  const others = names.filter((name) => name !== 'title')
  return i < others.length ? ['title', others[i] ?? ''] : [others[i % others.length] ?? '', 'title']
}

/** Two properties of 1, 2, 4, … values each; with an index over both, or with none. */
async function valued(session: ArmSession, isIndexed: boolean): Promise<void> {
  const most = session.setting('index.values')
  const counts: number[] = []
  for (let count = 1; count < most; count *= 2) counts.push(count)
  await costsOf(session, 'values of each property', [...counts, most], (count) => {
    const fields = { colours: tags(session, count), sizes: tags(session, count) }
    return { indexes: isIndexed ? [definition('colours', 'sizes')] : [], fields }
  })
  session.record.figure('values', most, 'of each property')
}

async function costsOf(
  session: ArmSession,
  name: string,
  counts: readonly number[],
  caseOf: (count: number) => Case,
): Promise<void> {
  const { all, first, last } = await session.atEach(counts, (count) => cost(session, caseOf(count)))
  record(session, last)
  session.record.figure('rows at the fewest', first.put.rows, 'per put')
  session.record.figure('composite rows', last.put.compositeRows, 'per put')
  const x = { name, values: counts }
  const rows = { all: all.map(({ put }) => put.rows), composite: all.map(({ put }) => put.compositeRows) }
  session.record.chart('rows of a put', 'rows', x, rows)
  session.record.chart('apply', 'ms of one server', x, { apply: all.map(({ put }) => put.applyMs) })
}

/** Doubles the values of two arrays under one index until a put is refused. */
async function refused(session: ArmSession): Promise<void> {
  const store = await session.open()
  await store.engine.createIndex(store.database, definition('colours', 'sizes'))
  const lines: string[] = []
  let rows = 0
  for (let count = 8; ; count *= 2) {
    const fields = { colours: tags(session, count), sizes: tags(session, count) }
    const refusal = await refusalOf(async () => {
      rows = (await store.put([upsert(store.key({ kind, name: `of-${count}` }), fields)])).indexUpdates
    })
    lines.push(`${count} × ${count} values: ${refusal === undefined ? `${rows} index rows` : refusal.message}`)
    if (refusal === undefined) continue
    session.record.figure('index rows of the last put that was taken', rows)
    session.record.figure('values of each array when refused', count)
    break
  }
  session.record.text('the same index, twice the values each time', lines)
}

export const indexCost: Lab = defineLab({
  name: 'index-cost',
  idea:
    'Every indexed value has a row in each direction, every composite index a row for each combination of its values. All of ' +
    'them are written when the put is applied, whether a query ever reads them or not; a changed value writes and deletes.',
  settings: {
    ...defaultsOf('index.count', 'index.values', 'server.opsPerSecond', 'server.serviceMs', 'log.commitMs'),
    'server.count': 1,
  },
  arms: [
    arm('excluded', 'six properties, all excluded from indexes', (session) => six(session, unindexed)),
    arm('indexed', 'six properties, all indexed', (session) => six(session, (value) => value)),
    arm('composite', 'the same, with more and more composite indexes of two properties', composites),
    arm('multi-valued', 'two array properties, with more and more values, no composite index', (session) =>
      valued(session, false),
    ),
    arm('exploding', 'the same, with one composite index over both', (session) => valued(session, true)),
    arm('refused', 'the same index, until a put is refused', refused),
  ],
  expectations: [
    expected('excluding a property saves its two rows')
      .across('rows', 'excluded', 'indexed')
      .holds((without, all) => without === 2 && all === without + 2 * names.length, '{} rows, {} rows'),
    expected('a changed value deletes two rows and writes two; an excluded one does neither')
      .across('rows of an update of one property', 'excluded', 'indexed')
      .holds((without, all) => without === 1 && all === 5, '{} row, {} rows'),
    expected('each composite index adds a row')
      .of('composite', 'rows at the fewest', 'rows', 'composite rows')
      .holds((fewest, most, added) => added > 0 && most === fewest + added, '{} rows without, {} with {}'),
    expected('without a composite index rows grow as the values do')
      .of('multi-valued', 'rows at the fewest', 'rows', 'values')
      .holds((one, most, values) => one === 6 && most === 2 + 4 * values, '1 value each: {1} rows, {3}: {2}'),
    expected('an index over two arrays multiplies: rows grow as the square of the values')
      .of('exploding', 'values', 'composite rows')
      .holds((values, combined) => combined === values * values, '{} values each, {} composite rows'),
    expected('apply takes longer with every index, longest with the exploding one')
      .across('apply', 'excluded', 'indexed', 'composite', 'exploding')
      .holds((...times) => times.every((ms, i) => i === 0 || ms > (times[i - 1] ?? 0)), '{} ms, {} ms, {} ms, {} ms'),
    expected('an index that explodes too far refuses the put')
      .of('refused', 'values of each array when refused', 'index rows of the last put that was taken')
      .holds(
        // The rows without the composite index are four for each value: they alone would reach no limit so soon.
        (values, rows) => rows > 4 * values * 2 && rows < 40_000,
        '{} values each are refused, after a put of {} index rows',
      ),
  ],
})
