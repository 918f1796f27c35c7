/**
 * Transactions out of their calls: from the first call of each to its end, with its waits for others.
 *
 *   first    ████ read ··········· █ commit                      committed
 *   second      ████ read ░░░░░░░░░░ waits for the first ✕         aborted: the victim
 *
 * A transaction ends with its commit, its rollback, or the first call that is answered ABORTED; without any of these it is open, or has
 * expired when nothing was heard of it for a minute.
 */
import type { RecordedRequest } from '@sixtables/gateway/browser'

export type Outcome = 'open' | 'committed' | 'rolled back' | 'aborted' | 'expired'

/** Times are milliseconds since the epoch. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

interface BarCall extends Span {
  readonly request: RecordedRequest
}

export interface Bar extends Span {
  readonly id: string
  readonly outcome: Outcome
  readonly calls: readonly BarCall[]
  /** `for`: ids of transactions; `0` is a write outside of transactions. */
  readonly waits: readonly (Span & { readonly row: string; readonly for: readonly string[] })[]
  /** The transactions in whose favour it was aborted. */
  readonly abortedBy: readonly string[]
}

/** A transaction ends when it is not used for so long (docs/reference/limits.md). */
const idleMs = 60_000

/** The transactions of the calls, oldest first. @param nowMs - for those that are open */
export function barsOf(requests: readonly RecordedRequest[], nowMs: number): readonly Bar[] {
  const byId = new Map<string, RecordedRequest[]>()
  for (const request of requests) {
    const { transaction } = request
    if (transaction !== undefined) byId.set(transaction, [...(byId.get(transaction) ?? []), request])
  }
  return [...byId].map(([id, own]) => barOf(id, own, nowMs)).sort((a, b) => a.fromMs - b.fromMs)
}

function barOf(id: string, requests: readonly RecordedRequest[], nowMs: number): Bar {
  const calls = requests
    .map((request): BarCall => ({ request, fromMs: beginOf(request), toMs: beginOf(request) + request.ms }))
    .sort((a, b) => a.fromMs - b.fromMs)
  const end = calls.find((call) => outcomeOf(call.request) !== undefined)
  const lastMs = Math.max(...calls.map(({ toMs }) => toMs))
  const isExpired = end === undefined && nowMs - lastMs > idleMs
  const outcome = (end && outcomeOf(end.request)) ?? (isExpired ? 'expired' : 'open')
  return {
    id,
    outcome,
    fromMs: calls[0]?.fromMs ?? 0,
    toMs: end?.toMs ?? (isExpired ? lastMs + idleMs : Math.max(nowMs, lastMs)),
    calls,
    waits: calls.flatMap(({ fromMs, request: { waits = [] } }) =>
      waits.map(({ afterMs, ms, ...wait }) => ({ ...wait, fromMs: fromMs + afterMs, toMs: fromMs + afterMs + ms })),
    ),
    abortedBy: [...new Set(requests.flatMap(({ abortedBy = [] }) => abortedBy))],
  }
}

function outcomeOf({ method, code }: RecordedRequest): Outcome | undefined {
  if (code === 'ABORTED') return 'aborted'
  if (method === 'commit') return code === 'OK' ? 'committed' : 'rolled back'
  return method === 'rollback' && code === 'OK' ? 'rolled back' : undefined
}

/** The width of a gap in the picture: a time that is left out, since nothing went on. */
const gapShare = 0.03
/** A pause that takes more of the picture is drawn as a gap. */
const pauseShare = 0.2

/**
 * A scale on which calls of milliseconds can be seen though minutes are between them: long pauses, in which no call ran, are gaps of one
 * width. The scale never goes back: what is later is not further left.
 */
export function timeScale(spans: readonly Span[]) {
  const busy = joined(spans)
  const first = busy[0]?.fromMs ?? 0
  let left = (busy.at(-1)?.toMs ?? 1) - first
  const pauses: Span[] = []
  const between = busy.slice(1).map(({ fromMs }, i) => ({ fromMs: busy[i]?.toMs ?? fromMs, toMs: fromMs }))
  // The longest first: each that goes makes the rest of the picture wider.
  for (const pause of between.sort((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs))) {
    if (pause.toMs - pause.fromMs < left * pauseShare) break
    pauses.push(pause)
    left -= pause.toMs - pause.fromMs
  }
  pauses.sort((a, b) => a.fromMs - b.fromMs)
  const share = Math.min(gapShare, 0.5 / Math.max(1, pauses.length))
  const perMs = (1 - share * pauses.length) / Math.max(left, 1e-6)
  /** 0 to 1. What is passed of a pause takes its part of the gap, and not of the scale. */
  const x = (ms: number): number => {
    const at = pauses.reduce(
      (sum, { fromMs, toMs }) => {
        const passed = Math.min(Math.max(0, ms - fromMs), toMs - fromMs)
        return sum + passed * (share / (toMs - fromMs) - perMs)
      },
      (ms - first) * perMs,
    )
    return Math.min(1, Math.max(0, at))
  }
  const gaps = pauses.map(({ fromMs, toMs }) => ({ atX: (x(fromMs) + x(toMs)) / 2, ms: toMs - fromMs }))
  return { x, gaps }
}

function joined(spans: readonly Span[]): readonly Span[] {
  const found: { fromMs: number; toMs: number }[] = []
  for (const { fromMs, toMs } of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = found.at(-1)
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs)
    else found.push({ fromMs, toMs })
  }
  return found
}

/** The begin of a call: milliseconds since the epoch, with microseconds behind the point. */
export function beginOf({ at }: Pick<RecordedRequest, 'at'>): number {
  const [whole = '', micros = ''] = [at.slice(0, 23), at.slice(23, -1)]
  return Date.parse(`${whole}Z`) + Number(`0.${micros || '0'}`)
}

/** Ids of transactions are numbers of 16 digits; their last ones tell them apart. */
export function shortTransaction(id: string): string {
  return id === '0' ? 'a write outside of transactions' : `…${id.slice(-5)}`
}
