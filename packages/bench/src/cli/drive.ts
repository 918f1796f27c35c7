/**
 * `sixtables-lab run --endpoint localhost:8081`: sends the client calls of arms to a running server, in real time, so that the lab's
 * picture grows there (`sixtables start --simulate`, `sixtables top`). Only stored data is judged: duplicates, order, lost items.
 * Rates and latencies depend on how the server was started.
 */
import { DatastoreError, type Scheduler, systemScheduler } from '@sixtables/engine'
import { seededRandom } from '@sixtables/engine/testing'
import type { Arm, Lab } from '../lab.ts'
import { inWords } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import { sum } from '../measure/sums.ts'
import type { JudgedExpectation } from '../runner.ts'
import { Client } from '../sim/client.ts'
import { Server, type WireVerdict } from '../sim/wire.ts'
import { UsageError, wordsOf } from './errors.ts'
import { type Io, writeData } from './io.ts'

export interface DriveOptions {
  /** `host:port` */
  readonly endpoint: string
  readonly seconds: number
  /** Operations a second of open-loop arms. */
  readonly opsPerSecond: number
  readonly seed: number
  readonly arms: readonly string[] | undefined
  /** A file for the results; `-` is the standard output. */
  readonly json: string | undefined
}

const projectId = 'lab'

/** The machine's clock. Its timers keep the process alive, because nothing else does here. */
const clock: Scheduler = {
  ...systemScheduler,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export async function driveLabs(labs: readonly Lab[], options: DriveOptions, io: Io): Promise<number> {
  if (!/^[\w.[\]:-]+:\d+$/.test(options.endpoint)) {
    throw new UsageError(`--endpoint is host:port, as in 127.0.0.1:8081, not ${options.endpoint}`)
  }
  const chosen = chosenArms(labs, options.arms)
  const results: Awaited<ReturnType<typeof driveArm>>[] = []
  for (const { lab, arm } of chosen) results.push(await driveArm(lab, arm, options, io))
  if (options.json !== undefined) writeData(io, options.json, `${JSON.stringify(results, undefined, 2)}\n`)
  const isJudgedWell = results.every(({ verdicts }) => verdicts.every(({ verdict }) => verdict === 'holds'))
  return isJudgedWell && results.some(({ answered }) => answered > 0) ? 0 : 1
}

/** The named arms, or all, as far as their load is client calls. */
function chosenArms(labs: readonly Lab[], names: readonly string[] | undefined): readonly { lab: Lab; arm: Arm }[] {
  const all = labs.flatMap((lab) => lab.arms.map((arm) => ({ lab, arm })))
  const driven = all.filter(({ arm }) => arm.drive !== undefined)
  if (driven.length === 0) {
    throw new UsageError(
      `no arm of ${labs.map(({ name }) => name).join(', ')} is a load of client calls; run it without --endpoint`,
    )
  }
  for (const name of names ?? []) {
    if (driven.some(({ arm }) => arm.name === name)) continue
    throw new UsageError(
      `--endpoint cannot drive the arm ${name}, which is no load of client calls; it can drive ${driven.map(({ arm }) => arm.name).join(', ')}`,
    )
  }
  return driven.filter(({ arm }) => names?.includes(arm.name) ?? true)
}

/** The calls of an arm and their outcomes; `failed` counts by code or message, and arms that cannot be judged over the wire have no verdicts. */
async function driveArm(lab: Lab, arm: Arm, options: DriveOptions, io: Io) {
  const { endpoint, seconds, opsPerSecond, seed } = options
  const loadEndMs = Number(clock.nowMicros()) / 1000 + seconds * 1000
  const client = new Client(new Server({ endpoint, projectId, clock, loadEndMs }), 0)
  await client.lookup(client.key({ kind: 'Lab', name: 'here' })).catch((error: unknown) => {
    throw new UsageError(`${endpoint} does not answer as a Datastore: ${wordsOf(error)}`)
  })
  const print = options.json === '-' ? () => {} : (line: string) => io.out(line)
  print(`${lab.name}, ${arm.name}: ${arm.about}; project ${projectId} at ${endpoint}, ${seconds} s`)
  const latency = new Histogram()
  const failures = new Map<string, number>()
  const verdicts: JudgedExpectation[] = []
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
    judged({ says, holds, found }: WireVerdict) {
      verdicts.push({ says, verdict: holds ? 'holds' : 'fails', found })
    },
  }
  const report = async (): Promise<void> => {
    let last = 0
    while (!stopped) {
      await clock.sleep(1000)
      io.progress(`${lab.name}, ${arm.name}: ${done - last}/s, ${sum(failures.values())} failed so far`)
      last = done
    }
  }
  const reporting = report()
  const begunMs = client.nowMs()
  await arm.drive?.(session).catch((error: unknown) => {
    if (!(error instanceof DatastoreError)) throw error
    session.judged({ says: 'the server answers to the end', holds: false, found: error.message })
  })
  const tookSeconds = (client.nowMs() - begunMs) / 1000
  stopped = true
  await reporting
  io.progress('')
  const [p50Ms, p99Ms] = [latency.quantile(0.5), latency.quantile(0.99)]
  const perSecond = done / tookSeconds
  const failed = [...failures].map(([code, count]) => `${inWords(count)} ${code}`).join(', ')
  print(`  ${inWords(perSecond)}/s, p50 ${inWords(p50Ms)} ms, p99 ${inWords(p99Ms)} ms`)
  print(`  failed: ${failed === '' ? 'none' : failed}`)
  verdictsInWords(verdicts).forEach(print)
  const figures = { answered: done, perSecond, p50Ms, p99Ms, failed: Object.fromEntries(failures), verdicts }
  return { lab: lab.name, arm: arm.name, seconds: tookSeconds, ...figures }
}

export function verdictsInWords(verdicts: readonly JudgedExpectation[]): readonly string[] {
  return verdicts.flatMap(({ verdict, says, found }) => [
    `  ${verdict === 'holds' ? 'holds' : 'FAILS'}  ${says}`,
    `         ${found}`,
  ])
}
