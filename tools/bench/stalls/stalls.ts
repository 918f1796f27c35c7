/**
 * `npm run bench -- --stalls`: how long a lookup waits beside each long call.
 *
 * The heartbeat is a program of its own (heartbeat.ts) with its own connection; the machine should have a core for each of the
 * two and the server, and nothing else to do. The row of no call at all tells what the machine itself brings.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { say, table } from '../report.ts'
import { type Server, type ServerName, startServer } from '../wire/servers.ts'
import { kindOf, load } from '../wire/workloads.ts'
import type { Heartbeats } from './heartbeat.ts'
import { verbs } from './verbs.ts'

export interface Stall extends Heartbeats {
  readonly server: ServerName
  readonly size: number
  readonly verb: string
  readonly ms: number
  /** Why the call was refused, where it was. */
  readonly refusal?: string
}

const heartbeatProgram = fileURLToPath(new URL('./heartbeat.js', import.meta.url))

/** @param only - calls with one of these words in their names; absent: all */
export async function measureStalls(
  name: ServerName,
  size: number,
  only: readonly string[] | undefined,
): Promise<readonly Stall[]> {
  const server = await startServer({ name })
  const connection = await server.connect()
  const heart = await startHeart(server, kindOf(size))
  const stalls: Stall[] = []
  try {
    const measure = async (verb: string, run: () => Promise<unknown>): Promise<void> => {
      heart.begin()
      const begun = performance.now()
      const refusal = await run().then(
        () => undefined,
        (error: Error) => error.message,
      )
      const ms = performance.now() - begun
      const beats = await heart.end()
      stalls.push({ server: name, size, verb, ms, ...beats, ...(refusal === undefined ? {} : { refusal }) })
      say(
        `  ${verb}: ${Math.round(ms)} ms, heartbeat ${beats.worstMs.toFixed(1)} ms, busy ${beats.busyMs.toFixed(1)} ms ${refusal ?? ''}`,
      )
    }
    say(`${name}, ${size.toLocaleString('en')} entities`)
    await measure('writing them, 500 a commit', () => load(connection, size))
    const target = { port: server.port, connection, size, folder: server.folder }
    for (const [name, run] of Object.entries(verbs)) {
      if (only?.some((one) => name.includes(one)) ?? true) await measure(name, () => run(target))
    }
    say(`  memory at the end: ${Math.round(server.memoryMiB())} MiB`)
  } finally {
    heart.stop()
    connection.close()
    server.stop()
  }
  return stalls
}

async function startHeart({ port, pid }: Server, kind: string) {
  const child = fork(heartbeatProgram, [String(port), String(pid), kind, 't0000001'])
  await once(child, 'message')
  return {
    begin: () => child.send('begin'),
    /** Waits for the answer that is on its way, since it may be the one that waits longest. */
    async end(): Promise<Heartbeats> {
      await sleep(100)
      child.send('end')
      const [beats] = await once(child, 'message')
      return beats
    },
    stop: () => child.kill(),
  }
}

/** A table for people: time; longest run of the main thread while a lookup waited, longest wait, in milliseconds. */
export function stallsMarkdown(stalls: readonly Stall[]): string {
  const columns = [...new Set(stalls.map(columnOf))]
  const rows = [...new Set(stalls.map(({ verb }) => verb))].map((verb) => {
    const cells = columns.map((column) => {
      const stall = stalls.find((one) => one.verb === verb && columnOf(one) === column)
      if (stall === undefined) return ''
      if (stall.refusal !== undefined) return 'refused'
      return `${duration(stall.ms)}; ${Math.round(stall.busyMs)}, ${Math.round(stall.worstMs)}`
    })
    return [verb, ...cells]
  })
  return table(['', ...columns], rows).join('\n')
}

function columnOf({ server, size }: Stall): string {
  return `${size.toLocaleString('en')} ${server === 'sixtables' ? 'in memory' : 'on disk'}`
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
