/** allocateIdRange over ranges that are free, given, or in use. */
import type { Key, KeyRangeState } from '@sixtables/engine'
import { arm, defineLab, expected, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { text, upsert } from '../sim/entities.ts'
import { legacyAtOnce, type Store } from '../sim/store.ts'

/** The states, and what makes ranges have them. */
const states = { EMPTY: 'free ranges', CONTENTION: 'ids below the mark', COLLISION: 'an entity inside' } as const
const stateNames = Object.keys(states) as KeyRangeState[]

/** Ranges and the high-water mark after each of them. Each meets a counter that gives 11 next, and an entity with the id 20. */
const cases: readonly (readonly [KeyRangeState, start: bigint, end: bigint, next: bigint])[] = [
  ['EMPTY', 11n, 15n, 16n],
  ['EMPTY', 30n, 40n, 41n],
  ['CONTENTION', 1n, 5n, 11n],
  ['CONTENTION', 8n, 12n, 13n],
  ['COLLISION', 18n, 22n, 23n],
  ['COLLISION', 20n, 20n, 21n],
]

const kind = 'Row'

async function prepared(session: ArmSession): Promise<{ store: Store; of: Key }> {
  const store = await session.open(legacyAtOnce)
  const of = store.key({ kind })
  await store.database.allocateIdsBySize(store.context(), of, 10n)
  await put(store, store.key({ kind, id: 20n }))
  return { store, of }
}

async function put(store: Store, key: Key, from = 'the old database'): Promise<void> {
  await store.put([upsert(key, { from: text(from) })])
}

async function known(session: ArmSession, state: KeyRangeState): Promise<void> {
  let unlike = 0
  const lines: string[] = []
  for (const [wanted, start, end, next] of cases) {
    if (wanted !== state) continue
    const { store, of } = await prepared(session)
    const answer = await store.database.allocateIdRange(store.context(), of, { start, end })
    lines.push(answer.words)
    if (answer.state !== state || answer.nextAfter !== next) unlike++
  }
  session.record.figure('ranges', lines.length)
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
  session.record.figure('skipped ids are EMPTY', skipped.state === 'EMPTY')
  session.record.figure('EMPTY a second time', again.state === 'EMPTY')
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
  session.record.figure('old rows', ids.length)
  session.record.figure('old rows overwritten', after.filter((version, i) => version !== versions[i]).length)
  session.record.figure('ids given later that fall inside', isInside)
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

async function perParent(session: ArmSession): Promise<void> {
  const store = await session.open(legacyAtOnce)
  const lines: string[] = []
  let shared = 0
  for (const name of ['ada', 'bob', 'eve']) {
    const of = store.key({ kind: 'User', name }, { kind })
    const range = { start: 1n, end: BigInt(10 + session.random.integer(90)) }
    const { state, nextBefore, words } = await store.database.allocateIdRange(store.context(), of, range)
    if (state !== 'EMPTY' || nextBefore !== 1n) shared++
    lines.push(words)
  }
  session.record.figure('parents', lines.length)
  session.record.figure('counters moved by another parent', shared)
  session.record.text('the same kind under three parents', lines)
}

/** Random puts, allocations and ranges, against a model that remembers every entity and the mark. */
async function random(session: ArmSession): Promise<void> {
  const store = await session.open(legacyAtOnce)
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
  session.record.figure('ranges', count)
  session.record.figure('unlike the rules', unlike, 'answers')
  for (const state of stateNames) session.record.figure(state, seen[state], 'answers')
}

export const keyRangeState: Lab = defineLab({
  name: 'key-range-state',
  idea:
    'The allocator keeps a high-water mark, not a set of ranges: an id below the mark counts as given, whether it was or was ' +
    'only passed over. Asking moves the mark past the range, so automatic ids never fall into it.',
  settings: { 'ranges.count': 200 },
  arms: [
    ...stateNames.map((state) => arm(state.toLowerCase(), states[state], (session) => known(session, state))),
    arm('high-water-mark', 'a far range, then one that it passed over', highWater),
    arm(
      'late-contention',
      'old rows under ids of a CONTENTION range; a program was given these ids before, and writes late',
      (session) => lateWriter(session, 1n),
    ),
    arm('late-empty', 'the same under ids of an EMPTY range', (session) => lateWriter(session, 11n)),
    arm('per-parent', 'one kind under three parents', perParent),
    arm('random', 'random entities, allocations and ranges, against a model', random),
  ],
  expectations: [
    ...stateNames.map((state) =>
      expected(`${state.toLowerCase()}: each range answers ${state}`).figure('unlike the rules').is(0),
    ),
    expected('ids that were passed over count as given').of('high-water-mark', 'skipped ids are EMPTY').is(0),
    expected('no range is EMPTY twice').of('high-water-mark', 'EMPTY a second time').is(0),
    expected('a child kind has its own sequence under every parent')
      .of('per-parent', 'counters moved by another parent')
      .is(0),
    expected('late-contention: rows in a CONTENTION range are overwritten by the one who was given its ids')
      .figure('old rows overwritten')
      .is(5),
    expected('late-empty: rows in an EMPTY range stay as they are').figure('old rows overwritten').is(0),
    ...['late-contention', 'late-empty'].map((name) =>
      expected(`${name}: no id that is given later falls inside`).figure('ids given later that fall inside').is(0),
    ),
    expected('random ranges answer by the rules').of('random', 'unlike the rules').is(0),
    ...stateNames.map((state) => expected(`random ranges meet ${state}`).of('random', state).above(0)),
  ],
})
