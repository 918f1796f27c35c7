/**
 * A program of its own that looks an entity up every few milliseconds, and tells how long it waited at most.
 *
 *   parent ── 'begin' ─▶ forgets what was ── 'end' ─▶ answers { lookups, worstMs, busyMs }
 *
 * On a machine that others use, too, a wait may be the machine's: `busyMs` is the most that the server's main thread ran
 * while a lookup waited, as Linux tells it. The two are of different lookups, mostly.
 */
import { readFileSync } from 'node:fs'
import { Connection } from '../wire/connection.ts'
import { lookup } from '../wire/messages.ts'

export interface Heartbeats {
  readonly lookups: number
  readonly worstMs: number
  /** 0 where the system does not tell. */
  readonly busyMs: number
}

const everyMs = 4

/** How long a process's main thread has run, in milliseconds. */
function ranMs(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

async function beat(port: number, pid: string, kind: string, name: string): Promise<never> {
  const connection = await Connection.open(port)
  const message = lookup(kind, [name])
  let [lookups, worstMs, busyMs] = [0, 0, 0]
  process.on('message', (told) => {
    if (told === 'end') process.send?.({ lookups, worstMs, busyMs })
    ;[lookups, worstMs, busyMs] = [0, 0, 0]
  })
  process.send?.('ready')
  for (;;) {
    const ran = ranMs(pid)
    const asked = performance.now()
    await connection.ask('Lookup', message)
    worstMs = Math.max(worstMs, performance.now() - asked)
    busyMs = Math.max(busyMs, ranMs(pid) - ran)
    lookups++
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

const [port = '', pid = '', kind = '', name = ''] = process.argv.slice(2)
await beat(Number(port), pid, kind, name)
