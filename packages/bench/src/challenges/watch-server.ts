/**
 * Judges a program in any language by watching the server that it talks to: findings, refused requests and the traffic that came.
 *
 * The server must run with `--simulate`. What is stored is not judged: only the judge in this process knows the task's data.
 */
import type { Finding, TabletsReport } from '@sixtables/engine'
import { UsageError } from '../cli/errors.ts'
import { inWords } from '../lab.ts'
import type { JudgedExpectation } from '../runner.ts'
import type { Challenge } from './challenge.ts'

export interface WatchOptions {
  /** `host:port` */
  readonly endpoint: string
  readonly seconds: number
  readonly sleep: (ms: number) => Promise<void>
  readonly onProgress?: (words: string) => void
}

/** Row operations a second below which a second counts as idle. */
const idleBelow = 5
const busySecondsMin = 5

/** @throws UsageError when no simulating server answers, or too little traffic came */
export async function watchServer(challenge: Challenge, options: WatchOptions): Promise<readonly JudgedExpectation[]> {
  const { endpoint, seconds, sleep, onProgress } = options
  const before = new Map((await findingsOf(endpoint)).map((finding) => [idOf(finding), finding.lastSeenMs]))
  let [busySeconds, refusedSeconds] = [0, 0]
  for (let second = 0; second < seconds; second++) {
    const report = await ask<TabletsReport>(endpoint, '/emulator/tablets')
    if (!report.simulated) {
      throw new UsageError(
        `the server at ${endpoint} does not simulate capacity; start it with sixtables start --simulate`,
      )
    }
    const { perSecond, rejectedPerSecond } = report.requests
    if (perSecond >= idleBelow) busySeconds++
    if (rejectedPerSecond > 0) refusedSeconds++
    onProgress?.(
      `${second + 1} of ${seconds} s: ${inWords(perSecond)} requests a second, ${inWords(rejectedPerSecond)} refused`,
    )
    await sleep(1000)
  }
  if (busySeconds < busySecondsMin) {
    throw new UsageError(
      `only ${busySeconds} of ${seconds} s had ${idleBelow} requests a second or more; start your program first, and let it run`,
    )
  }
  const seen = await findingsOf(endpoint)
  // A program that runs already has its findings before the watch: they count when the pattern was seen again.
  const isOld = (finding: Finding): boolean => before.get(idOf(finding)) === finding.lastSeenMs
  const bad = seen.filter((finding) => challenge.findings.includes(finding.kind) && !isOld(finding))
  return [
    {
      says: `no finding of ${challenge.findings.join(', ')}`,
      verdict: bad.length === 0 ? 'holds' : 'fails',
      found: bad.length === 0 ? 'none' : bad.map(({ words }) => words).join(' '),
    },
    {
      says: 'requests are refused in at most one second of twenty',
      verdict: refusedSeconds * 20 <= busySeconds ? 'holds' : 'fails',
      found: `${refusedSeconds} of ${busySeconds} s with traffic`,
    },
  ]
}

function idOf({ kind, subject, firstSeenMs }: Finding): string {
  return `${kind} ${subject} ${firstSeenMs}`
}

async function findingsOf(endpoint: string): Promise<readonly Finding[]> {
  return (await ask<{ readonly findings: readonly Finding[] }>(endpoint, '/emulator/findings')).findings
}

async function ask<T>(endpoint: string, path: string): Promise<T> {
  let response: Response
  try {
    response = await fetch(`http://${endpoint}${path}`)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    throw new UsageError(`no sixtables server answers at ${endpoint}: ${cause}`)
  }
  const answer = await response.json().catch(() => undefined)
  if (!response.ok || answer === undefined)
    throw new UsageError(`${endpoint} answers ${path} with ${response.status}; is it a sixtables server?`)
  return answer as T
}
