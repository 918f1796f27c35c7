/**
 * Gateways under load with two clock rows, while what they stand on fails: the Bigtable itself stops for some seconds, or their clocks jump. All is
 * verified as after kills (table-run.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../../gateway/test/support/patience.ts'
import type { ServerProcess } from '../../../gateway/test/support/server-process.ts'
import { openWire } from '../../../gateway/test/support/wires.ts'
import { project, sharedKeys } from '../../../gateway/test/support/write-load.ts'
import { type Emulator, hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { Figures } from '../support/figures.ts'
import type { Gateways } from '../support/gateways.ts'
import { Load } from '../support/load.ts'
import { hasFaketime, SetClock } from '../support/set-clock.ts'
import { onOneTable, type Run, verifyClients } from '../support/table-run.ts'

/** Mean pause of a client before each call. */
const pauseMs = 60
const commitsAtFault = 4
/** Before and after each fault. */
const commits = 100

async function takeTwoRows(gateways: Gateways): Promise<void> {
  const rows = await gateways.openRows()
  expect(await rows.to(project, 2)).toBe(1)
  await rows.close()
}

/** All that a gateway says of a Bigtable that stood still: once that it is silent, and once that it is not any more. */
const toldOfSilence = /^\S+ error Bigtable .* did not answer in time; .*\n\S+ warn +Bigtable .* can be used again\n/gm

/**
 * The Bigtable stands still under load, once for each of these times. A gateway dies meanwhile, and its calls take effect after its death. Each of
 * the others tells clients that wait for longer than 10 s that there is no answer, and goes on by itself.
 */
async function silences(run: Run, where: Emulator, allSeconds: readonly number[]): Promise<void> {
  const { gateways, told, pace, figures, chance } = run
  await takeTwoRows(gateways)
  const load = new Load(gateways.roundRobin, run, pauseMs, chance)
  for (const seconds of allSeconds) {
    await load.fill()
    await load.untilMore(commits)
    await load.untilUnderWay(commitsAtFault)
    where.pause()
    figures.silences++
    const [victim, ...others] = gateways.awake as [number, ...number[]]
    const asked = others.map((index) => lookUpOnce(gateways.at(index)))
    await Promise.all([sleep(seconds * 1_000), gateways.kill(victim), ...(seconds > 10 ? asked : [])])
    where.goOn()
    const codes = await pace.within('answer of lookups', Promise.all(asked))
    const possible = seconds > 10 ? ['UNAVAILABLE'] : ['OK', 'UNAVAILABLE']
    for (const code of codes) expect(possible).toContain(code)
    for (const index of others) await eventually(async () => expect(await healthOf(gateways.at(index))).toBe(200))
    await gateways.restartDead()
    await load.fill()
    await load.untilMore(commits)
    console.log(`after ${seconds} s: ${codes}; ${told.acknowledged} commits, ${told.unanswered} without an answer`)
  }
  await load.stop()
  await verifyClients(run)
}

/** The code of a strong read. */
async function lookUpOnce(at: ServerProcess): Promise<string> {
  const wire = await openWire('gRPC', at)
  const { code } = await wire.send(project, 'Lookup', { keys: sharedKeys })
  wire.close()
  return code
}

const healthOf = async ({ endpoint }: ServerProcess): Promise<number> => (await fetch(`http://${endpoint}/`)).status

/** All that a gateway says of its clock: once that it is wrong, and once that it is right again. */
const toldOfClocks =
  /^\S+ error .*the clock of this gateway is \d+ s .*\n\S+ warn +.*the clock of this gateway is right again.*\n/gm

/** One clock after the other jumps by so many seconds, under load. One that is wrong by more than a minute keeps its gateway out until it is right. */
async function jumps(
  { gateways, told, pace, figures, chance }: Run,
  clocks: readonly SetClock[],
  allSeconds: readonly number[],
): Promise<void> {
  await takeTwoRows(gateways)
  const load = new Load(gateways.roundRobin, { told, pace }, pauseMs, chance)
  for (const [jump, seconds] of allSeconds.entries()) {
    const index = jump % clocks.length
    const isWrong = Math.abs(seconds) > 60
    clocks[index]?.set(seconds)
    figures.silences++
    for (let part = 0; part < 4; part++) {
      await load.fill()
      await load.untilMore(commits / 4)
    }
    await eventually(async () => expect(await healthOf(gateways.at(index))).toBe(isWrong ? 503 : 200))
    if (isWrong) clocks[index]?.set(0)
    await eventually(async () => expect(await healthOf(gateways.at(index))).toBe(200))
    console.log(`a clock at ${seconds} s: ${told.acknowledged} commits`)
  }
  await load.stop()
  await verifyClients({ gateways, told, pace, figures, chance })
}

// Needs a program of Google's: `npm run bigtable`. Each wait has its own end, by what the machine does (pace.ts).
describe.skipIf(!hasCbtemulator)(
  "gateways on Google's emulator keep every promise with two clock rows",
  { timeout: 0 },
  () => {
    test('while the emulator stands still for 3, 8 and 15 s', async () => {
      const emulator = await startCbtemulator()
      const figures = new Figures()
      const options = { gateways: 3, figures, expected: toldOfSilence }
      const run = onOneTable(emulator, options, (run) => silences(run, emulator, [3, 8, 15]))
      await run.finally(() => emulator.close())
      console.log(`3 gateways, the emulator stopped three times: ${figures}`)
    })

    // Needs libfaketime.
    test.skipIf(!hasFaketime)('while their clocks jump forth and back', async () => {
      const emulator = await startCbtemulator()
      const figures = new Figures()
      const clocks = [new SetClock(), new SetClock(), new SetClock()]
      const envOf = (index: number) => clocks[index]?.env ?? {}
      const options = { gateways: clocks.length, figures, expected: toldOfClocks, envOf }
      const run = onOneTable(emulator, options, (run) => jumps(run, clocks, [30, -30, 100, -100, 3_600, -3_600, 45, 0]))
      await run.finally(() => emulator.close())
      for (const clock of clocks) clock.remove()
      console.log(`3 gateways, eight jumps of clocks: ${figures}`)
    })
  },
)
