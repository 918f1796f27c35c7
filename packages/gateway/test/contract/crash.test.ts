/**
 * The built server, killed in the middle of its work: everything it acknowledged is there when it runs again on its folder.
 * SIXTABLES_KILLS=240 kills more often than a test run has time for (`npm run crash`); SIXTABLES_SEED draws other moments.
 *
 *   start ─▶ load ─▶ SIGKILL ─▶ (start ─▶ SIGKILL while it opens)* ─▶ check the closed folder ─▶ start ─▶ verify, check ─▶ SIGKILL
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { sixtables } from '../support/cli.ts'
import { dropUntilDeath, Ledger, moveUntilDeath, queryUntilDeath } from '../support/ledger-load.ts'
import { verifyLedger } from '../support/ledger-verdict.ts'
import { killedWhileOpening, requireBuild, ServerProcess } from '../support/server-process.ts'
import { openWire, type Wire, type WireName } from '../support/wires.ts'
import { History, writeUntilDeath } from '../support/write-load.ts'
import { verify } from '../support/write-verdict.ts'

const kills = Number(process.env['SIXTABLES_KILLS'] ?? (isDeep ? 240 : 2))
/** Kills on one folder, whose history is read anew after each. */
const killsOfFolder = 12
const roundMsMax = 100_000
const seed = Number(process.env['SIXTABLES_SEED'] ?? Date.now() % 1_000_000)
const wiresOfWriters: readonly WireName[] = ['HTTP protobuf', 'gRPC', 'gRPC', 'gRPC', 'gRPC', 'gRPC']
const wiresOfMovers: readonly WireName[] = ['gRPC', 'gRPC', 'HTTP protobuf']

/** Commits are fused with applying, follow soon after, or lie there for long when the server dies; in each mode. */
const startedWith: readonly (readonly string[])[] = [
  ['--apply', 'delayed', '--apply-delay-ms', '40'],
  [],
  ['--apply', 'manual'],
  ['--mode', 'legacy'],
  ['--durability', 'power'],
  ['--apply', 'delayed'],
  ['--mode', 'legacy', '--apply', 'manual'],
]
/** The last kill of load comes this soon after enough was written. */
const loadMsMax = 150
/** A server is up after about a third of this. */
const openingMsMax = 400

let folder: string
let running: ServerProcess | undefined

beforeEach(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'sixtables-crash-'))
})

afterEach(async () => {
  await running?.kill()
  running = undefined
  rmSync(folder, { recursive: true, force: true })
})

interface Wires {
  readonly writers: readonly Wire[]
  readonly movers: readonly Wire[]
  readonly others: readonly Wire[]
}

/** Starts the server, and closes the connections to it after `work`. */
async function onServer(
  flags: readonly string[],
  work: (server: ServerProcess, wires: Wires) => Promise<void>,
): Promise<void> {
  const server = await ServerProcess.start(folder, ...flags)
  running = server
  const open = (names: readonly WireName[]): Promise<Wire[]> => Promise.all(names.map((name) => openWire(name, server)))
  const [writers, movers, others] = await Promise.all([
    open(wiresOfWriters),
    open(wiresOfMovers),
    open(['gRPC', 'gRPC']),
  ])
  try {
    await work(server, { writers, movers, others })
  } finally {
    for (const wire of [...writers, ...movers, ...others]) wire.close()
  }
}

interface Told {
  readonly history: History
  readonly ledger: Ledger
}

/** Writes until some hundred commits are acknowledged, and kills the server a moment later. */
async function killedUnderLoad({ history, ledger }: Told, round: number, chance: () => number): Promise<void> {
  await onServer(startedWith[round % startedWith.length] ?? [], async (server, { writers, movers, others }) => {
    const [dropping, querying] = others
    const work = [
      ...writers.map((wire, writer) => writeUntilDeath(wire, history, writer)),
      ...movers.map((wire, writer) => moveUntilDeath(wire, ledger, writer)),
      ...(dropping === undefined ? [] : [dropUntilDeath(dropping, server, ledger)]),
      ...(querying === undefined ? [] : [queryUntilDeath(querying, round)]),
    ]
    const enough = history.acknowledgedCount + 150
    const enoughMoved = ledger.acknowledgedCount + 20
    while (history.acknowledgedCount < enough || ledger.acknowledgedCount < enoughMoved) {
      await Promise.race([sleep(5), ...work])
    }
    await sleep(chance() * loadMsMax)
    await server.kill()
    await Promise.all(work)
  })
}

async function expectSound(...target: string[]): Promise<void> {
  const { code, out, err } = await sixtables(['check', ...target])
  // A machine that is busy may see how far the check has come.
  expect({ code, err: err.replace(/^sixtables: looked at .*\n/gm, '') }, out).toEqual({ code: 0, err: '' })
  expect(out).toContain('All agree.')
}

async function verifyOn(server: ServerProcess, { writers }: Wires, { history, ledger }: Told): Promise<void> {
  const wire = writers[1]
  if (wire === undefined) throw new Error('there is no wire to verify by')
  await verify(wire, history, writers.length)
  await verifyLedger(wire, ledger)
  await expectSound('--endpoint', server.endpoint)
  expect(server.complaints).toBe('')
}

/** Numbers from 0 to 1 that a seed decides. */
function chanceOf(from: number): () => number {
  let state = from
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function summary({ history, ledger }: Told, kills: number): string {
  const { acknowledgedCount, inserts, allocated } = history
  const ids = inserts.reduce((sum, insert) => sum + (insert.ids?.length ?? 0), allocated.length)
  return (
    `seed ${seed}: ${kills} kills under load; ${acknowledgedCount + ledger.acknowledgedCount} commits acknowledged, ` +
    `${ledger.abortedCount} aborted, ${ids} ids, ${ledger.nextBatch} batches under resets`
  )
}

const rounds = Array.from({ length: Math.ceil(kills / killsOfFolder) }, (_, i) => {
  const from = i * killsOfFolder
  const count = Math.min(killsOfFolder, kills - from)
  return [`kill ${from + 1} to ${from + count}`, { from, count }] as const
})

describe('a server killed under load', () => {
  test.each(rounds)(
    'has every acknowledged commit, and each of the others whole or not at all: %s',
    { timeout: kills * roundMsMax },
    async (_title, { from, count }) => {
      const told = { history: new History(), ledger: new Ledger() }
      const chance = chanceOf(seed + from)
      for (let round = from; round < from + count; round++) {
        await killedUnderLoad(told, round, chance)
        // What was begun is finished by the next start, or the one after that.
        while (chance() < 0.4) await killedWhileOpening(folder, chance() * openingMsMax)
        await expectSound('--data-dir', folder)
        await onServer([], async (server, wires) => {
          await verifyOn(server, wires, told)
          // Killed again, with nothing to do: opening itself left nothing half done.
          await server.kill()
        })
      }
      const { history, ledger } = told
      expect(history.acknowledgedCount).toBeGreaterThanOrEqual(count * 150)
      expect(ledger.acknowledgedCount).toBeGreaterThanOrEqual(count * 20)
      console.log(summary(told, count))
    },
  )
})
