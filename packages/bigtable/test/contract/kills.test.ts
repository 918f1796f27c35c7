/**
 * Gateways on one Bigtable, killed under load one after the other: each acknowledged commit is there, each other whole or not at all, no
 * id twice, transfers add up, and the check of the table finds all in order. The clients and the histories are those of the crash
 * harness (write-load/W1 to write-load/W4, ledger-load/L1 to ledger-load/L3). Before that the program of README.md runs there.
 *
 * SIXTABLES_KILLS=300 kills more often.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { Ledger, moveUntilDeath } from '../../../gateway/test/support/ledger-load.ts'
import { verifyLedger } from '../../../gateway/test/support/ledger-verdict.ts'
import { openWire, type Wire } from '../../../gateway/test/support/wires.ts'
import { History, writeUntilDeath } from '../../../gateway/test/support/write-load.ts'
import { verify } from '../../../gateway/test/support/write-verdict.ts'
import { type Emulator, hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { Gateways } from '../support/gateways.ts'

const { readReadme } = (await import(new URL('../../../../scripts/lib/readme.mjs', import.meta.url).href)) as {
  readReadme(): { readonly program: string; readonly printed: string }
}

const seed = Number(process.env['SIXTABLES_SEED'] ?? Date.now() % 1_000_000)
const writers = 6
const movers = 3
/** Each round acknowledges so many commits before a gateway dies. */
const commitsOfRound = 60

/**
 * A wire that ends like one of a dead server once it is told to stop, or when a commit on a busy machine was answered that its outcome
 * is not known: it may stand or not, as after a death.
 */
function stoppable(wire: Wire, isStopped: () => boolean): Wire {
  const gone = (): Error => Object.assign(new Error('stopped'), { code: 'ECONNRESET' })
  return {
    ...wire,
    send: async (...args) => {
      if (isStopped()) throw gone()
      const answer = await wire.send(...args)
      if (answer.code === 'UNAVAILABLE' && answer.message.includes('not known')) throw gone()
      return answer
    },
  }
}

interface Told {
  readonly history: History
  readonly ledger: Ledger
}

/** Loads all gateways, and kills one of them meanwhile; the clients of the others go on. */
async function killedUnderLoad(gateways: Gateways, victim: number, { history, ledger }: Told): Promise<void> {
  let stopped = false
  const open = async (): Promise<Wire> => stoppable(await openWire('gRPC', gateways.roundRobin), () => stopped)
  const wires = await Promise.all(Array.from({ length: writers + movers }, open))
  const work = wires.map((wire, i) =>
    i < writers ? writeUntilDeath(wire, history, i) : moveUntilDeath(wire, ledger, i),
  )
  let working = work.length
  let failure: unknown
  for (const one of work) {
    one.then(
      () => working--,
      (error) => {
        failure ??= error
      },
    )
  }
  const until = async (commits: number): Promise<void> => {
    while (history.acknowledgedCount < commits && working > 0 && failure === undefined) await sleep(5)
  }
  await until(history.acknowledgedCount + commitsOfRound)
  await gateways.kill(victim)
  // The others go on, over what the dead one left.
  if (gateways.count > 1) await until(history.acknowledgedCount + commitsOfRound / 2)
  stopped = true
  await Promise.all(work)
  for (const wire of wires) wire.close()
}

async function verified(gateways: Gateways, { history, ledger }: Told): Promise<void> {
  const wire = await openWire('gRPC', gateways.roundRobin)
  await verify(wire, history, writers)
  await verifyLedger(wire, ledger)
  wire.close()
}

/** Numbers from 0 to 1 that a seed decides. */
function chanceOf(from: number): () => number {
  let state = from
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
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

async function rounds(where: Emulator, count: number, kills: number): Promise<void> {
  const told = { history: new History(), ledger: new Ledger() }
  const chance = chanceOf(seed)
  const gateways = await Gateways.start(count, where.address, `kills${count}`)
  try {
    await expectReadme(gateways)
    for (let kill = 0; kill < kills; kill++) {
      const victim = Math.floor(chance() * count)
      await killedUnderLoad(gateways, victim, told)
      if (count === 1) await gateways.restart(victim)
      await verified(gateways, told)
      if (count > 1) await gateways.restart(victim)
    }
    const { code, out, err } = await gateways.check()
    // A machine that is busy may see how far the check has come.
    expect({ code, err: err.replace(/^sixtables: looked at .*\n/gm, '') }, out).toEqual({ code: 0, err: '' })
    expect(out).toContain('All agree.')
    expect(gateways.complaints).toBe('')
  } finally {
    await gateways.close()
  }
  const { history, ledger } = told
  expect(history.acknowledgedCount).toBeGreaterThanOrEqual(kills * commitsOfRound)
  const acknowledged = history.acknowledgedCount + ledger.acknowledgedCount
  console.log(
    `seed ${seed}, ${count} gateways: ${kills} kills, ${acknowledged} commits, ${ledger.abortedCount} aborted`,
  )
}

describe('gateways on a Bigtable, killed under load', () => {
  test('lose no acknowledged commit, and leave nothing half done, over the fake', async () => {
    const fake = await FakeBigtable.start(seed)
    await rounds(fake, 2, 1).finally(() => fake.close())
  })

  const kills = Number(process.env['SIXTABLES_KILLS'] ?? 10)
  // Needs a program of Google's: `npm run bigtable`.
  test.skipIf(!hasCbtemulator).each([1, 3])(
    "lose no acknowledged commit, and leave nothing half done, over Google's emulator: %d at a time",
    { timeout: 60_000 + kills * 30_000 },
    async (count) => {
      const emulator = await startCbtemulator()
      await rounds(emulator, count, kills).finally(() => emulator.close())
    },
  )
})
