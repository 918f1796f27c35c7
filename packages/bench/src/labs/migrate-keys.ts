/** Rows of another database, numbered 1, 2, 3 …, become entities: under which keys, and what of the ids that are given next? */
import { decodeProperties, type Key, KeyPermutation, type PathElement } from '@sixtables/engine'
import { arm, armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { integerOf, refusalOf } from '../sim/client.ts'
import { insert, integer, unindexed, upsert } from '../sim/entities.ts'
import { hashOf } from '../sim/keys.ts'
import { type Load, offer, operationsOf } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { ramped, rampSettings } from '../sim/ramp.ts'
import { legacyAtOnce } from '../sim/store.ts'

const kind = 'Customer'

interface Mapping {
  element(n: bigint, permutation: KeyPermutation): PathElement
  /** The old number of a key; `undefined` where it cannot be had. */
  numberOf(element: PathElement, permutation: KeyPermutation): bigint | undefined
}

const mappings: Ways<Mapping> = {
  'int-ids': { about: 'the old number is the id', element: (n) => ({ kind, id: n }), numberOf: ({ id }) => id },
  'decimal-names': {
    about: 'the old number in decimal digits is the name',
    element: (n) => ({ kind, name: `${n}` }),
    numberOf: ({ name }) => BigInt(name ?? 0),
  },
  'permuted-ids': {
    about: 'the id is another number of 1 to N',
    element: (n, permutation) => ({ kind, id: permutation.idOf(n) }),
    numberOf: ({ id }, permutation) => permutation.originalOf(id ?? 0n),
  },
  'permuted-names': {
    about: 'the name is the old number, permuted',
    element: (n, permutation) => ({ kind, name: permutation.nameOf(n) }),
    numberOf: ({ name }, permutation) => permutation.originalOfName(name ?? ''),
  },
  'short-hash': {
    about: 'the name is a hash of 16 bits',
    element: (n) => ({ kind, name: hashOf(`${n}`).slice(0, 4) }),
    numberOf: () => undefined,
  },
}

const row = (n: bigint) => ({ old: unindexed(integer(n)) })

async function migrate(session: ArmSession, mapping: Mapping): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const load = ramped(session)
  const size = operationsOf(load)
  const permutation = new KeyPermutation({ secret: `seed ${session.seed}`, size: BigInt(size) })
  const next: Load['next'] = (n) => {
    const old = BigInt(n + 1)
    return { put: upsert(store.key(mapping.element(old, permutation)), row(old)) }
  }
  const watch = await offer(session, store, { ...load, next }, ['Entities'])
  const { served, refused, p99Ms } = watch.settled(120)
  record.figure('rows', size)
  record.figure('tablets', watch.tableAt('Entities').tablets)
  record.figure('hottest tablet at the end', watch.settledTable('Entities', 120).busiestShare * 100, '% of the load')
  record.figure('served at the end', served, '/s')
  record.figure('refused at the end', refused, '/s')
  // The last two minutes may have the one move of a tablet that refuses something.
  record.figure('refused of all', watch.refusedShare() * 100, '%')
  record.figure('p99 at the end', p99Ms, 'ms')
  await checkWayBack(session, mapping, permutation)
  watch.draw(record, ['Entities'])
}

/** Moves some rows to a quiet store, and asks it for each by its old number, and for the old number of each. */
async function checkWayBack(session: ArmSession, mapping: Mapping, permutation: KeyPermutation): Promise<void> {
  const { record } = session
  const store = await session.open()
  const count = session.setting('work.records')
  const keyOf = (n: bigint): Key => store.key(mapping.element(n, permutation))
  let wrong = 0
  let back = 0
  for (let n = 1n; n <= BigInt(count); n++) await store.put([upsert(keyOf(n), row(n))])
  for (let n = 1n; n <= BigInt(count); n++) {
    const { found } = await store.database.lookup(store.context(), { keys: [keyOf(n)] })
    const [entity] = found
    if (entity === undefined || !isRow(entity.image.properties, n)) wrong++
    else if (mapping.numberOf(entity.key.path[0] ?? { kind }, permutation) === n) back++
  }
  record.figure('other rows found by an old number', wrong)
  record.figure('old numbers that their keys do not tell', count - wrong - back)
}

function isRow(properties: Uint8Array, n: bigint): boolean {
  return integerOf(decodeProperties(properties), 'old') === Number(n)
}

/** Old rows keep their numbers as ids, and new entities are inserted without one. */
async function insertNew(session: ArmSession, isReserved: boolean): Promise<void> {
  const { record } = session
  const store = await session.open({ ...legacyAtOnce, idCollisions: 'fail' })
  const count = session.setting('work.records')
  const lines: string[] = []
  if (isReserved) {
    const range = { start: 1n, end: BigInt(count) }
    lines.push((await store.database.allocateIdRange(store.context(), store.key({ kind }), range)).words)
  }
  for (let n = 1n; n <= BigInt(count); n++) await store.put([upsert(store.key({ kind, id: n }), row(n))])
  let [made, failed] = [0, 0]
  while (made < count) {
    const refusal = await refusalOf(() => store.put([insert(store.key({ kind }), {})]))
    if (refusal === undefined) made++
    else if (!refusal.message.includes(inUse)) throw refusal
    else if (failed++ === 0) lines.push(`${refusal.code}: ${refusal.message}`)
  }
  record.figure('old rows', count)
  record.figure('new entities', made)
  record.figure('inserts that failed', failed)
  record.text('what was answered', lines)
}

/**
 * Old rows have enciphered numbers as names. New entities get names of the same cipher, made of numbers from the allocator or from a
 * counter of the program.
 */
async function nameNew(session: ArmSession, by: 'allocator' | 'own counter'): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  const count = Math.ceil(session.setting('work.records') / 4)
  const permutation = new KeyPermutation({ secret: `seed ${session.seed}`, size: 1_000_000n })
  const keyOf = (n: bigint): Key => store.key({ kind, name: permutation.nameOf(n) })
  const range = { start: 1n, end: BigInt(count) }
  const lines = [(await store.database.allocateIdRange(store.context(), store.key({ kind }), range)).words]
  for (let n = 1n; n <= BigInt(count); n++) await store.put([upsert(keyOf(n), row(n))])
  let failed = 0
  for (let made = 1n; made <= BigInt(count); made++) {
    const given =
      by === 'allocator' ? await store.database.allocateIdsBySize(store.context(), store.key({ kind }), 1n) : undefined
    const refusal = await refusalOf(() => store.put([insert(keyOf(given?.start ?? made), {})]))
    if (refusal === undefined) continue
    if (refusal.code !== 'ALREADY_EXISTS') throw refusal
    if (failed++ === 0) lines.push(`${refusal.code}: ${refusal.message}`)
  }
  record.figure('old rows', count)
  record.figure('new entities', count - failed)
  record.figure('inserts that failed', failed)
  record.text('what was answered', lines)
}

const inUse = 'the id allocated for a new entity was already in use, please try again'

const mappingArms = armsOf(mappings, migrate, (wire, mapping) => {
  const permutation = new KeyPermutation({ secret: 'over the wire', size: 1_000_000_000n })
  return openLoop(wire, (n) => {
    const old = BigInt(n + 1)
    return upsert(wire.client.key(mapping.element(old, permutation)), row(old))
  })
})

const wayBack = ['other rows found by an old number', 'old numbers that their keys do not tell']

export const migrateKeys: Lab = defineLab({
  name: 'migrate-keys',
  idea:
    'Numbers in a row are neighbours as ids and, digit by digit, as names: what is copied in their order falls on one tablet. A ' +
    'reversible permutation sends neighbours far apart, gives each number a key of its own, and with the secret it can be taken ' +
    'back. Automatic ids come from a counter that knows nothing of rows written by hand, until their range is reserved.',
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    ...defaultsOf('work.records'),
    'ramp.startOpsPerSecond': 2000,
    'ramp.minutes': 30,
    'load.slotMs': 10_000,
    'load.samples': 32,
    'tablet.samplesMin': 16,
    'work.records': 1200,
  },
  arms: [
    ...mappingArms,
    arm('unreserved', 'old rows under their ids; new entities without an id', (session) => insertNew(session, false)),
    arm('reserved', 'the same, after allocateIdRange from 1 to N', (session) => insertNew(session, true)),
    arm(
      'allocated-names',
      'old rows under enciphered names; new ones under names of allocated ids, enciphered',
      (session) => nameNew(session, 'allocator'),
    ),
    arm('counted-names', 'the same with numbers of the program, which begin at 1', (session) =>
      nameNew(session, 'own counter'),
    ),
  ],
  expectations: [
    ...['int-ids', 'decimal-names'].map((name) =>
      expected(`${name}: one tablet carries nearly all of the load, and what is above its server's capacity is refused`)
        .of(name, 'hottest tablet at the end', 'refused at the end')
        .holds((share, refused) => share > 90 && refused > 1000, '{} %, {}/s refused'),
    ),
    ...['permuted-ids', 'permuted-names'].flatMap((name) => [
      expected(`${name}: the load is spread over tablets, and served`)
        .of(name, 'hottest tablet at the end', 'tablets', 'refused of all')
        .holds(
          (share, tablets, refused) => share < 33 && tablets >= 4 && refused < 3,
          '{} % on one of {} tablets, {} % refused',
        ),
      expected(`${name}: each number has a key of its own, which tells the number`)
        .of(name, ...wayBack)
        .holds((wrong, lost) => wrong === 0 && lost === 0, '{} rows overwritten, {} numbers lost'),
    ]),
    expected('short-hash: spreads as well, but overwrites rows and has no way back')
      .of('short-hash', ...wayBack, 'hottest tablet at the end')
      .holds((wrong, lost, share) => wrong > 0 && lost > 0 && share < 33, '{} rows overwritten, {} numbers lost'),
    expected('unreserved: new entities are given the ids of old rows, and fail').figure('inserts that failed').above(0),
    expected('reserved: no new id collides').figure('inserts that failed').is(0),
    expected('allocated-names: an allocated id, enciphered, never makes the name of an old row')
      .figure('inserts that failed')
      .is(0),
    expected('counted-names: numbers that begin anew make the names of old rows')
      .figure('inserts that failed')
      .above(0),
  ],
})
