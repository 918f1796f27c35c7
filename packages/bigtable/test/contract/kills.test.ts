/**
 * Gateways on one Bigtable, killed and stopped under load. After a few of these, and at the end, all is verified (table-run.ts). Before that the
 * program of README.md runs there. Limits of time are counted in bare calls to the Bigtable (pace.ts).
 *
 *   load ─▶ SIGSTOP one ─▶ (SIGKILL another ─▶ restart it)*, 15 s long ─▶ SIGCONT ─▶ load ─▶ verify
 *           each fault: in the midst of a change of the number of clock rows; strong reads at once
 *
 * A gateway that is stopped for so long is taken for dead by the others, which decide about its commits.
 *
 * `npm run bigtable:kills` has 300 faults; SIXTABLES_KILLS another number. SIXTABLES_SEED draws other gateways.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { project } from '../../../gateway/test/support/write-load.ts'
import { hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { Figures } from '../support/figures.ts'
import type { Gateways } from '../support/gateways.ts'
import { Load, openPatientWire } from '../support/load.ts'
import { chanceOf, onOneTable, type Run, seed, verifyClients } from '../support/table-run.ts'

const { readReadme } = (await import(new URL('../../../../scripts/lib/readme.mjs', import.meta.url).href)) as {
  readReadme(): { readonly program: string; readonly printed: string }
}

/** Faults of one table. Each commit leaves a version of the rows that it writes, and the emulator reads a row in time linear in its versions. */
const faultsOfTable = 15
/** Commits that are under way at each fault, at least. */
const commitsAtFault = 4

/** Which faults a round has. */
interface Plan {
  readonly gateways: number
  readonly killsOfRound: number
  /** How long a gateway is stopped in each round at least; absent = none is. */
  readonly stoppedMs?: number
  /** Commits before and after each fault. */
  readonly commits: number
  /**
   * Mean pause of a client before each call. Without it the clients keep two cores busy, and a read waits for a core most of its time, with or
   * without a fault.
   */
  readonly pauseMs: number
  /** With each fault the number of clock rows becomes one up to this. */
  readonly clockRowsMax: number
}

/** The program of README.md with the public client, through the round robin; it prints what README.md says. */
async function expectReadme(gateways: Gateways): Promise<void> {
  const { program, printed } = readReadme()
  const require = createRequire(new URL('../../../gateway/package.json', import.meta.url))
  const client = pathToFileURL(require.resolve('@google-cloud/datastore')).href
  const { host, port } = gateways.roundRobin
  const { NODE_OPTIONS: _options, VITEST: _vitest, ...inherited } = process.env
  const env = {
    ...inherited,
    DATASTORE_EMULATOR_HOST: `${host}:${port}`,
    DATASTORE_PROJECT_ID: 'demo',
    METADATA_SERVER_DETECTION: 'none',
  }
  const args = ['--input-type=module', '-e', program.replace("'@google-cloud/datastore'", `'${client}'`)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  expect(stdout).toBe(printed)
}

/** How long the latest change of the number of clock rows took. */
let changeMs = 0

/**
 * Stops or kills a gateway while commits are under way, and reads at once, at another one, what it was writing.
 *
 * @param rows - the number of clock rows that the database gets; the fault is at any moment of that change
 */
async function fault(
  { gateways, told, pace, figures, chance }: Run,
  {
    load,
    gateway,
    kind,
    rows,
  }: {
    readonly load: Load
    readonly gateway: number
    readonly kind: 'kills' | 'stops'
    readonly rows: number | undefined
  },
): Promise<void> {
  const change = rows === undefined ? undefined : await gateways.openRows()
  const witness = gateways.awake.find((index) => index !== gateway)
  const wire = witness === undefined ? undefined : await openPatientWire(gateways.at(witness))
  const before = wire === undefined ? [] : await told.readAll(wire)
  await load.untilUnderWay(commitsAtFault)
  let underWay = 0
  let isChanging = change !== undefined
  const begunMs = performance.now()
  const changed = change?.to(project, rows as number).then(() => {
    changeMs = performance.now() - begunMs
    isChanging = false
  })
  if (changed !== undefined) await sleep(chance() * changeMs)
  const { result: after, slowestMs } = await pace.during(async () => {
    underWay = told.underWay
    if (isChanging) figures.duringChanges++
    if (kind === 'stops') gateways.pause(gateway)
    else await gateways.kill(gateway)
    return wire === undefined ? [] : await pace.within('answer of strong reads', told.readAll(wire))
  })
  await pace.within('end of the change of the clock rows', Promise.resolve(changed))
  await change?.close()
  wire?.close()
  figures.note({ kind, gateway, underWay, before, after, slowestMs })
}

/** One round, and what is there after it. */
async function round(run: Run, { killsOfRound, stoppedMs, commits, pauseMs, clockRowsMax }: Plan): Promise<void> {
  const { gateways, chance } = run
  const load = new Load(gateways.roundRobin, run, pauseMs, chanceOf(seed + run.figures.faults))
  const oneOf = (indices: readonly number[]): number => indices[Math.floor(chance() * indices.length)] as number
  await gateways.restartDead()
  await load.fill()
  await load.untilMore(commits)
  const newRows = (): number | undefined => (clockRowsMax === 1 ? undefined : 1 + Math.floor(chance() * clockRowsMax))
  let stopped = stoppedMs === undefined ? undefined : oneOf(gateways.awake)
  const goOnAt = performance.now() + (stoppedMs ?? 0)
  const goOn = async (): Promise<void> => {
    if (stopped === undefined) return
    await sleep(Math.max(0, goOnAt - performance.now()))
    gateways.goOn(stopped)
    stopped = undefined
    await load.untilMore(commits)
  }
  if (stopped !== undefined) {
    await fault(run, { load, gateway: stopped, kind: 'stops', rows: newRows() })
    await load.untilMore(commits)
  }
  for (let kill = 0; kill < killsOfRound; kill++) {
    // One lives on.
    if (gateways.awake.length === 1) await goOn()
    await fault(run, { load, gateway: oneOf(gateways.awake), kind: 'kills', rows: newRows() })
    if (gateways.awake.length > 0) {
      await load.untilMore(commits)
      // The next round begins with it.
      if (kill === killsOfRound - 1) break
    }
    await gateways.restartDead()
    await load.fill()
    await load.untilMore(commits)
  }
  await goOn()
  await load.stop()
  await verifyClients(run)
}

/** Rounds until there were so many faults in all. */
async function rounds(run: Run, plan: Plan, until: number): Promise<void> {
  if (run.figures.faults === 0) await expectReadme(run.gateways)
  while (run.figures.faults < until) {
    await round(run, plan)
    if (plan.gateways === 3) console.log(run.figures.progress)
  }
}

describe('gateways on a Bigtable, killed and stopped under load', () => {
  beforeAll(() => console.log(`SIXTABLES_SEED=${seed} draws the same gateways again`))

  test('keep every promise over the fake', async () => {
    const fake = await FakeBigtable.start(seed)
    const figures = new Figures()
    const plan = { gateways: 2, killsOfRound: 1, stoppedMs: 0, commits: 15, pauseMs: 0, clockRowsMax: 1 }
    await onOneTable(fake, { ...plan, figures }, (run) => rounds(run, plan, 1)).finally(() => fake.close())
    console.log(`2 gateways: ${figures}`)
  })

  const faults = Number(process.env['SIXTABLES_KILLS'] ?? 10)
  const plans: readonly Plan[] = [
    { gateways: 1, killsOfRound: 2, commits: 40, pauseMs: 60, clockRowsMax: 1 },
    { gateways: 3, killsOfRound: 4, stoppedMs: 15_000, commits: 40, pauseMs: 60, clockRowsMax: 4 },
  ]
  // Needs a program of Google's: `npm run bigtable`.
  test.skipIf(!hasCbtemulator).each(plans)(
    "keep every promise over Google's emulator: $gateways at a time",
    // Each wait has its own end, by what the machine does (pace.ts).
    { timeout: 0 },
    async (plan) => {
      const figures = new Figures()
      // A single gateway is killed less often: the others have nothing to do with it.
      const goal = plan.gateways === 1 ? Math.min(faults, 10) : faults
      while (figures.faults < goal) {
        const emulator = await startCbtemulator()
        const until = Math.min(goal, figures.faults + faultsOfTable)
        await onOneTable(emulator, { ...plan, figures }, (run) => rounds(run, plan, until)).finally(() =>
          emulator.close(),
        )
      }
      console.log(`${plan.gateways} gateways: nothing was lost or torn; ${figures}`)
      // By itself the run of all tests says nothing of time.
      if (process.env['SIXTABLES_KILLS'] !== undefined) expect(figures.late).toEqual([])
    },
  )
})
