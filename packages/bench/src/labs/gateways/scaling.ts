/**
 * One load at 1, 2, 4, … gateways. Each client does one call after the other at its gateway; the counts begin when the load has been there
 * for a while.
 */
import { Histogram } from '../../measure/histogram.ts'
import type { ArmSession } from '../../session.ts'
import { succeeds } from '../../sim/client.ts'
import { integer, type Put, upsert } from '../../sim/entities.ts'
import type { Gateway, Gateways } from '../../sim/gateways.ts'

export interface Call {
  readonly gateway: Gateway
  /** Entities that were there before. */
  readonly tasks: readonly TaskKey[]
  /** 0, 1, 2, …, over all clients: which call. */
  readonly n: number
  readonly draw: number
}

export type TaskKey = ReturnType<Gateway['client']['key']>

export interface ScalingLoad {
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
export function put(key: TaskKey, priority: number): Put {
  return upsert(key, { priority: integer(priority) })
}

/** Opens gateways, fills the store with tasks, and lets each gateway write once. From then on calls take time. */
export async function openFilled(
  session: ArmSession,
  count: number,
  clockRows = 1,
): Promise<{ readonly gateways: Gateways; readonly first: Gateway; readonly tasks: readonly TaskKey[] }> {
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

export async function runLoad(session: ArmSession, load: ScalingLoad): Promise<void> {
  const { record } = session
  const counts = [1, 2, 4, 8, 16].filter((count) => count <= session.setting('gateways.max'))
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
