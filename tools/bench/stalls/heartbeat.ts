/**
 * A program of its own that looks an entity up every few milliseconds, and tells how long it waited at most.
 *
 *   parent ── 'begin' ─▶ forgets what was ── 'end' ─▶ answers { lookups, worstMs, busyMs }
 *
 * On a machine that others use, too, a wait may be the machine's: `busyMs` is the most that the server's main thread ran
 * while a lookup waited, as Linux tells it. The two are of different lookups, mostly.
 */
import { Connection } from '../wire/connection.ts'
import { lookup } from '../wire/messages.ts'
import { told } from '../wire/servers.ts'

export interface Heartbeats {
  readonly lookups: number
  readonly worstMs: number
  /** 0 where the system does not tell. */
  readonly busyMs: number
}

const everyMs = 4

/** How long the server's main thread has run. */
function ranMs(): number {
  return Number(told(Number(pid), 'schedstat').split(' ')[0]) / 1e6
}

const [port, pid, kind = '', name = ''] = process.argv.slice(2)
const connection = await Connection.open(Number(port))
const message = lookup(kind, [name])
let [lookups, worstMs, busyMs] = [0, 0, 0]
process.on('message', (order) => {
  if (order === 'end') process.send?.({ lookups, worstMs, busyMs })
  ;[lookups, worstMs, busyMs] = [0, 0, 0]
})
process.send?.('ready')
for (;;) {
  const ran = ranMs()
  const asked = performance.now()
  await connection.ask('Lookup', message)
  worstMs = Math.max(worstMs, performance.now() - asked)
  busyMs = Math.max(busyMs, ranMs() - ran)
  lookups++
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
