/** A fault in words; docs/reference/http.md has its fields. */
import type { FaultReport } from '@sixtables/gateway/browser'

type Described = Omit<FaultReport, 'id' | 'matched' | 'hits'>

/** `commit, lookup; kind ToDo` */
export function placeInWords({ method, holdApply, ...fault }: Described): string {
  const methods = holdApply === true ? ['commit'] : typeof method === 'string' ? [method] : (method ?? [])
  const named = (['project', 'database', 'namespace', 'kind', 'key'] as const).flatMap((name) => {
    const value = fault[name]
    return value === undefined ? [] : [`${name} ${value === '' ? '(default)' : value}`]
  })
  return [methods.length === 0 ? 'all calls' : methods.join(', '), ...named].join('; ')
}

/** `ABORTED "try later" after 100 ms` */
export function effectInWords({ latencyMs, code, message, holdApply }: Described): string {
  if (holdApply === true) return 'writes wait between commit and apply'
  const delay = latencyMs === undefined ? '' : `${latencyMs} ms`
  if (code === undefined) return `delay of ${delay}`
  return `${code}${message === undefined ? '' : ` "${message}"`}${delay === '' ? '' : ` after ${delay}`}`
}

/** `after 2 calls, at most 1 time, for 50 % of calls (seed 7)` */
export function timesInWords({ skip, times, share, seed }: Described): string {
  // 0.07 × 100 is 7.000000000000001.
  const percent = Number((100 * (share ?? 1)).toPrecision(12))
  const words = [
    skip === undefined || skip === 0 ? undefined : `after ${skip} ${skip === 1 ? 'call' : 'calls'}`,
    times === undefined ? undefined : `at most ${times} ${times === 1 ? 'time' : 'times'}`,
    share === undefined || share === 1 ? undefined : `for ${percent} % of calls (seed ${seed ?? 1})`,
  ].filter((one) => one !== undefined)
  return words.length === 0 ? 'always' : words.join(', ')
}
