/** One run of several gateways under an adversary (gateways-world.ts), from a seed to a verdict. */
import { databaseCode, isOf, type KeyRange, type RowKey, rowsOf, topicRowKey } from '@sixtables/engine/store'
import type { Mechanism } from '@sixtables/engine/testing'
import { clockTopic } from '../../src/gateways/clock-rows.ts'
import { clockStateOf } from '../../src/gateways/clock-state.ts'
import type { GatewayMechanism } from '../../src/gateways/switched-off.ts'
import { MemoryRows } from '../../src/row-store/memory-rows.ts'
import { at, Clients, keys, partition } from './gateways-clients.ts'
import { Shown, verdict } from './gateways-verdict.ts'
import { GatewaysWorld } from './gateways-world.ts'

/** The difference of clocks that is allowed, with what passes during a comparison and the lead of a clock. */
const aheadSecondsMax = 70n
/** Mostly 2,000 steps are enough; 12 resets and three changes of rows while clocks were set took 20,284 (seed 89,657). */
const clientStepsMax = 60_000

export interface Simulated {
  /** What is wrong; `undefined` = nothing. */
  readonly wrong: string | undefined
  readonly operations: number
  readonly commits: number
  readonly deaths: number
}

export async function simulate(
  seed: number,
  switchedOff: readonly (GatewayMechanism | Mechanism)[] = [],
  clockRowsMax = 1,
): Promise<Simulated> {
  const shown = new Shown()
  const rows = seed % 5 === 2 ? new MemoryRows(undefined, undefined, () => world.nowMicros) : new MemoryRows()
  const noting: Promise<void>[] = []
  /** Sweeps take away what the verdict needs. */
  const onChange = (row: RowKey): void => {
    if (isOf('Entities', row)) noting.push(note(rows, { start: row, end: `${row}\x00` }, shown))
  }
  const world: GatewaysWorld = new GatewaysWorld(seed, new Set(switchedOff), rows, onChange, clockRowsMax)
  const clients = new Clients(world)
  const done = (wrong: string | undefined): Simulated => ({
    wrong,
    operations: world.operations,
    commits: shown.commits.size,
    deaths: world.gateways.length - world.alive.length,
  })
  try {
    for (let gateways = 2 + world.random.integer(3); gateways > 0; gateways--) await world.open()
    const { gateways } = world
    if (clockRowsMax > 1)
      await world.run(world.pick(gateways).changeRows(2 + world.random.integer(clockRowsMax - 1)), 10_000)
    world.calm = false
    const deathsAt = [40 + world.random.integer(900), 250 + world.random.integer(1_500)]
    const deaths = world.random.next() < 0.7 ? deathsAt.slice(world.random.integer(2)) : []
    const stalls = world.random.next() < 0.6
    // Time passes once or three times at a moment: what is on its way lands before the third.
    const [moments, within, passes] = world.empties ? [8, 900, 3] : [6, 500, 1]
    const passesAt = world.sweeps
      ? Array.from({ length: moments }, () => 40 + world.random.integer(within))
          .sort(descending)
          .flatMap((step) => Array.from({ length: passes }, () => step))
      : []
    const each = (): void => {
      for (; (passesAt.at(-1) ?? Number.POSITIVE_INFINITY) <= world.steps; passesAt.pop()) world.passTime()
      if (world.setsClocks && world.random.next() < 0.01) world.setClock(world.pick(world.alive))
      if (stalls && world.random.next() < 0.01) world.stall(world.pick(world.alive))
      if (!deaths.some((step) => step <= world.steps) || world.alive.length < 2) return
      deaths.splice(0, 1)
      world.kill(world.pick(world.alive))
    }
    const homes = Array.from({ length: 3 + world.random.integer(4) }, () => world.pick(gateways))
    await world.run(Promise.all(homes.map((home) => clients.run(home))), clientStepsMax, each)
    world.calm = true
    await world.drain(20_000)
    return done(await verdictAtRest(world, clients, shown, noting))
  } catch (error) {
    return done(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}

const descending = (a: number, b: number): number => b - a

/** A fresh gateway reads everything, so that what was left is resolved; then tables and logs are compared. */
async function verdictAtRest(
  world: GatewaysWorld,
  clients: Clients,
  shown: Shown,
  noting: readonly Promise<void>[],
): Promise<string | undefined> {
  const last = await world.open()
  const reading = at(last, (database, context) => database.lookup(context, { keys }))
  await world.run(reading, 20_000)
  await world.drain(20_000)
  await Promise.all(noting)
  await note(world.rows, rowsOf('Entities'), shown)
  const checking = last.engine.check()
  await world.run(checking, 20_000)
  const { problems } = await checking
  if (problems.length > 0) return `check: ${problems.map(({ kind, detail }) => `${kind} ${detail}`).join('; ')}`
  return (await wrongRegister(world)) ?? verdict(shown, clients.events)
}

/** The newest stamp is not far ahead of the time, however clocks were set (compared-clock/CK1). */
async function wrongRegister({ rows, nowMicros }: GatewaysWorld): Promise<string | undefined> {
  const row = topicRowKey(databaseCode(partition.projectId, partition.databaseId), clockTopic)
  const cells = (await rows.readRows([row], [{ family: 'v', newest: 1 }])).get(row)?.cells
  const [register] = clockStateOf([cells]).registers
  if (cells === undefined || register === undefined) return undefined
  const ahead = (register - nowMicros) / 1_000_000n
  return ahead <= aheadSecondsMax ? undefined : `the register is ${ahead} s ahead of the time`
}

/** Notes what rows hold at the moment of the call. */
async function note(rows: MemoryRows, range: KeyRange, shown: Shown): Promise<void> {
  const found = await rows.scanRows({ range, limit: 1_000, wanted: [{ family: 'l' }, { family: 'v' }] })
  for (const row of found) shown.note(row)
}
