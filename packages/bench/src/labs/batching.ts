/** The same entities written and read one by one, side by side, and together; and one entity twice in a commit. */
import type { CommitRequest, Key, Mutation } from '@sixtables/engine'
import { arm, armsOf, defineLab, expected, type Lab, type Named, type Ways } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import { Unmeasured } from '../measure/recorder.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { refusalOf } from '../sim/client.ts'
import { insert, integer, upsert } from '../sim/entities.ts'
import { recordFindings } from '../sim/findings.ts'
import { hashOf } from '../sim/keys.ts'
import type { Store } from '../sim/store.ts'
import type { WireSession } from '../sim/wire.ts'
import { writeOverWire } from '../sim/writers.ts'

/** Which keys go into which call, and whether the next call waits for the answer. */
interface Way {
  calls(keys: readonly Key[]): readonly (readonly Key[])[]
  readonly waits: boolean
}

async function write(session: ArmSession, way: Way): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const count = session.setting('batch.size')
  const keys = Array.from({ length: count }, (_, i) =>
    store.key({ kind: 'Item', name: hashOf(`${session.seed} ${i}`) }),
  )
  let logRecords = 0
  store.engine.tablets.onSample(({ table, operation, rows }) => {
    if (table === 'Log' && operation === 'put') logRecords += rows
  })
  const commits = await measured(session, store, way, keys, async (some) => {
    await store.put(some.map((key, i) => upsert(key, { n: integer(i) })))
  })
  const lookups = await measured(session, store, way, keys, async (some) => {
    const { found } = await store.database.lookup(store.context(), { keys: some })
    if (found.length !== some.length) throw new Unmeasured('a lookup left entities for another call')
  })
  record.figure('entities', count)
  record.figure('commits', commits.calls, 'calls')
  record.figure('log records', logRecords)
  record.figure('all written', commits.totalMs, 'ms')
  record.figure('p99 of a commit', commits.latency.quantile(0.99), 'ms')
  record.figure('lookups', lookups.calls, 'calls')
  record.figure('all read', lookups.totalMs, 'ms')
  record.figure('errors', commits.errors + lookups.errors, 'calls')
  recordFindings(record, store, 'single-calls')
}

/** The times of calls: of each of them, and of all together. */
async function measured(
  session: ArmSession,
  store: Store,
  { calls, waits }: Way,
  keys: readonly Key[],
  work: (keys: readonly Key[]) => Promise<void>,
) {
  const tally = { calls: 0, errors: 0, latency: new Histogram(), totalMs: 0 }
  const rpcMs = session.setting('client.rpcMs')
  const call = async (some: readonly Key[]): Promise<void> => {
    const begun = store.nowMs
    tally.calls++
    await store.sleep(rpcMs / 2)
    if ((await refusalOf(() => work(some))) !== undefined) tally.errors++
    await store.sleep(rpcMs / 2)
    tally.latency.add(store.nowMs - begun, 1)
  }
  await store.alone(async () => {
    const begun = store.nowMs
    if (waits) for (const some of calls(keys)) await call(some)
    else await Promise.all(calls(keys).map(call))
    tally.totalMs = store.nowMs - begun
  })
  return tally
}

/** A hundred entities: by one call after the other, by a hundred clients, or in one call. */
function drive(wire: WireSession, { name, waits }: Named<Way>): Promise<void> {
  const length = name === 'together' ? 100 : 1
  return writeOverWire(wire, waits ? 1 : 100, ({ client, random }) => {
    const key = (): Key => client.key({ kind: 'Item', name: hashOf(String(random.next())) })
    return client.commit(Array.from({ length }, (_, i) => upsert(key(), { n: integer(i) })))
  })
}

const verbs = { upsert, insert } as const

/** One entity twice in a commit: by mode of the database, kind of commit, and verb. */
async function twice(session: ArmSession): Promise<void> {
  const { record } = session
  const lines: string[] = []
  let taken = 0
  for (const mode of ['firestore', 'legacy'] as const) {
    const store = await session.open({ mode, apply: { type: 'immediate' } })
    for (const commit of ['nonTransactional', 'transactional'] as const) {
      for (const [name, verb] of Object.entries(verbs)) {
        const key = store.key({ kind: 'Item', name: `${commit}-${name}-${session.random.integer(1000)}` })
        const mutations = [verb(key, { n: integer(1) }), verb(key, { n: integer(2) })]
        const words = await answerOf(store, requestOf(commit, mutations))
        lines.push(`${mode.padEnd(9)}  ${commit.padEnd(16)}  ${name} twice: ${words}`)
        if (words.startsWith('taken')) taken++
      }
    }
    if (mode === 'firestore') recordFindings(record, store, 'duplicate-in-commit')
  }
  record.figure('commits that name an entity twice', lines.length)
  record.figure('refused', lines.length - taken, 'commits')
  record.figure('taken', taken, 'commits')
  record.text('what the store answers', lines)
}

function requestOf(mode: CommitRequest['mode'], mutations: readonly Mutation[]): CommitRequest {
  if (mode === 'nonTransactional') return { mode, mutations }
  return { mode, singleUse: { mode: 'readWrite' }, mutations }
}

async function answerOf(store: Store, request: CommitRequest): Promise<string> {
  let rows = 0
  const refusal = await refusalOf(async () => {
    rows = (await store.database.commit(store.context(), request)).indexUpdates
  })
  return refusal === undefined ? `taken, ${rows} index rows` : `${refusal.code}: ${refusal.message}`
}

const oneByOne: Way['calls'] = (keys) => keys.map((key) => [key])

const ways: Ways<Way> = {
  'one-by-one': { about: 'a call for each entity, each waits for the one before', calls: oneByOne, waits: true },
  'side-by-side': { about: 'a call for each entity, all at once', calls: oneByOne, waits: false },
  together: { about: 'all entities in one call', calls: (keys) => [keys], waits: true },
}

const names = Object.keys(ways)
const isSmallPart = (single: number, _: number, together: number): boolean => together * 20 < single

export const batching: Lab = defineLab({
  name: 'batching',
  idea:
    'A call has a way to go, and a commit an append to wait for, whatever is in it. One call pays that once; calls at once pay ' +
    'it side by side: the client waits as short, but the service has as many calls to answer.',
  settings: {
    ...serverSettings,
    ...defaultsOf('client.rpcMs'),
    'batch.size': 100,
  },
  arms: [...armsOf(ways, write, drive), arm('twice', 'one entity twice in a commit', twice)],
  expectations: [
    expected('one commit takes a small part of the time of single ones')
      .across('all written', ...names)
      .holds(isSmallPart, '{1} ms one by one, {3} ms together'),
    expected('so does one lookup')
      .across('all read', ...names)
      .holds(isSmallPart, '{1} ms one by one, {3} ms together'),
    expected('calls at once hide their latency, but there are as many of them')
      .across('all written', ...names)
      .across('commits', ...names)
      .holds(
        (single, atOnce, _, calls, callsAtOnce, together) =>
          atOnce * 20 < single && callsAtOnce === calls && together === 1,
        '{2} ms, {5} calls; together {6} call',
      ),
    expected('the store does the same work: a log record for each entity group')
      .across('log records', ...names)
      .holds(
        (single, atOnce, together) => single > 0 && atOnce === single && together === single,
        '{}, {}, {} log records',
      ),
    ...names.map((name) => expected(`${name}: no call fails`).figure('errors').is(0)),
    expected('one-by-one: the engine warns of single calls').figure('findings of the engine').above(0),
    expected('together: the engine has nothing to say').figure('findings of the engine').is(0),
    expected('twice: refused where the commit is no transaction').figure('refused').is(6),
    expected('twice: a transaction takes it where the verbs allow').figure('taken').is(2),
    expected('twice: the engine warns of it').figure('findings of the engine').above(0),
  ],
})
