/**
 * A table of a Bigtable with the clients of load.ts, and all that is verified of it: each acknowledged commit is there, each other whole or not at
 * all, and no id was given twice (write-load/W1 to write-load/W4, ledger-load/L1 to ledger-load/L3). All transfers and reads of the bank are strictly
 * serializable (bank-verdict/BV1 to bank-verdict/BV3), and the check of the table finds all in order.
 */
import { expect } from 'vitest'
import { verifyLedger } from '../../../gateway/test/support/ledger-verdict.ts'
import type { Wire } from '../../../gateway/test/support/wires.ts'
import { verify } from '../../../gateway/test/support/write-verdict.ts'
import { verdict } from './bank-verdict.ts'
import type { Emulator } from './cbtemulator.ts'
import { writeEvidence } from './evidence.ts'
import type { Figures } from './figures.ts'
import { Gateways } from './gateways.ts'
import { openPatientWire, Told } from './load.ts'
import { Pace } from './pace.ts'

const table = 'kills'
export const seed: number = Number(process.env['SIXTABLES_SEED'] ?? Date.now() % 1_000_000)

export interface Run {
  readonly gateways: Gateways
  readonly told: Told
  readonly pace: Pace
  readonly figures: Figures
  readonly chance: () => number
}

interface TableOptions {
  readonly gateways: number
  readonly figures: Figures
  /** What gateways may say on stderr; by itself nothing. */
  readonly expected?: RegExp
  /** As in gateways.ts. */
  readonly envOf?: (index: number) => Readonly<Record<string, string>>
}

/** A table with the clients' accounts, what is done to it, and then the whole history. */
export async function onOneTable(
  where: Pick<Emulator, 'address'>,
  { gateways: count, figures, expected = /$^/g, envOf }: TableOptions,
  task: (run: Run) => Promise<void>,
): Promise<void> {
  const gateways = await Gateways.start(count, where.address, table, envOf)
  const pace = await Pace.start(where.address, table)
  const told = new Told()
  const run = { gateways, told, pace, figures, chance: chanceOf(seed - figures.faults) }
  try {
    await withWire(gateways, (wire) => told.bank.open(wire))
    await task(run)
    await verifyTable(run)
    expect(gateways.complaints.replace(expected, '')).toBe('')
  } catch (error) {
    const { complaints } = gateways
    const folder = await writeEvidence({ address: where.address, table, told, complaints }).catch(String)
    console.log(
      `BROKEN with SIXTABLES_SEED=${seed} after ${figures.progress}; all that is left is in ${folder}: ${error}`,
    )
    throw error
  } finally {
    await pace.close()
    await gateways.close()
  }
  figures.add(told)
}

/** What each client was told, against what is there. */
export async function verifyClients({ gateways, told, pace }: Run): Promise<void> {
  const verified = withWire(gateways, async (wire) => {
    await verify(wire, told.history, told.writers)
    await verifyLedger(wire, told.ledger)
  })
  await pace.within('end of the look at the writes', verified)
}

async function verifyTable({ gateways, told, pace }: Run): Promise<void> {
  const history = withWire(gateways, (wire) => told.bank.history(wire))
  const { commits, reads } = await pace.within('end of the look at the bank', history)
  expect(verdict(commits, reads)).toBeUndefined()
  const { code, out, err } = await pace.within('end of the check', gateways.check())
  // A machine that is busy may see how far the check has come.
  expect({ code, err: err.replace(/^sixtables: looked at .*\n/gm, '') }, out).toEqual({ code: 0, err: '' })
  expect(out).toContain('All agree.')
}

async function withWire<T>(gateways: Gateways, use: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = await openPatientWire(gateways.roundRobin)
  return await use(wire).finally(() => wire.close())
}

/** Numbers from 0 to 1 that a seed decides. */
export function chanceOf(from: number): () => number {
  let state = from
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
