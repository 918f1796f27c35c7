/**
 * The change of a database to another number of clock rows, while its gateways run. More rows take one epoch. Fewer take two: in the first one no
 * gateway gives stamps in the rows that go, and all still read them; when nothing is listed in them any more, the second one leaves them out.
 */
import { invalidArgument } from '@sixtables/engine'
import type { SharedDatabases } from './shared-databases.ts'

/** A reading costs a row read for each, and a strong read may have to raise each. */
export const clockRowsMax = 64

/**
 * @param database - its code
 * @param rows - from 1 to 64
 * @returns how many there were
 * @throws INVALID_ARGUMENT for another number
 */
export async function changeRows(databases: SharedDatabases, database: string, rows: number): Promise<number> {
  if (!Number.isInteger(rows) || rows < 1 || rows > clockRowsMax) {
    throw invalidArgument(`a database has 1 to ${clockRowsMax} clock rows; got ${rows}`)
  }
  const { clock, resolver } = databases.of(database)
  const { used: before, registers } = await clock.read()
  if (before === rows && registers.length === rows) return before
  await clock.raiseEpoch(0, (now) => ({ used: rows, rows: Math.max(rows, now.registers.length) }))
  for (;;) {
    const state = await clock.closed()
    // Another change has come meanwhile.
    if (state.used !== rows || state.registers.length === rows) return before
    const left = state.lists.flatMap(({ row, commits }) => (row < rows ? [] : commits))
    // A commit that is left in a list would hold the low watermark back when the row is used again: its time may have been swept by then.
    if (left.length > 0 && !databases.store.isOff('resolve-before-fewer')) {
      await resolver.resolveAll(state, left, state.given)
    } else await clock.raiseEpoch(0, (now) => (now.epoch === state.epoch ? { used: rows, rows } : undefined))
  }
}
