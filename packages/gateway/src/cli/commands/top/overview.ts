/** The data of `sixtables top`: the tablets' reports at one instant, which the server sends once per interval. */
import type { Finding, GroupReport, HeatReport, TabletsReport } from '@sixtables/engine'
import { OperationError, UsageError } from '../../framework/errors.ts'
import { openEvents, serverAt } from '../../target/ask.ts'

export interface Overview {
  readonly report: TabletsReport
  readonly heat: HeatReport
  /** Busiest first. */
  readonly groups: readonly GroupReport[]
  readonly findings: readonly Finding[]
}

export interface WatchOptions {
  readonly address: string
  readonly intervalMs: number
  readonly spanMs: number
  readonly table: string | undefined
  /** Whether the first overview waits until all rows are counted. */
  readonly isCounted?: boolean
  readonly signal: AbortSignal
}

/** Overviews until the signal aborts. @throws UsageError without a server, OperationError when it goes away */
export async function* watch(options: WatchOptions): AsyncGenerator<Overview> {
  const { address, intervalMs, spanMs, table, isCounted = false, signal } = options
  const parameters = new URLSearchParams({ interval: String(intervalMs), span: String(spanMs) })
  if (table !== undefined) parameters.set('table', table)
  if (isCounted) parameters.set('counted', 'true')
  try {
    const events = await openEvents(serverAt(address), 'GET', `/emulator/watch?${parameters}`, signal)
    for await (const data of events) yield JSON.parse(data) as Overview
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof UsageError || error instanceof OperationError) throw error
    throw new OperationError(`the server on ${address} went away (${error instanceof Error ? error.message : error})`)
  }
  if (!signal.aborted) throw new OperationError(`the server on ${address} was stopped`)
}
