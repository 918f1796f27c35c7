/** One run of several gateways under an adversary (gateways-world.ts), from a seed to a verdict. */
import type { Mechanism } from '../../src/switched-off.ts'
import { at, Clients, keys } from './gateways-clients.ts'
import { deletions, type Logged, noteLogs, verdict } from './gateways-verdict.ts'
import { GatewaysWorld } from './gateways-world.ts'

export interface Simulated {
  /** What is wrong; `undefined` = nothing. */
  readonly wrong: string | undefined
  readonly operations: number
  readonly commits: number
  readonly deaths: number
}

export async function simulate(seed: number, switchedOff: readonly Mechanism[] = []): Promise<Simulated> {
  const world = new GatewaysWorld(seed, new Set(switchedOff))
  const known = new Map<string, Logged>()
  const clients = new Clients(world)
  const done = (wrong: string | undefined): Simulated => ({
    wrong,
    operations: world.operations,
    commits: known.size,
    deaths: world.gateways.length - world.alive.length,
  })
  try {
    for (let gateways = 2 + world.random.integer(3); gateways > 0; gateways--) await world.open()
    const { gateways } = world
    world.calm = false
    const deathsAt = [40 + world.random.integer(900), 250 + world.random.integer(1_500)]
    const deaths = world.random.next() < 0.7 ? deathsAt.slice(world.random.integer(2)) : []
    const stalls = world.random.next() < 0.6
    const dying = (): void => {
      if (stalls && world.random.next() < 0.01) world.stall(world.pick(world.alive))
      if (!deaths.some((step) => step <= world.steps) || world.alive.length < 2) return
      deaths.splice(0, 1)
      world.kill(world.pick(world.alive))
    }
    const homes = Array.from({ length: 3 + world.random.integer(4) }, () => world.pick(gateways))
    await world.run(Promise.all(homes.map((home) => clients.run(home))), 60_000, dying)
    world.calm = true
    await world.drain(60_000)
    return done(await verdictAtRest(world, clients, known))
  } catch (error) {
    return done(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}

/** A fresh gateway reads everything, so that what was left is resolved; then tables and logs are compared. */
async function verdictAtRest(
  world: GatewaysWorld,
  clients: Clients,
  known: Map<string, Logged>,
): Promise<string | undefined> {
  const last = await world.open()
  const reading = at(last, (database, context) => database.lookup(context, { keys }))
  await world.run(reading, 60_000)
  await world.drain(60_000)
  await noteLogs(world.rows, known)
  const checking = last.engine.check()
  await world.run(checking, 60_000)
  const { problems } = await checking
  if (problems.length > 0) return `check: ${problems.map(({ kind, detail }) => `${kind} ${detail}`).join('; ')}`
  return verdict(known, await deletions(world.rows, known), clients.events)
}
