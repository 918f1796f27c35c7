/**
 * Four ways to read what was just written, between commit and apply.
 *
 * Each probe writes an entity of a group, holds it at a moment, and reads once:
 *
 *   moments      committed (no table row yet) · milestone A (entity row there, index rows not)
 *   situations   new, in the filter · changed into the filter · changed out of it
 */
import { decodeProperties, type Key, type Query } from '@sixtables/engine'
import { type Arm, arm, defineLab, type Expectation, expected, type Lab } from '../lab.ts'
import type { FlowStage } from '../measure/recorder.ts'
import type { ArmSession } from '../session.ts'
import { allOf, text, upsert, where, whereKey } from '../sim/entities.ts'
import { released, stagesOf } from '../sim/stages.ts'
import type { Store } from '../sim/store.ts'

const situations = ['new in the filter', 'changed into it', 'changed out of it'] as const
const moments = ['committed', 'milestone A'] as const
type Situation = (typeof situations)[number]
type Moment = (typeof moments)[number]

/** A read's answer about the entity: absent, or its owner. `ada` is the owner in the filter. */
type Answer = 'absent' | 'ada' | 'bob'

type Reader = (store: Store, group: Key, key: Key) => Promise<Answer>

async function put(store: Store, key: Key, name: string): Promise<void> {
  await store.put([upsert(key, { owner: text(name) })])
}

const lookup: Reader = async (store, _group, key) => {
  const { found } = await store.database.lookup(store.context(), { keys: [key] })
  return found[0] === undefined ? 'absent' : ownerOf(found[0].image.properties)
}

function ownerOf(properties: Uint8Array): Answer {
  const value = decodeProperties(properties).get('owner')
  return value?.type === 'string' && value.value === 'ada' ? 'ada' : 'bob'
}

function adasToDos(store: Store, ancestor?: Key): Query {
  const byOwner = where('owner', 'equal', text('ada'))
  return store.query('ToDo', {
    filter: ancestor === undefined ? byOwner : allOf(byOwner, whereKey('hasAncestor', ancestor)),
  })
}

const sameKey = (a: Key, b: Key): boolean => {
  const [x, y] = [a.path.at(-1), b.path.at(-1)]
  return a.path[0]?.name === b.path[0]?.name && x?.id === y?.id
}

const queryBy =
  (scope: 'group' | 'global'): Reader =>
  async (store, group, key) => {
    const query = adasToDos(store, scope === 'group' ? group : undefined)
    const { results } = await store.database.runQuery(store.context(), { query })
    const result = results.find((one) => sameKey(one.key, key))
    return result?.image === undefined ? 'absent' : ownerOf(result.image.properties)
  }

/** The keys from an eventual query, the entities by strong lookup. */
const keysThenLookup: Reader = async (store, group, key) => {
  const query = { ...adasToDos(store), projection: ['__key__'] }
  const { results } = await store.database.runQuery(store.context(), { query })
  return results.some((one) => sameKey(one.key, key)) ? lookup(store, group, key) : 'absent'
}

/** The right answer once the write is acknowledged, for a reader that filters and for one that names the key. */
function truth(situation: Situation, byKey: boolean): Answer {
  if (situation !== 'changed out of it') return 'ada'
  return byKey ? 'bob' : 'absent'
}

async function probe(session: ArmSession, read: Reader, byKey: boolean): Promise<void> {
  const { record, random } = session
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' } })
  const count = session.setting('probe.count')
  const tally = new Map<string, { count: number; wrong: number; answers: Set<string> }>()
  let wrong = 0
  let rolledForward = 0
  for (let i = 0; i < count; i++) {
    // Each case comes as often as any other; chance decides their order and the names.
    const situation = situations[i % 3] ?? 'new in the filter'
    const moment = moments[Math.floor(i / 3) % 2] ?? 'committed'
    const group = store.key({ kind: 'User', name: `u${i}-${random.integer(1_000_000)}` })
    const key = { ...group, path: [...group.path, { kind: 'ToDo', id: BigInt(1 + random.integer(1000)) }] }
    await stage(store, key, situation, moment)
    const answer = await read(store, group, key)
    const isWrong = answer !== truth(situation, byKey)
    if (isWrong) wrong++
    if (store.engine.waitingRecords === 0) rolledForward++
    const name = `${moment}, ${situation}`
    const seen = tally.get(name) ?? { count: 0, wrong: 0, answers: new Set<string>() }
    tally.set(name, { count: seen.count + 1, wrong: seen.wrong + (isWrong ? 1 : 0), answers: seen.answers.add(answer) })
    await store.engine.inspector.releaseAll()
  }
  record.figure('reads', count)
  record.figure('wrong', wrong, 'reads')
  record.figure('rolled forward', rolledForward, 'reads')
  record.figure('seen after', await seenAfterMs(session, read), 'ms')
  const stages = await newEntityStages(session)
  record.flow({
    title: 'rows of a new ToDo, and what each read of it answers',
    stages: stages.map((stage) => ({
      ...stage,
      reads: situations.flatMap((situation) => {
        const seen = tally.get(`${stage.name}, ${situation}`)
        if (seen === undefined) return []
        return [{ what: situation, answer: [...seen.answers].sort().join(', '), isRight: seen.wrong === 0 }]
      }),
    })),
  })
}

async function newEntityStages(session: ArmSession): Promise<readonly FlowStage[]> {
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' } })
  const key = store.key({ kind: 'User', name: 'eve' }, { kind: 'ToDo', id: 7n })
  await put(store, key, 'ada')
  return stagesOf(await released(store, key))
}

async function stage(store: Store, key: Key, situation: Situation, moment: Moment): Promise<void> {
  if (situation !== 'new in the filter') {
    await put(store, key, situation === 'changed into it' ? 'bob' : 'ada')
    await store.engine.inspector.releaseAll()
  }
  await put(store, key, situation === 'changed out of it' ? 'bob' : 'ada')
  if (moment === 'milestone A') await store.engine.inspector.release(key, 'A')
}

/** How long after the acknowledgement a reader that asks again and again sees a new entity, apply being late. */
async function seenAfterMs(session: ArmSession, read: Reader): Promise<number> {
  const store = await session.open({
    mode: 'legacy',
    apply: { type: 'time', delayMs: session.setting('apply.delayMs') },
  })
  const group = store.key({ kind: 'User', name: 'eve' })
  const key = { ...group, path: [...group.path, { kind: 'ToDo', id: 1n }] }
  return await store.alone(async () => {
    await put(store, key, 'ada')
    const acknowledged = store.nowMs
    while ((await read(store, group, key)) === 'absent') await store.sleep(session.setting('probe.everyMs'))
    return store.nowMs - acknowledged
  })
}

const reading = (name: string, about: string, read: Reader, byKey = false): Arm =>
  arm(name, about, (session) => probe(session, read, byKey))

export const readYourWrites: Lab = defineLab({
  name: 'read-your-writes',
  idea:
    'A lookup and an ancestor query name their entity group, so they roll its log forward before they read. A global query ' +
    'names none: it reads the index rows as they are, and then the entity of each.',
  settings: { 'probe.count': 60, 'apply.delayMs': 300, 'probe.everyMs': 10 },
  arms: [
    reading('lookup', 'by key', lookup, true),
    reading('ancestor-query', 'owner = ada, within the entity group', queryBy('group')),
    reading('global-query', 'owner = ada, over all groups', queryBy('global')),
    reading('keys-only-then-lookup', 'the keys by global query, then each by lookup', keysThenLookup),
  ],
  expectations: [
    expected('a lookup is never wrong').of('lookup', 'wrong').is(0),
    expected('an ancestor query is never wrong').of('ancestor-query', 'wrong').is(0),
    ...['lookup', 'ancestor-query'].flatMap((name) => [
      allReads(name, 'rolled forward', 'each read rolls the log of its group forward'),
      expected(`${name}: a write is seen at once`).figure('seen after').is(0),
    ]),
    ...['global-query', 'keys-only-then-lookup'].flatMap((name) => [
      allReads(name, 'wrong', 'wrong in every case before the index rows are written'),
      expected(`${name}: a write is seen only when it is applied`).figure('seen after').above(0),
    ]),
  ],
})

function allReads(arm: string, figure: string, says: string): Expectation {
  return expected(`${arm}: ${says}`)
    .of(arm, figure, 'reads')
    .holds((some, all) => some === all, '{} of {} reads')
}
