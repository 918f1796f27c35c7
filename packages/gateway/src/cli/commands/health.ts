/** `sixtables health`: whether a server answers, for the health checks of containers and for scripts that wait for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { causeOf, findServer } from '../../emulator/server-file.ts'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes } from '../framework/errors.ts'
import { written } from '../framework/flag-values.ts'
import { errorIn } from '../target/ask.ts'
import { namedPlace, type Place, startOrName, whyNone } from '../target/places.ts'

/** Time limit of an answer, and the pause before the next attempt. */
const answerMs = 2000
const pauseMs = 100

export async function health(flags: Flags, io: Io): Promise<number> {
  const place = namedPlace(flags, io)
  const waitMs = Number(written(flags, 'wait', /^\d{1,6}(\.\d+)?$/, 'a number of seconds') ?? 0) * 1000
  const began = io.now()
  for (;;) {
    const { address, trouble, hasAnswered, remedy } = await look(place)
    const leftMs = waitMs - (io.now() - began)
    if (trouble !== undefined && leftMs > 0) {
      await sleep(Math.min(pauseMs, leftMs))
      continue
    }
    const where = address === undefined ? '' : ` on ${address}`
    if (flags['json'] === true) {
      io.out(JSON.stringify({ healthy: trouble === undefined, endpoint: address, reason: trouble }))
    } else if (trouble === undefined) io.out(`The server${where} answers.`)
    else {
      const hint = waitMs === 0 && hasAnswered !== true ? '--wait 10 waits for one' : undefined
      io.err(`sixtables: no healthy server${where}: ${[trouble, remedy, hint].filter(Boolean).join('; ')}`)
    }
    return trouble === undefined ? exitCodes.ok : exitCodes.failed
  }
}

interface Look {
  /** Absent if the folder of `--data-dir` has no running server. */
  readonly address?: string
  /** The reason why it is not healthy; absent if it is. */
  readonly trouble?: string | undefined
  /** Whether the server itself reported the reason. */
  readonly hasAnswered?: boolean
  /** Advice; absent if the reason contains it. */
  readonly remedy?: string
}

/** One attempt. It reads the folder again each time, because a server may have started. */
async function look(place: Place): Promise<Look> {
  if ('address' in place) return await ask(place.address)
  const found = await findServer(place.dir)
  if (found.state !== 'running') return { trouble: whyNone(place.dir, found) }
  return await ask(found.server.address)
}

async function ask(address: string): Promise<Look> {
  try {
    const response = await fetch(`http://${address}/`, { signal: AbortSignal.timeout(answerMs) })
    const body = await response.text()
    if (!response.ok)
      return { address, trouble: errorIn(body).message ?? `it answers ${response.status}`, hasAnswered: true }
    if (body.trim() === 'Ok') return { address }
    return { address, trouble: 'what answers there is something else', remedy: startOrName }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    if (isLate) return { address, trouble: `no answer in ${answerMs} ms`, remedy: 'see to its log' }
    return { address, trouble: causeOf(error), remedy: startOrName }
  }
}
