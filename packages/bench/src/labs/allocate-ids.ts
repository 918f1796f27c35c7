/** Where ids come from, and that no two sources meet. */
import { scatteredIdMax, scatteredIdMin, sequentialIdMax } from '@sixtables/engine'
import { armsOf, defineLab, type Expectation, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { idOf, refusalOf } from '../sim/client.ts'
import { insert, text } from '../sim/entities.ts'
import type { Store } from '../sim/store.ts'

interface Taken {
  /** Ids that a client means to use, or uses: written down by hand, allocated or reserved. */
  readonly ids: readonly bigint[]
  readonly words: readonly string[]
}

interface Way {
  readonly mode: 'firestore' | 'legacy'
  take(store: Store, session: ArmSession): Promise<Taken>
}

async function observe(session: ArmSession, { mode, take }: Way): Promise<void> {
  const { record } = session
  // An automatic id that is in use already fails its commit, instead of being replaced by the next one.
  const store = await session.open({ mode, apply: { type: 'immediate' }, idCollisions: 'fail' })
  const taken = await take(store, session)
  const { ids: automatic, refused } = await automaticIds(store, session.setting('ids.count'))
  const held = new Set(taken.ids)
  record.figure('ids held', taken.ids.length)
  record.figure('automatic ids', automatic.length)
  record.figure('overlaps', automatic.filter((id) => held.has(id)).length, 'ids')
  record.figure('given twice', automatic.length - new Set(automatic).size + refused, 'ids')
  const buckets = session.setting('ids.buckets')
  record.figure('chi-square', chiSquare(automatic, buckets))
  record.figure('chi-square if even, at most', chiSquareBound(buckets - 1))
  record.text('what happened', [...taken.words, `then automatically: ${automatic.slice(0, 5).join(', ')}, …`])
  const counts = bucketCounts(automatic, buckets)
  const x = { name: 'part of the id space', values: counts.map((_, i) => i) }
  record.chart('where automatic ids fall', 'ids', x, { 'automatic ids': counts })
}

const atOnce = 50

/** Inserts entities without ids, fifty in a commit; `refused` ones got an id that was in use. */
async function automaticIds(store: Store, count: number): Promise<{ ids: bigint[]; refused: number }> {
  const ids: bigint[] = []
  let refused = 0
  for (let done = 0; done < count; done += atOnce) {
    const entities = Array.from({ length: Math.min(atOnce, count - done) }, (_, i) =>
      insert(store.key({ kind: 'Item' }), { name: text(`item ${done + i}`) }),
    )
    // A transaction of legacy Datastore touches 25 groups at most; a plain commit has no such bound.
    const refusal = await refusalOf(async () => {
      const { mutationResults } = await store.put(entities)
      for (const { key } of mutationResults) ids.push(idOf(key))
    })
    if (refusal !== undefined) refused += entities.length
  }
  return { ids, refused }
}

function bucketCounts(ids: readonly bigint[], buckets: number): number[] {
  const counts = new Array<number>(buckets).fill(0)
  const isScattered = (ids[0] ?? 1n) >= scatteredIdMin
  const low = isScattered ? scatteredIdMin : 1n
  const high = isScattered ? scatteredIdMax : sequentialIdMax
  for (const id of ids) {
    const bucket = Number(((id - low) * BigInt(buckets)) / (high - low + 1n))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts
}

function chiSquare(ids: readonly bigint[], buckets: number): number {
  const expected = ids.length / buckets
  return bucketCounts(ids, buckets).reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

/** An even spread exceeds this once in a thousand times. */
function chiSquareBound(degrees: number): number {
  const part = 2 / (9 * degrees)
  return degrees * (1 - part + 3.09 * Math.sqrt(part)) ** 3
}

/** Ids for entities that are put later; unless they are reserved, the store does not know of them yet. */
const byHand =
  (isReserved: boolean): Way['take'] =>
  async (store, { random }) => {
    const ids = [...new Set(Array.from({ length: 10 }, () => BigInt(1 + random.integer(2000))))]
    const keys = ids.map((id) => store.key({ kind: 'Item', id }))
    if (isReserved) await store.database.reserveIds(store.context(), keys)
    return { ids, words: [`written down by hand${isReserved ? ' and reserved' : ''}: ${ids.join(', ')}`] }
  }

async function fromPartialKey(store: Store): Promise<Taken> {
  const keys = Array.from({ length: 10 }, () => store.key({ kind: 'Item' }))
  const completed = await store.database.allocateIds(store.context(), keys)
  const ids = completed.map(idOf)
  return { ids, words: [`allocateIds(10) from Item:?: ${ids.slice(0, 3).join(', ')}, …`] }
}

/** The old API takes any key of the kind and parent, and gives a range. */
async function fromExistingKey(store: Store): Promise<Taken> {
  const { mutationResults } = await store.put([insert(store.key({ kind: 'Item' }), { name: text('first') })])
  const existing = mutationResults[0]?.key
  if (existing === undefined) throw new Error('an entity was given no id')
  const like = { ...existing, path: existing.path.map(({ kind }) => ({ kind })) }
  const { start, end } = await store.database.allocateIdsBySize(store.context(), like, 10n)
  const range = Array.from({ length: Number(end - start) + 1 }, (_, i) => start + BigInt(i))
  return {
    ids: [idOf(existing), ...range],
    words: [`an entity with the id ${idOf(existing)}`, `allocateIds(10) for its kind and parent: ${start} to ${end}`],
  }
}

const ways: Ways<Way> = {
  'hand-made': {
    about: 'ten ids written down by hand and reserved, automatic ids sequential',
    mode: 'legacy',
    take: byHand(true),
  },
  unreserved: { about: 'ten ids written down by hand, and not reserved', mode: 'legacy', take: byHand(false) },
  'partial-key': {
    about: 'allocateIds(10) from a partial key, automatic ids scattered',
    mode: 'firestore',
    take: fromPartialKey,
  },
  'existing-key': {
    about: 'allocateIds(10) for the kind of an existing key, automatic ids sequential',
    mode: 'legacy',
    take: fromExistingKey,
  },
}

function evenness(says: string, isEven: boolean): Expectation {
  return expected(says)
    .figure('chi-square')
    .figure('chi-square if even, at most')
    .holds((value, bound) => value <= bound === isEven, 'chi-square {}, at most {} if even')
}

export const allocateIds: Lab = defineLab({
  name: 'allocate-ids',
  idea:
    'Each space has a counter that only rises; allocating and reserving move it. A scattered id is the counter with its bits ' +
    'mirrored, so neighbours in time lie far apart in the key range; a sequential id is the counter itself.',
  settings: { 'ids.count': 4096, 'ids.buckets': 64 },
  arms: armsOf(ways, observe),
  expectations: [
    ...['hand-made', 'partial-key', 'existing-key'].map((name) =>
      expected(`${name}: no automatic id falls on a held one`).figure('overlaps').is(0),
    ),
    expected('unreserved: automatic ids fall on ids that were only written down').figure('overlaps').above(0),
    ...Object.keys(ways).map((name) => expected(`${name}: no id is given twice`).figure('given twice').is(0)),
    evenness('partial-key: scattered ids spread evenly', true),
    evenness('hand-made: sequential ids stay in one corner of their space', false),
    evenness('existing-key: sequential ids stay in one corner of their space', false),
  ],
})
