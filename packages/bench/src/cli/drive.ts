/**
 * `sixtables-lab run --endpoint`: sends the client calls of arms to a running server, in real time, so that the same picture
 * grows there (`sixtables start --simulate`, `sixtables top`). Nothing is judged: what a server shows depends on how it was
 * started.
 */
import { DatastoreError, type Scheduler, systemScheduler } from '@sixtables/engine'
import { seededRandom } from '@sixtables/engine/testing'
import type { Arm, Lab } from '../lab.ts'
import { inWords } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import { WireClient } from '../sim/wire.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'

export interface DriveOptions {
  /** `host:port` */
  readonly endpoint: string
  readonly seconds: number
  /** Operations a second of open-loop arms. */
  readonly opsPerSecond: number
  readonly seed: number
  readonly arms: readonly string[] | undefined
}

const projectId = 'lab'

/** The machine's clock, with timers that keep the process alive: here nothing else does. */
const clock: Scheduler = {
  ...systemScheduler,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export async function driveLabs(labs: readonly Lab[], options: DriveOptions, io: Io): Promise<number> {
  if (!/^[\w.[\]:-]+:\d+$/.test(options.endpoint)) {
    throw new UsageError(`--endpoint is host:port, as in 127.0.0.1:8081, not ${options.endpoint}`)
  }
  const chosen = labs.flatMap((lab) =>
    lab.arms
      .filter(({ name, drive }) => drive !== undefined && (options.arms?.includes(name) ?? true))
      .map((arm) => ({ lab, arm })),
  )
  if (chosen.length === 0) {
    throw new UsageError(
      `no arm of ${labs.map(({ name }) => name).join(', ')} is a load of client calls; run it without --endpoint`,
    )
  }
  let all = 0
  for (const { lab, arm } of chosen) all += await driveArm(lab, arm, options, io)
  return all > 0 ? 0 : 1
}

/** @returns how many operations were answered */
async function driveArm(lab: Lab, arm: Arm, options: DriveOptions, io: Io): Promise<number> {
  const { endpoint, seconds, opsPerSecond, seed } = options
  const client = new WireClient({ endpoint, projectId, clock })
  await client.lookup(client.key({ kind: 'Lab', name: 'here' })).catch((error: unknown) => {
    throw new UsageError(`${endpoint} does not answer as a Datastore: ${wordsOf(error)}`)
  })
  io.out(`${lab.name}, ${arm.name}: ${arm.about}; project ${projectId} at ${endpoint}, ${seconds} s`)
  const latency = new Histogram()
  const failures = new Map<string, number>()
  let done = 0
  let stopped = false
  const session = {
    client,
    random: seededRandom(seed),
    seconds,
    opsPerSecond,
    done(ms: number) {
      done++
      latency.add(ms)
    },
    failed(error: unknown) {
      const words = error instanceof DatastoreError ? error.code : wordsOf(error)
      failures.set(words, (failures.get(words) ?? 0) + 1)
    },
  }
  const report = async (): Promise<void> => {
    let last = 0
    while (!stopped) {
      await clock.sleep(1000)
      io.progress(`${lab.name}, ${arm.name}: ${done - last} a second, ${sum(failures)} failed so far`)
      last = done
    }
  }
  const reporting = report()
  const begunMs = client.nowMs()
  await arm.drive?.(session)
  const tookSeconds = (client.nowMs() - begunMs) / 1000
  stopped = true
  await reporting
  io.progress('')
  const failed = [...failures].map(([code, count]) => `${inWords(count)} ${code}`).join(', ')
  io.out(
    `  ${inWords(done / tookSeconds)} a second, p50 ${inWords(latency.quantile(0.5))} ms, p99 ${inWords(latency.quantile(0.99))} ms`,
  )
  io.out(`  failed: ${failed === '' ? 'none' : failed}`)
  return done
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, count) => all + count, 0)
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
