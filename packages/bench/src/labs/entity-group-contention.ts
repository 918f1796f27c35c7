/** Writers on one entity group: how many commits a second it takes, and what that depends on. */
import { decodeProperties, type Key } from '@sixtables/engine'
import { arm, defineLab, type Expectation, expected, type Lab, type Ways } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import type { ArmSession } from '../session.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import { integerOf, isLate, succeeds } from '../sim/client.ts'
import { array, ascending, descending, integer, text, upsert, whereKey } from '../sim/entities.ts'
import { legacyAtOnce } from '../sim/store.ts'
import type { WireSession } from '../sim/wire.ts'
import { inTransaction, type Job, write, writeOverWire } from '../sim/writers.ts'

const forum = { kind: 'Forum', name: 'general' }
/** Indexed values of a post: rows that a strong query has to write for each record that is not applied yet. */
const tags = 40

/**
 * Reads of a group beside writes at an even rate: how old an eventual answer is, and whether a strong one comes in time.
 *
 *   write ─▶ log of the group ─▶ applied one after the other, each takes apply.delayMs ─▶ index rows ─▶ eventual query
 *                    └── what is not applied yet, a strong query applies first ─▶ its answer, or its deadline
 *
 * Ours: that applying is one job a group, with a fixed time for each record.
 */
async function readsBeside(session: ArmSession, writesPerSecond: number): Promise<void> {
  const { record } = session
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' }, simulate: true })
  const seconds = session.setting('burst.longSeconds') / 2
  const writes = Math.round(seconds * writesPerSecond)
  const keyOf = (n: number): Key => store.key(forum, { kind: 'Post', name: `post-${n}` })
  const writer = async (): Promise<void> => {
    for (let n = 0; n < writes; n++) {
      const values = Array.from({ length: tags }, (_, i) => text(`tag ${session.random.integer(1000)} ${i}`))
      const fields = { at: integer(Math.round(store.nowMs)), tags: array(values) }
      await store.put([upsert(keyOf(n), fields)])
      await store.sleep(Math.max(0, ((n + 1) * 1000) / writesPerSecond - store.nowMs))
    }
  }
  const applier = async (): Promise<void> => {
    while (store.nowMs < seconds * 1000) {
      const [oldest] = (await store.engine.inspector.pending({ limit: 1 })).pending
      // A pause of no length would be no pause: time would stand still.
      await store.sleep(Math.max(1, session.setting('apply.delayMs')))
      if (oldest !== undefined) await store.engine.inspector.release(keyOf(0), 'B', BigInt(oldest.version))
    }
  }
  await store.together([writer(), applier()])
  const pending = (await store.engine.inspector.pending()).pending.length
  let [lagMs, strongMs, isInTime] = [0, 0, true]
  await store.alone(async () => {
    const newest = store.query('Post', { order: [descending('at')], limit: 1 })
    const { results } = await store.database.runQuery(store.context(), { query: newest })
    lagMs = store.nowMs - integerOf(decodeProperties(results[0]?.image?.properties ?? new Uint8Array()), 'at')
    const begunMs = store.nowMs
    const filter = whereKey('hasAncestor', store.key(forum))
    const query = store.query('Post', { filter, order: [ascending('tags')], limit: 1 })
    const context = store.contextWithin(session.setting('query.deadlineMs'))
    isInTime = await succeeds(() => store.database.runQuery(context, { query }), isLate)
    strongMs = store.nowMs - begunMs
  })
  record.figure('writes', writes / seconds, '/s')
  record.figure('records not applied yet', pending)
  record.figure('an eventual query lags by', lagMs / 1000, 's')
  record.figure('a strong query takes', strongMs, 'ms')
  record.figure('strong queries that time out', !isInTime)
}

interface Variant {
  /** The root of a writer's group. */
  readonly group: (writer: number) => Key['path'][number]
  /** Entities that a transaction writes. */
  readonly batch: (session: ArmSession) => number
  readonly fastLog?: boolean
}

const variants: Ways<Variant> = {
  'one-group': { about: 'every writer in one group', group: () => forum, batch: () => 1 },
  'many-groups': {
    about: 'each writer in a group of its own',
    group: (writer) => ({ kind: 'Forum', name: `forum-${writer}` }),
    batch: () => 1,
  },
  batched: {
    about: 'one group, several entities in each transaction',
    group: () => forum,
    batch: (session) => session.setting('batch.size'),
  },
  'faster-log': { about: 'one group, and a faster log', group: () => forum, batch: () => 1, fastLog: true },
}

/** Reads the writer's own post, counts it up, and writes it with others of the group. */
const jobOf =
  ({ group }: Variant, batch: number): Job =>
  ({ client, writer }) =>
    inTransaction(client, async (transaction) => {
      const own = (i: number): Key => client.key(group(writer), { kind: 'Post', name: `writer-${writer}-${i}` })
      const found = await client.lookup(own(0), transaction)
      const edits = integerOf(found, 'edits') + 1
      return Array.from({ length: batch }, (_, i) => upsert(own(i), { edits: integer(edits) }))
    })

async function run(session: ArmSession, variant: Variant): Promise<void> {
  const { record } = session
  const batch = variant.batch(session)
  const seconds = session.setting('load.seconds')
  const levels = [1, 2, 5, 10, 20, 50, 100].filter((writers) => writers <= session.setting('load.writersMax'))
  const { all, first, last } = await session.atEach(levels, async (writers) => {
    const tablets = variant.fastLog ? { commitLatencyMs: session.setting('log.fastCommitMs') } : {}
    const store = await session.open({ ...legacyAtOnce, simulate: true, tablets })
    const tally = await write(session, store, { writers, seconds, job: jobOf(variant, batch) })
    const jobs = Math.max(1, tally.done + tally.givenUp)
    return {
      rate: tally.done / seconds,
      aborts: tally.retries / jobs + tally.givenUp / jobs,
      givenUp: tally.givenUp / jobs,
      p50: tally.latency.quantile(0.5),
      p99: tally.latency.quantile(0.99),
    }
  })
  const rates = all.map(({ rate }) => rate)
  record.figure('best rate', Math.max(...rates), 'commits/s')
  record.figure('entities', Math.max(...rates) * batch, '/s')
  record.ends('rate', [first.rate, last.rate], 'commits/s')
  record.ends('p99', [first.p99, last.p99], 'ms')
  record.ends('aborts', [first.aborts, last.aborts], 'per job')
  record.figure('given up, all writers', last.givenUp * 100, '%')
  const x = { name: 'writers', values: levels }
  record.chart('committed', '/s', x, { committed: rates })
  const latency = { p50: all.map(({ p50 }) => p50), p99: all.map(({ p99 }) => p99) }
  record.chart('latency, retries included', 'ms', x, latency)
  record.chart('attempts that were aborted', 'per job', x, { aborted: all.map(({ aborts }) => aborts) })
}

/** Writes to one group at an even rate, whatever becomes of them; a writer waits for its answer and does not try again. */
async function burst(session: ArmSession, seconds: number): Promise<void> {
  const { record } = session
  const store = await session.open({ ...legacyAtOnce, simulate: true })
  const client = session.client(store)
  const opsPerSecond = session.setting('burst.opsPerSecond')
  const latency = new Histogram()
  const waits: number[] = []
  let lost = 0
  const one = async (n: number): Promise<void> => {
    const begun = store.nowMs
    const key = client.key(forum, { kind: 'Post', name: `post-${n}` })
    if (!(await succeeds(() => client.commit([upsert(key, { edits: integer(1) })])))) lost++
    latency.add(store.nowMs - begun)
    waits[Math.floor(n / opsPerSecond)] = store.nowMs - begun
  }
  const all = Math.round(seconds * opsPerSecond)
  await store.alone(async () => {
    const running: Promise<void>[] = []
    for (let n = 0; n < all; n++) {
      running.push(one(n))
      await store.sleep(1000 / opsPerSecond)
    }
    await Promise.all(running)
  })
  record.figure('load lasts', seconds, 's')
  record.figure('writes offered', opsPerSecond, '/s')
  record.figure('writes lost', (lost / all) * 100, '%')
  record.figure('p50 of all writes', latency.quantile(0.5), 'ms')
  record.figure('p99 of all writes', latency.quantile(0.99), 'ms')
  const x = { name: 'seconds since the start', values: waits.map((_, second) => second) }
  record.chart('how long a write waits', 'ms', x, { wait: waits })
}

function climbs(says: string, figure: string, holds: (few: number, many: number) => boolean): Expectation {
  return expected(says)
    .of('one-group', `${figure}, 1 writer`, `${figure}, all writers`)
    .holds(holds, `${figure}: {} with one writer, {} with all`)
}

export const entityGroupContention: Lab = defineLab({
  name: 'entity-group-contention',
  idea:
    'A group has one log, and an append takes a round trip between data centres: that alone allows a few a second. Every ' +
    'commit makes those fail that read the group before it, and they try again, against each other.',
  settings: {
    ...serverSettings,
    ...clientSettings,
    ...defaultsOf('log.waitMsMax', 'log.fastCommitMs', 'load.writersMax', 'batch.size'),
    ...defaultsOf('burst.opsPerSecond', 'burst.seconds', 'burst.longSeconds', 'apply.delayMs'),
    'load.seconds': 10,
    'query.deadlineMs': 100,
  },
  arms: [
    ...Object.entries(variants).map(([name, variant]) => {
      const job = jobOf(variant, name === 'batched' ? 10 : 1)
      const drive = (wire: WireSession): Promise<void> => writeOverWire(wire, 20, job)
      // A server's log is as fast as it was started: over the wire the faster one is its own flag.
      return arm(name, variant.about, (session) => run(session, variant), variant.fastLog ? undefined : drive)
    }),
    arm('short-burst', 'one group, more writes a second than it takes, for a few seconds', (session) =>
      burst(session, session.setting('burst.seconds')),
    ),
    arm('long-run', 'the same rate, for longer', (session) => burst(session, session.setting('burst.longSeconds'))),
    arm('reads-at-one', 'eventual and strong queries of a group with one write a second', (session) =>
      readsBeside(session, 1),
    ),
    arm('reads-at-five', 'the same with five writes a second', (session) => readsBeside(session, 5)),
  ],
  expectations: [
    expected('one group takes a few commits a second, however many writers')
      .of('one-group', 'best rate')
      .holds((best) => best >= 2 && best <= 8, '{}/s at best'),
    climbs('more writers: aborts climb', 'aborts', (few, many) => few < 0.1 && many > 1),
    climbs('more writers: latency climbs, that of jobs given up counted', 'p99', (few, many) => many > 5 * few),
    expected('a faster log takes more: the limit is the latency of its commits')
      .across('best rate', 'one-group', 'faster-log')
      .holds((one, fast) => fast > 1.8 * one, 'best rate: one-group {}, faster-log {}'),
    expected('many groups take as many times more')
      .across('rate, all writers', 'one-group', 'many-groups')
      .holds((one, many) => many > 20 * one, 'rate, all writers: one-group {}, many-groups {}'),
    expected('a batch counts as one commit, and brings all of its entities')
      .across('entities', 'one-group', 'batched')
      .holds((one, batched) => batched > 6 * one, 'entities: one-group {}, batched {}'),
    expected('above one write a second eventual reads lag further and further behind')
      .across('an eventual query lags by', 'reads-at-one', 'reads-at-five')
      .holds((one, five) => one < 2 && five > 5 * one, '{} s at one write a second, {} s at five'),
    expected('above one write a second a strong read times out')
      .across('strong queries that time out', 'reads-at-one', 'reads-at-five')
      .of('reads-at-one', 'a strong query takes')
      .holds((one, five) => one === 0 && five === 1, 'timed out: {2} at five writes a second; {3} ms at one'),
    expected('short-burst: every write gets through').figure('writes lost').is(0),
    expected('long-run: at the same rate many are lost').figure('writes lost').above(20),
  ],
})
