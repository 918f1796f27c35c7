/**
 * The built server, killed in the middle of its work: everything it acknowledged is there when it runs again on its folder.
 * SIXTABLES_KILLS=200 kills more often than a test run has time for (`npm run crash`).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requireBuild, ServerProcess, sixtables } from '../support/server-process.ts'
import { openWire, type Wire, type WireName } from '../support/wires.ts'
import { History, writeUntilDeath } from '../support/write-load.ts'
import { verify } from '../support/write-verdict.ts'

const kills = Number(process.env['SIXTABLES_KILLS'] ?? 3)
/** Kills on one folder, whose history is read anew after each. */
const killsOfFolder = 12
const roundMsMax = 30_000
const wiresOfWriters: readonly WireName[] = ['HTTP protobuf', 'gRPC', 'gRPC', 'gRPC', 'gRPC', 'gRPC']

/** Commits are fused with applying, follow soon after, or lie there for long when the server dies. */
const applying: readonly (readonly string[])[] = [
  ['--apply', 'delayed', '--apply-delay-ms', '40'],
  [],
  ['--apply', 'manual'],
  ['--apply', 'delayed'],
]

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

/** Starts the server, and closes the connections to it after `work`. */
async function onServer(
  flags: readonly string[],
  work: (server: ServerProcess, wires: Wire[]) => Promise<void>,
): Promise<void> {
  const server = await ServerProcess.start(folder, ...flags)
  running = server
  const wires = await Promise.all(wiresOfWriters.map((name) => openWire(name, server)))
  try {
    await work(server, wires)
  } finally {
    for (const wire of wires) wire.close()
  }
}

/** Writes until some hundred commits are acknowledged, and kills the server a moment later. */
async function killedUnderLoad(history: History, round: number): Promise<void> {
  await onServer(applying[round % applying.length] ?? [], async (server, wires) => {
    const writers = wires.map((wire, writer) => writeUntilDeath(wire, history, writer))
    const enough = history.acknowledgedCount + 200
    while (history.acknowledgedCount < enough) await Promise.race([sleep(5), ...writers])
    await sleep((round * 37) % 100)
    await server.kill()
    await Promise.all(writers)
  })
}

async function expectSound(...target: string[]): Promise<void> {
  const { code, out, err } = await sixtables('check', ...target)
  expect({ code, err }, out).toEqual({ code: 0, err: '' })
  expect(out).toContain('All agree.')
}

async function verifyOn(server: ServerProcess, wires: readonly Wire[], history: History): Promise<void> {
  const wire = wires[1]
  if (wire !== undefined) await verify(wire, history, wires.length)
  await expectSound('--endpoint', server.endpoint)
  expect(server.complaints).toBe('')
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
      const history = new History()
      for (let round = from; round < from + count; round++) {
        await killedUnderLoad(history, round)
        await expectSound('--data-dir', folder)
        await onServer([], async (server, wires) => {
          await verifyOn(server, wires, history)
          // Killed again, with nothing to do: opening itself left nothing half done.
          await server.kill()
        })
      }
      expect(history.acknowledgedCount).toBeGreaterThanOrEqual(count * 200)
    },
  )
})
