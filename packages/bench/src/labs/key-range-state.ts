/**
 * allocateIdRange over ranges that are free, given, or in use.
 *
 * Known: the three states and their order (App Engine SDK); the use for ids that come with migrated rows.
 */
import type { Key, KeyRangeState } from '@sixtables/engine'
import { type Arm, defineLab, expectFigure, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { text, upsert } from '../sim/entities.ts'
import type { Store } from '../sim/store.ts'

interface Case {
  readonly start: bigint
  readonly end: bigint
  readonly state: KeyRangeState
  /** The high-water mark afterwards. */
  readonly next: bigint
}

/** Each of these meets a counter that gives 11 next, and an entity with the id 20. */
const cases = {
  empty: [
    { start: 11n, end: 15n, state: 'EMPTY', next: 16n },
    { start: 30n, end: 40n, state: 'EMPTY', next: 41n },
  ],
  contention: [
    { start: 1n, end: 5n, state: 'CONTENTION', next: 11n },
    { start: 8n, end: 12n, state: 'CONTENTION', next: 13n },
  ],
  collision: [
    { start: 18n, end: 22n, state: 'COLLISION', next: 23n },
    { start: 20n, end: 20n, state: 'COLLISION', next: 21n },
  ],
} as const satisfies Record<string, readonly Case[]>

const kind = 'Row'

async function prepared(session: ArmSession): Promise<{ store: Store; of: Key }> {
  const store = await session.open({ mode: 'legacy', apply: { type: 'immediate' } })
  const of = store.key({ kind })
  await store.database.allocateIdsBySize(store.context(), of, 10n)
  await put(store, store.key({ kind, id: 20n }))
  return { store, of }
}

async function put(store: Store, key: Key, from = 'the old database'): Promise<void> {
  await store.put([upsert(key, { from: text(from) })])
}

async function known(session: ArmSession, expected: readonly Case[]): Promise<void> {
  let unlike = 0
  const lines: string[] = []
  for (const { start, end, state, next } of expected) {
    const { store, of } = await prepared(session)
    const answer = await store.database.allocateIdRange(store.context(), of, { start, end })
    lines.push(answer.words)
    if (answer.state !== state || answer.nextAfter !== next) unlike++
  }
  session.record.figure('ranges', expected.length, '')
  session.record.figure('unlike the rules', unlike, 'answers')
  session.record.text('counter at 11, an entity at 20; each range alone', lines)
}

/** [12, 14] is free; asked for a second time, or behind a range that reaches past it, it is not. */
async function highWater(session: ArmSession): Promise<void> {
  const { store, of } = await prepared(session)
  const ask = (start: bigint, end: bigint) => store.database.allocateIdRange(store.context(), of, { start, end })
  const far = await ask(30n, 40n)
  const skipped = await ask(12n, 14n)
  const again = await ask(30n, 40n)
  session.record.figure('skipped ids are EMPTY', skipped.state === 'EMPTY' ? 1 : 0, '')
  session.record.figure('EMPTY a second time', again.state === 'EMPTY' ? 1 : 0, '')
  session.record.text('one counter, three ranges in turn', [far.words, skipped.words, again.words])
}

/**
 * A program that was given ids 1 to 10 earlier writes under them late, after old rows came in under a range of ids.
 *
 * @param start - the first id of the old rows, of which there are five
 */
async function lateWriter(session: ArmSession, start: bigint): Promise<void> {
  const { store, of } = await prepared(session)
  const range = { start, end: start + 4n }
  const { words } = await store.database.allocateIdRange(store.context(), of, range)
  const later = await store.database.allocateIdsBySize(store.context(), of, 10n)
  const ids = Array.from({ length: 5 }, (_, i) => start + BigInt(i))
  for (const id of ids) await put(store, store.key({ kind, id }))
  const versions = await versionsOf(store, ids)
  for (let id = 1n; id <= 10n; id++) await put(store, store.key({ kind, id }), 'a program')
  const after = await versionsOf(store, ids)
  const isInside = later.start <= range.end && later.end >= range.start
  session.record.figure('old rows', ids.length, '')
  session.record.figure('old rows overwritten', after.filter((version, i) => version !== versions[i]).length, '')
  session.record.figure('ids given later that fall inside', isInside ? 1 : 0, '')
  session.record.text('the range, and the ids that a program was given after it', [
    words,
    `Row:${later.start} to Row:${later.end}`,
  ])
}

async function versionsOf(store: Store, ids: readonly bigint[]): Promise<readonly bigint[]> {
  const keys = ids.map((id) => store.key({ kind, id }))
  const { found } = await store.database.lookup(store.context(), { keys })
  return found.map(({ image }) => image.version)
}

/** A kind has a counter under each parent. */
async function perParent(session: ArmSession): Promise<void> {
  const store = await session.open({ mode: 'legacy', apply: { type: 'immediate' } })
  const lines: string[] = []
  let shared = 0
  for (const name of ['ada', 'bob', 'eve']) {
    const of = store.key({ kind: 'User', name }, { kind })
    const { state, nextBefore, words } = await store.database.allocateIdRange(store.context(), of, {
      start: 1n,
      end: BigInt(10 + session.random.integer(90)),
    })
    if (state !== 'EMPTY' || nextBefore !== 1n) shared++
    lines.push(words)
  }
  session.record.figure('parents', lines.length, '')
  session.record.figure('counters moved by another parent', shared, '')
  session.record.text('the same kind under three parents', lines)
}

/** Random puts, allocations and ranges, against a model that remembers every entity and the mark. */
async function random(session: ArmSession): Promise<void> {
  const store = await session.open({ mode: 'legacy', apply: { type: 'immediate' } })
  const of = store.key({ kind })
  const draw = session.random
  const entities = new Set<bigint>()
  let mark = 1n
  const seen: Record<KeyRangeState, number> = { EMPTY: 0, CONTENTION: 0, COLLISION: 0 }
  let unlike = 0
  const count = session.setting('ranges.count')
  for (let i = 0; i < count; i++) {
    const near = mark + BigInt(draw.integer(60)) - 20n
    const start = near < 1n ? 1n : near
    if (draw.next() < 0.4) {
      entities.add(start)
      await put(store, store.key({ kind, id: start }))
    }
    if (draw.next() < 0.3) {
      const size = BigInt(1 + draw.integer(5))
      const range = await store.database.allocateIdsBySize(store.context(), of, size)
      if (range.start !== mark) unlike++
      mark = range.end + 1n
    }
    const from = start + BigInt(draw.integer(8))
    const end = from + BigInt(draw.integer(12))
    const inUse = [...entities].some((id) => id >= from && id <= end)
    const model: KeyRangeState = inUse ? 'COLLISION' : mark > from ? 'CONTENTION' : 'EMPTY'
    const { state } = await store.database.allocateIdRange(store.context(), of, { start: from, end })
    if (state !== model) unlike++
    seen[state]++
    if (end >= mark) mark = end + 1n
  }
  session.record.figure('ranges', count, '')
  session.record.figure('unlike the rules', unlike, 'answers')
  for (const state of ['EMPTY', 'CONTENTION', 'COLLISION'] as const)
    session.record.figure(state, seen[state], 'answers')
}

const stateArms = (Object.keys(cases) as (keyof typeof cases)[]).map((name): Arm => {
  const about = { empty: 'free ranges', contention: 'ids below the mark', collision: 'an entity inside' }[name]
  return { name, about, run: (session) => known(session, cases[name]) }
})

export const keyRangeState: Lab = defineLab({
  name: 'key-range-state',
  idea:
    'The allocator keeps a high-water mark, not a set of ranges: an id below the mark counts as given, whether it was or was ' +
    'only passed over. Asking moves the mark past the range, so automatic ids never fall into it.',
  settings: { 'ranges.count': 200 },
  arms: [
    ...stateArms,
    { name: 'high-water-mark', about: 'a far range, then one that it passed over', run: highWater },
    {
      name: 'late-contention',
      about: 'old rows under ids of a CONTENTION range; a program was given these ids before, and writes late',
      run: (session) => lateWriter(session, 1n),
    },
    {
      name: 'late-empty',
      about: 'the same under ids of an EMPTY range',
      run: (session) => lateWriter(session, 11n),
    },
    { name: 'per-parent', about: 'one kind under three parents', run: perParent },
    { name: 'random', about: 'random entities, allocations and ranges, against a model', run: random },
  ],
  expectations: [
    ...stateArms.map(({ name }) =>
      expectFigure(`${name}: each range answers ${name.toUpperCase()}`, 'unlike the rules', 0),
    ),
    expectFigure('ids that were passed over count as given', 'skipped ids are EMPTY', 0, 'high-water-mark'),
    expectFigure('no range is EMPTY twice', 'EMPTY a second time', 0, 'high-water-mark'),
    expectFigure(
      'a child kind has its own sequence under every parent',
      'counters moved by another parent',
      0,
      'per-parent',
    ),
    expectFigure(
      'late-contention: rows in a CONTENTION range are overwritten by the one who was given its ids',
      'old rows overwritten',
      5,
    ),
    expectFigure('late-empty: rows in an EMPTY range stay as they are', 'old rows overwritten', 0),
    ...['late-contention', 'late-empty'].map((name) =>
      expectFigure(`${name}: no id that is given later falls inside`, 'ids given later that fall inside', 0),
    ),
    expectFigure('random ranges answer by the rules', 'unlike the rules', 0, 'random'),
    ...(['EMPTY', 'CONTENTION', 'COLLISION'] as const).map((state) =>
      expectFigure(`random ranges meet ${state}`, state, (n) => n > 0, 'random'),
    ),
  ],
})
