/** One, two, four and eight gateways over one Bigtable: the loads that grow with their number, and those that one row bounds. */
import { type Arm, arm, defineLab, expected, type Lab } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import type { Recorder } from '../measure/recorder.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf } from '../settings.ts'
import { succeeds } from '../sim/client.ts'
import { integer, type Put, upsert } from '../sim/entities.ts'
import type { Gateway } from '../sim/gateways.ts'

interface Call {
  readonly gateway: Gateway
  /** Entities that were there before. */
  readonly tasks: readonly TaskKey[]
  /** 0, 1, 2, …, over all clients: which call. */
  readonly n: number
  readonly draw: number
}

type TaskKey = ReturnType<Gateway['client']['key']>

interface ScalingLoad {
  readonly call: (call: Call) => Promise<unknown>
  /** In seconds of the setting: calls that are answered more often need less time. */
  readonly length: number
  /** The clients of one gateway are spread over all of them. */
  readonly sameClients?: boolean
  /** The database has as many clock rows as the setting says. */
  readonly severalRows?: boolean
  /** The call of every second client of a gateway; those of the others are counted. */
  readonly beside?: ScalingLoad['call']
}

const tasksMax = 64

/** Another value each time: a put of what is stored already writes nothing. */
function put(key: TaskKey, priority: number): Put {
  return upsert(key, { priority: integer(priority) })
}

/** Opens gateways, fills the store with tasks, and lets each gateway write once. From then on calls take time. */
async function openFilled(session: ArmSession, count: number, clockRows = 1) {
  const gateways = await session.openGateways(count, clockRows)
  const [first] = gateways.all as [Gateway]
  const tasks = Array.from({ length: tasksMax }, (_, i) => first.client.key({ kind: 'Task', name: `task-${i}` }))
  for (const [number, { client, store }] of gateways.all.entries()) {
    const own = number === 0 ? tasks : tasks.slice(0, 1)
    await store.together([client.commit(own.map((key, i) => put(key, i)))])
    // The commit is applied, and has left the list.
    await store.alone(() => store.sleep(100))
  }
  gateways.servers.isOn = true
  return { gateways, first, tasks }
}

async function runLoad(session: ArmSession, load: ScalingLoad): Promise<void> {
  const { record } = session
  const counts: number[] = []
  for (let count = 1; count <= session.setting('gateways.max'); count *= 2) counts.push(count)
  const { all, first: one, last: most } = await session.atEach(counts, (count) => measure(session, count, load))
  for (const [i, count] of counts.entries()) {
    record.figure(count === 1 ? '1 gateway' : `${count} gateways`, all[i]?.rate ?? 0, 'calls/s')
  }
  record.figure('most against one', most.rate / one.rate, 'times')
  record.figure('most against half as many', most.rate / (all.at(-2) ?? one).rate, 'times')
  const gateways = ['one gateway', 'most gateways']
  const short = ['one', 'most']
  record.ends('p50', [one.p50Ms, most.p50Ms], 'ms', gateways)
  if (one.besideP50Ms !== undefined && most.besideP50Ms !== undefined)
    record.ends('queries beside, p50', [one.besideP50Ms, most.besideP50Ms], 'ms', short)
  if (one.clockWrites > 0) {
    record.ends('clock row', [one.clockWrites, most.clockWrites], 'writes/s', gateways)
    record.ends('puts for each of them', [one.putsEach, most.putsEach], '', short)
    record.ends('puts for each append', [one.putsAppended, most.putsAppended], '', short)
    record.ends('appends that succeed', [one.appended * 100, most.appended * 100], '%', short)
  }
  const x = { name: 'gateways', values: counts }
  const answered = all.map(({ rate }) => rate / one.rate)
  record.chart('calls answered, against those of one gateway', 'times', x, { answered })
  record.chart('latency', 'ms', x, { p50: all.map(({ p50Ms }) => p50Ms) })
}

/** Each client does one call after the other; the counts begin when the load has been there for a while. */
async function measure(session: ArmSession, count: number, load: ScalingLoad) {
  const clockRows = load.severalRows ? Math.max(1, Math.floor(count * session.setting('gateways.clockRows'))) : 1
  const { gateways, first, tasks } = await openFilled(session, count, clockRows)
  const { store } = first
  const { servers } = gateways
  const seconds = session.setting('gateways.seconds') * load.length
  const fromMs = store.nowMs + seconds * 500
  const untilMs = fromMs + seconds * 1000
  const latency = new Histogram()
  const beside = new Histogram()
  let n = 0
  const client = async (gateway: Gateway, i: number): Promise<void> => {
    const isBeside = load.beside !== undefined && Math.floor(i / gateways.all.length) % 2 === 1
    const [call, waits] = isBeside ? [load.beside, beside] : [load.call, latency]
    await store.sleep(session.random.next() * 10)
    while (store.nowMs < untilMs) {
      const begunMs = store.nowMs
      const isDone = await succeeds(() => call({ gateway, tasks, n: n++, draw: session.random.next() }))
      if (isDone && store.nowMs >= fromMs && store.nowMs < untilMs) waits.add(store.nowMs - begunMs)
    }
  }
  const clientCount = session.setting('gateways.clients') * (load.sameClients ? 1 : gateways.all.length)
  const clients = Array.from({ length: clientCount }, (_, i) => client(gateways.all[i % count] as Gateway, i))
  const { g: clock, h: groups } = servers.conditionals
  const counts = (): readonly number[] => [clock.tried, groups.tried, groups.won]
  let [before, after] = [counts(), counts()]
  const counting = async (): Promise<void> => {
    await store.sleep(fromMs - store.nowMs)
    before = counts()
    await store.sleep(untilMs - store.nowMs)
    after = counts()
  }
  await store.together([...clients, counting()])
  const [clockWrites = 0, appends = 0, won = 0] = after.map((count, i) => count - (before[i] ?? 0))
  return {
    rate: latency.weight / seconds,
    p50Ms: latency.quantile(0.5),
    besideP50Ms: load.beside && beside.quantile(0.5),
    clockWrites: clockWrites / seconds,
    putsEach: latency.weight / Math.max(1, clockWrites),
    // Share of the conditional writes of entity groups whose condition held.
    appended: won / Math.max(1, appends),
    putsAppended: latency.weight / Math.max(1, won),
  }
}

/** Time between two points of the pictures. */
const slotMs = 20
/** Before and after the end of a gateway; twice as long as what it holds up. */
const lengths = { beforeMs: 300, afterMs: 700 }

type Sort = 'query' | 'lookup' | 'put'
/** Those of the clients, in turn; a lookup takes a small part of the time of the others. */
const sorts: readonly Sort[] = ['query', 'put', 'lookup', 'put']

/** Waits of calls by the time at which they ended. */
class Waits {
  readonly #before = new Histogram()
  readonly #after = new Histogram()
  readonly #slots: number[] = []

  /** @param endMs, killedMs - since the load began */
  add(waitMs: number, endMs: number, killedMs: number): void {
    const slot = Math.floor(endMs / slotMs)
    this.#slots[slot] = Math.max(this.#slots[slot] ?? 0, waitMs)
    if (endMs < killedMs) this.#before.add(waitMs)
    else this.#after.add(waitMs)
  }

  record(record: Recorder, name: string): void {
    record.figure(`${name}, p50 before`, this.#before.quantile(0.5), 'ms')
    record.figure(`${name}, longest after`, this.#after.max, 'ms')
  }

  /** The longest in each slot of the picture. */
  slots(count: number): readonly (number | null)[] {
    return Array.from({ length: count }, (_, slot) => this.#slots[slot] ?? null)
  }
}

/**
 * Kills a gateway under load. Its clients connect to another one; strong reads meet the commits that it had under way. A put counts as lost
 * if its client heard that it succeeded, and no gateway finds it at the end.
 */
async function kill(session: ArmSession): Promise<void> {
  const { record, random } = session
  const { gateways, first, tasks } = await openFilled(session, session.setting('gateways.killedOf'))
  const { store } = first
  const beginMs = store.nowMs
  const killedMs = beginMs + lengths.beforeMs
  const endMs = killedMs + lengths.afterMs
  const waits = { query: new Waits(), lookup: new Waits(), put: new Waits() }
  const acknowledged: TaskKey[] = []
  const doomed = gateways.all.at(-1) as Gateway
  let failed = 0
  const calls: Readonly<Record<Sort, (gateway: Gateway) => Promise<unknown>>> = {
    query: ({ client }) => client.greatest('Task', 'priority'),
    lookup: ({ client }) => client.lookup(tasks[random.integer(tasks.length)] as TaskKey),
    put: async ({ client }) => {
      const key = client.key({ kind: 'Note', name: `note-${random.integer(2 ** 31)}` })
      await client.commit([put(key, 1)])
      acknowledged.push(key)
    },
  }
  const client = async (place: number): Promise<void> => {
    const sort = sorts[place % sorts.length] as Sort
    await store.sleep(random.next() * 10)
    while (store.nowMs < endMs) {
      // A load balancer gives the next connection to a gateway that is alive.
      const alive = gateways.all.filter(({ isDead }) => !isDead)
      const gateway = alive[Math.floor(place / sorts.length) % alive.length] as Gateway
      const begunMs = store.nowMs
      if (!(await succeeds(() => calls[sort](gateway)))) failed++
      else waits[sort].add(store.nowMs - begunMs, store.nowMs - beginMs, lengths.beforeMs)
    }
  }
  const killer = store.sleep(lengths.beforeMs).then(() => doomed.kill())
  const clients = session.setting('gateways.clients') * gateways.all.length
  await store.together([...Array.from({ length: clients }, (_, place) => client(place)), killer])
  session.progress(0.9)
  waits.query.record(record, 'queries')
  waits.lookup.record(record, 'lookups')
  waits.put.record(record, 'puts')
  record.figure('calls that failed', failed)
  record.figure('acknowledged puts lost', await store.alone(() => first.client.missing(acknowledged)))
  const slots = (lengths.beforeMs + lengths.afterMs) / slotMs
  const title = `longest wait of calls that ended then; a gateway is killed at ${lengths.beforeMs} ms`
  const x = { name: 'ms since the load began', values: Array.from({ length: slots }, (_, slot) => slot * slotMs) }
  const lines = Object.entries(waits).map(([sort, own]) => [sort, own.slots(slots)] as const)
  record.chart(title, 'ms', x, Object.fromEntries(lines))
}

/** Each put makes an entity group of its own. */
const puts: ScalingLoad = {
  length: 1,
  call: ({ gateway: { client }, n }) => client.commit([put(client.key({ kind: 'Note', name: `note-${n}` }), n)]),
}

const query: ScalingLoad['call'] = ({ gateway }) => gateway.client.greatest('Task', 'priority')

const beside: ScalingLoad = { ...puts, length: 0.4, beside: query }

const scale = (name: string, about: string, load: ScalingLoad): Arm =>
  arm(name, about, (session) => runLoad(session, load))

export const gatewaysLab: Lab = defineLab({
  name: 'gateways',
  idea:
    'A gateway brings a core of its own, and lookups and queries need nothing else. Each commit needs a version from one row, the clock row of ' +
    'its database. All commits that wait in a gateway share a conditional write of that row, and the gateways take turns at it. ' +
    'A commit to a group is a conditional write of one more row, shared by the commits that wait in a gateway: of the gateways that read that row at ' +
    'the same time, one succeeds.',
  settings: {
    ...defaultsOf('gateways.max', 'gateways.clients', 'gateways.callMs', 'gateways.seconds', 'gateways.clockRows'),
    ...defaultsOf('gateways.killedOf', 'rows.callMs', 'rows.conditionalMs'),
    'server.count': 100,
    ...defaultsOf('server.opsPerSecond'),
    'client.rpcMs': 2,
  },
  arms: [
    scale('lookups', 'lookups of entities in different entity groups', {
      length: 0.25,
      call: ({ gateway, tasks, draw }) => gateway.client.lookup(tasks[Math.floor(draw * tasks.length)] as TaskKey),
    }),
    scale('queries', 'strongly consistent queries over all entity groups', { length: 0.25, call: query }),
    scale('puts', 'puts to different entity groups', puts),
    scale('puts-rows', 'the same puts, with a clock row for every two gateways', {
      ...puts,
      length: 0.4,
      severalRows: true,
    }),
    scale('beside', 'puts by half of the clients, and queries beside them by the others', beside),
    scale('beside-rows', 'the same, with a clock row for every two gateways', { ...beside, severalRows: true }),
    scale('same-clients', 'the same puts by the clients of one gateway, spread over all gateways', {
      ...puts,
      sameClients: true,
    }),
    scale('one-group', 'puts to one entity group', {
      length: 5,
      call: ({ gateway, tasks, n }) => gateway.client.commit([put(tasks[0] as TaskKey, n)]),
    }),
    arm('killed', 'queries, lookups and puts at several gateways; one is killed', kill),
  ],
  expectations: [
    expected('lookups: as many times more as there are gateways').figure('most against one').above(6.5),
    expected('queries: as many times more as there are gateways').figure('most against one').above(6.5),
    expected('puts to many groups: two gateways take nearly twice as many')
      .of('puts', '1 gateway', '2 gateways')
      .holds((one, two) => two > 1.7 * one, '1 gateway: {}, 2 gateways: {}'),
    expected('puts to many groups: half of the gateways take nearly as many')
      .of('puts', 'most against half as many')
      .below(1.3),
    expected('more gateways: each put waits longer for the clock row')
      .of('puts', 'p50, one gateway', 'p50, most gateways')
      .holds((one, most) => most > 2 * one, 'p50, one gateway: {}, p50, most gateways: {}'),
    expected('puts with several clock rows: more than five times as many at eight gateways')
      .of('puts-rows', 'most against one')
      .above(5),
    expected('several clock rows: a put waits half as long at eight gateways')
      .across('p50, most gateways', 'puts', 'puts-rows')
      .holds((one, several) => several < 0.6 * one, 'p50, most gateways of puts: {}, of puts-rows: {}'),
    expected('several clock rows: a query beside puts waits less at eight gateways')
      .across('queries beside, p50, most', 'beside', 'beside-rows')
      .holds((one, several) => several < 0.85 * one, 'queries beside, p50, most of beside: {}, of beside-rows: {}'),
    expected('the same clients at more gateways write less').of('same-clients', 'most against one').below(0.6),
    expected('puts to one group: those that wait in a gateway share an append')
      .of('one-group', 'puts for each append, one')
      .above(5),
    expected('puts to one group: about every second append of several gateways succeeds')
      .of('one-group', 'appends that succeed, most')
      .holds((share) => share > 30 && share < 70),
    expected('killed: a strong query waits for a quarter of a second or so')
      .figure('queries, longest after')
      .holds((ms) => ms > 100 && ms < 1000),
    expected('killed: a lookup in one group does not wait')
      .of('killed', 'lookups, p50 before', 'lookups, longest after')
      .holds((before, after) => after < before + 50, 'lookups, p50 before: {}, lookups, longest after: {}'),
    expected('killed: every acknowledged put is there').figure('acknowledged puts lost').is(0),
  ],
})
