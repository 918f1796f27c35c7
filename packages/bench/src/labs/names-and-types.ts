/** The reasons for the warnings about names, ids and texts: each name is written, and then read as an application would. */
import {
  encodeKey,
  type Filter,
  formatKey,
  type Key,
  type Mutation,
  type PathElement,
  type Query,
} from '@sixtables/engine'
import { arm, defineLab, expected, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { refusalOf } from '../sim/client.ts'
import { ascending, entityBytes, type Fields, integer, text, upsert, where, whereKey } from '../sim/entities.ts'
import { recordFindings } from '../sim/findings.ts'
import { bytesOf } from '../sim/messages.ts'
import { legacyAtOnce, type Store } from '../sim/store.ts'

/** The store's answer to a mutation: `accepted`, or the code and the message of its refusal. */
async function answer(store: Store, mutation: Mutation): Promise<string> {
  const refusal = await refusalOf(() => store.put([mutation]))
  return refusal === undefined ? 'accepted' : `refused: ${refusal.message}`
}

const query = (store: Store, kind: string | undefined, filter?: Filter): Query =>
  store.query(kind, { filter, order: kind === undefined || filter === undefined ? [ascending('__key__')] : [] })

async function keysOf(store: Store, of: Query): Promise<readonly Key[]> {
  const { results } = await store.database.runQuery(store.context(), { query: of })
  return results.map(({ key }) => key)
}

/** A key as URLs and file names have it: kinds and names, with slashes between them. */
const joined = (path: readonly PathElement[]): string =>
  path.map(({ kind, id, name }) => `${kind}/${id ?? name}`).join('/')

async function slashes(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open()
  const owner = `u${session.random.integer(1000)}`
  const folder = store.key({ kind: 'Folder', name: owner })
  const inside = store.key({ kind: 'Folder', name: owner }, { kind: 'File', name: 'plan' })
  const beside = store.key({ kind: 'Folder', name: `${owner}/File/plan` })
  const kindToo = store.key({ kind: `Folder/${owner}/File`, name: 'plan' })
  const keys = [folder, inside, beside, kindToo]
  const answers: string[] = []
  for (const key of keys) answers.push(`${formatKey(key)}: ${await answer(store, upsert(key, {}))}`)
  record.text('what is accepted', answers)
  const texts = keys.map(({ path }) => joined(path))
  const order: string[] = []
  for (const kind of ['Folder', `Folder/${owner}/File`, 'File'])
    for (const key of await keysOf(store, query(store, kind))) order.push(`kind ${kind}: ${formatKey(key)}`)
  record.figure('keys', order.length)
  record.figure('paths when joined by slashes', new Set(texts).size)
  const under = await keysOf(store, query(store, undefined, whereKey('hasAncestor', folder)))
  const inFolder = texts.filter((path) => path.startsWith(`Folder/${owner}/`))
  record.figure('keys that seem to be in the folder', inFolder.length)
  // The folder itself is among its descendants.
  record.figure('keys that are in the folder', under.length - 1)
  record.text(
    'joined by slashes',
    keys.map((key, i) => `${texts[i]}   is   ${formatKey(key)}`),
  )
  record.text('where the keys stand, kind by kind', order)
  recordFindings(record, store, 'slash-or-dot-in-name')
}

const cityOf = (city: string): Fields => ({ 'address.city': text(city) })
const nested = (city: string): Fields => ({
  address: { type: 'entity', properties: new Map([['city', text(city)]]) },
})

async function dots(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open()
  const [flat, deep] = [store.key({ kind: 'User', name: 'flat' }), store.key({ kind: 'User', name: 'deep' })]
  await store.put([upsert(flat, cityOf('Bern')), upsert(deep, nested('Bern'))])
  const rows: string[] = []
  for (const key of [flat, deep])
    for (const { table, row } of (await store.engine.inspector.rows(key)).rows)
      if (table === 'EntitiesByPropertyAsc') rows.push(row)
  record.text('the rows of a property with a dot, and of a property within a property', rows)
  const equal = where('address.city', 'equal', text('Bern'))
  const found = await keysOf(store, query(store, 'User', equal))
  record.figure('entities that address.city = "Bern" finds', found.length)

  // A mask names what is to be written, by its path: a dot in it leads into the nested entity.
  const mask = { propertyMask: ['address.city'] }
  await store.put([upsert(flat, cityOf('Basel'), mask), upsert(deep, nested('Basel'), mask)])
  const moved = where('address.city', 'equal', text('Basel'))
  const written = await keysOf(store, query(store, 'User', moved))
  record.figure('of two updates of address.city, written', written.length)
  record.text('after writing "Basel" with the mask address.city', [
    ...written.map((key) => `${formatKey(key)}: written`),
    ...(await keysOf(store, query(store, 'User', equal))).map((key) => `${formatKey(key)}: still "Bern", and no error`),
  ])
  await store.put([upsert(flat, cityOf('Basel'), { propertyMask: ['address\\.city'] })])
  record.figure('written once the dot is escaped', (await keysOf(store, query(store, 'User', moved))).length)
  recordFindings(record, store, 'slash-or-dot-in-name')
}

async function ids(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  const hand = 5n
  const answers: string[] = []
  for (const number of [-hand, 0n, 1n, hand, '10', '9', String(hand)]) {
    const key = store.key({ kind: 'Order', ...(typeof number === 'bigint' ? { id: number } : { name: number }) })
    answers.push(`${formatKey(key)}: ${await answer(store, upsert(key, { placed: integer(1) }))}`)
  }
  record.text('what is accepted', answers)
  const order = await keysOf(store, query(store, 'Order'))
  record.text('in key order', order.map(formatKey))
  const fromOne = query(store, 'Order', whereKey('greaterThanOrEqual', store.key({ kind: 'Order', id: 1n })))
  const seen = await keysOf(store, fromOne)
  record.figure('entities', order.length)
  record.figure('entities from id 1 on', seen.length)
  record.figure('id 0 accepted', answers.filter((line) => line.startsWith('Order:0: accepted')).length, 'times')
  record.figure('negative ids before all others', order[0]?.path[0]?.id === -hand)
  const same = order.filter(({ path: [last] }) => String(last?.id ?? last?.name) === String(hand))
  record.figure('entities numbered alike', same.length)
  const names = order.flatMap(({ path: [last] }) => (last?.name === undefined ? [] : [last.name]))
  record.figure('"10" stands before "9"', names.indexOf('10') < names.indexOf('9'))
  recordFindings(record, store, 'negative-id')
}

/** The entity with its last two bytes, an ending of two letters, replaced by what is not UTF-8. */
function spoilt(entity: Uint8Array): Uint8Array {
  const bytes = Buffer.from(entity)
  bytes.set([0xc3, 0x28], bytes.length - 2)
  return bytes
}

async function texts(session: ArmSession): Promise<void> {
  const { record } = session
  const store = await session.open()
  const key = (name: string): Key => store.key({ kind: 'Song', name })
  const cases: readonly (readonly [what: string, entity: Uint8Array])[] = [
    ['a name that is not UTF-8', spoilt(bytesOf({ 1: encodeKey(key('name-xx')) }))],
    ['a string value that is not UTF-8', spoilt(entityBytes(key('value'), { title: text('title-xx') }))],
    [
      'the same bytes as a blob',
      entityBytes(key('blob'), { title: { type: 'blob', value: Uint8Array.of(0xc3, 0x28) } }),
    ],
  ]
  const answers: string[] = []
  for (const [what, entity] of cases) answers.push(`${what}: ${await answer(store, { operation: 'upsert', entity })}`)
  record.text('what is accepted', answers)
  const [name, value, blob] = answers.map((line) => Number(line.endsWith('accepted'))) as [number, number, number]
  record.figure('texts that are not UTF-8, accepted', name + value)
  record.figure('as a blob, accepted', blob)

  // Half a surrogate pair: what is left where a text was cut within an emoji. There is no UTF-8 for it.
  const album = session.random.integer(1000)
  const cut = ['\u{1f600}', '\u{1f9e9}'].map((emoji) => `best of ${album}: ${emoji.slice(0, 1)}`)
  for (const name of cut) await store.put([upsert(key(name), {})])
  const kept = (await keysOf(store, query(store, 'Song'))).filter(({ path }) => path[0]?.name?.startsWith('best of'))
  record.figure('different names, cut within a letter', new Set(cut).size)
  record.figure('entities that they name', kept.length)
  record.text('names that were cut within an emoji', [
    ...cut.map((name) => `${JSON.stringify(name)} was put`),
    ...kept.map((one) => `${formatKey(one)} is there`),
  ])
}

export const namesAndTypes: Lab = defineLab({
  name: 'names-and-types',
  idea:
    'Keys and index rows are bytes: a slash and a dot mean nothing in them. They mean something where keys are written as ' +
    'paths and properties as paths of names, so what is accepted is taken for something else later.',
  settings: {},
  arms: [
    arm('slash', 'slashes in a name and in a kind', slashes),
    arm('dot', 'a property with a dot, beside a property of a nested entity', dots),
    arm('ids', 'negative ids, zero, and numbers as names', ids),
    arm('utf-8', 'bytes that are no text, and names cut within a letter', texts),
  ],
  expectations: [
    expected('slash: different keys are the same path')
      .of('slash', 'keys', 'paths when joined by slashes')
      .holds((keys, paths) => keys === 4 && paths === 2, '{} keys, {} paths'),
    expected('slash: what seems to be in the folder is not found by a query for it')
      .of('slash', 'keys that seem to be in the folder', 'keys that are in the folder')
      .holds((seem, are) => seem === 3 && are === 1, '{} seem to be, {} is'),
    expected('dot: a filter finds the nested property as well')
      .figure('entities that address.city = "Bern" finds')
      .is(2),
    expected('dot: a mask takes it for the nested one, and writes nothing')
      .figure('of two updates of address.city, written')
      .is(1),
    expected('dot: with the dot escaped it is written').figure('written once the dot is escaped').is(2),
    expected('ids: zero is refused').figure('id 0 accepted').is(0),
    expected('ids: a negative one stands before all others').figure('negative ids before all others').is(1),
    expected('ids: a query from id 1 on misses the negative one')
      .of('ids', 'entities', 'entities from id 1 on')
      .holds((all, seen) => seen === all - 1, '{2} of {1}'),
    expected('ids: a number and its digits are two keys').figure('entities numbered alike').is(2),
    expected('ids: digits sort as texts do').figure('"10" stands before "9"').is(1),
    expected('utf-8: other bytes are refused').figure('texts that are not UTF-8, accepted').is(0),
    expected('utf-8: a blob takes them').figure('as a blob, accepted').is(1),
    expected('utf-8: names that were cut within a letter become one, and the last put wins')
      .of('utf-8', 'different names, cut within a letter', 'entities that they name')
      .holds((names, entities) => names === 2 && entities === 1, '{} names, {} entity'),
    ...['slash', 'dot', 'ids'].map((arm) =>
      expected(`${arm}: the engine warns of it`).figure('findings of the engine').above(0),
    ),
  ],
})
