/**
 * The screen of `sixtables top`: the tablets' report at one instant, as the server sends it once per interval.
 *
 * The stream is server-sent events (WHATWG HTML, "server-sent events"): each `data:` line is one overview in JSON, a blank
 * line ends an event.
 */
import type { Finding, GroupReport, HeatReport, TabletsReport } from '@sixtables/engine'
import { causeOf } from '../../../emulator/server-file.ts'
import { OperationError, UsageError } from '../../framework/errors.ts'
import { eventData } from '../../target/events.ts'
import { messageIn } from '../../target/remote-target.ts'

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
  /** The first overview comes when all rows are counted. */
  readonly isCounted?: boolean
  readonly signal: AbortSignal
}

/** Overviews as they come, until the signal aborts. @throws UsageError without a server, OperationError when it goes away */
export async function* watch(options: WatchOptions): AsyncGenerator<Overview> {
  const { address, intervalMs, spanMs, table, isCounted = false, signal } = options
  const parameters = new URLSearchParams({ interval: String(intervalMs), span: String(spanMs) })
  if (table !== undefined) parameters.set('table', table)
  if (isCounted) parameters.set('counted', 'true')
  const response = await fetch(`http://${address}/emulator/watch?${parameters}`, { signal }).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw new UsageError(
      `no server answers on ${address} (${causeOf(error)}); start one with sixtables start, or name another with --endpoint`,
    )
  })
  if (response === undefined) return
  if (!response.ok || response.body === null) {
    const body = await response.text()
    throw new OperationError(`${address} answered ${response.status}: ${messageIn(body) ?? body.trim()}`)
  }
  try {
    for await (const data of eventData(response.body)) yield JSON.parse(data) as Overview
  } catch (error) {
    if (signal.aborted) return
    throw new OperationError(`the server on ${address} went away (${error instanceof Error ? error.message : error})`)
  }
  if (!signal.aborted) throw new OperationError(`the server on ${address} was stopped`)
}
