/**
 * A check of our clock against Bigtable's: a cell that is written with the timestamp -1 gets the server's time.
 *
 *   M   t   (empty)        one cell, rewritten by each check; no other row has this key
 *
 * A gateway whose clock differs by more than a minute does not open. While it runs, the engine repeats the comparison
 * (gateways/compared-clock.ts).
 */
import { failedPrecondition, type Scheduler } from '@sixtables/engine'
import type { TableClient } from '../client/table-client.ts'
import { placeInWords } from '../client/table-place.ts'
import { clockDifferenceMicrosMax } from '../row-store/row-store.ts'

const key = 'M'
const empty = new Uint8Array(0)
const column = { familyName: 't', columnQualifier: empty }
const serverTime = { low: -1, high: -1 }

/** @throws FAILED_PRECONDITION with the remedy if the clocks differ by too much */
export async function checkClock(client: TableClient, clock: Pick<Scheduler, 'nowMicros'>): Promise<void> {
  const before = clock.nowMicros()
  const server = await serverMicros(client)
  const after = clock.nowMicros()
  const isAhead = before > server
  const difference = isAhead ? before - server : server - after
  if (difference <= clockDifferenceMicrosMax) return
  const direction = isAhead ? 'ahead of' : 'behind'
  throw failedPrecondition(
    `the clock of this machine is ${difference / 1_000_000n} s ${direction} the clock of the ${placeInWords(client.place)}, and at most ` +
      `${clockDifferenceMicrosMax / 1_000_000n} s are allowed; set the clock right, then start again`,
  )
}

/** The server's time at some moment during the call. */
export async function serverMicros(client: TableClient): Promise<bigint> {
  const mutations = [
    { deleteFromColumn: column },
    { setCell: { ...column, timestampMicros: serverTime, value: empty } },
  ]
  const refused = await client.mutateRows([{ key, mutations }])
  for (const error of refused.values()) throw error
  // Another gateway may have rewritten the cell since; its time is as good.
  const [row] = await client.readRows({ rows: { keys: [key] }, filter: { familyNameRegexFilter: column.familyName } })
  const micros = row?.cells[0]?.micros
  if (micros === undefined) throw failedPrecondition(`${placeInWords(client.place)} lost a cell that was just written`)
  return micros
}
