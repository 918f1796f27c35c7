/**
 * `sixtables top`: the heat of a running server, live in the terminal; without a terminal, one report in words.
 *
 *   server ──events──▶ overview ──frame()──▶ lines ──Screen──▶ terminal
 *                          ▲ keys: another table or span begins another stream
 */
import { type TableId, tableIds } from '@sixtables/engine'
import { reasonOf } from '../../../reason.ts'
import type { Flags, Io } from '../../framework/command.ts'
import { exitCodes, OperationError, UsageError } from '../../framework/errors.ts'
import { ask, openEvents, serverAt } from '../../target/ask.ts'
import { serverOf } from '../../target/places.ts'
import { frame, type Overview, scrollMax, type View, wholePicture } from './frame.ts'
import { plainText, type Size } from './line.ts'
import { type Display, type Keyboard, Screen, scrollKeys } from './screen.ts'

/** Time spans for the keys + and −, in minutes; each is one tier of the history. */
const spansMinutes = [2, 10, 20, 60, 120, 720, 1440] as const

export interface TopTerminal {
  readonly keyboard: Keyboard & { readonly isTTY?: boolean }
  readonly display: Display & { readonly isTTY?: boolean }
}

export async function top(
  flags: Flags,
  io: Io,
  terminal: TopTerminal = { keyboard: process.stdin, display: process.stdout },
): Promise<number> {
  const { address } = await serverOf(flags, io)
  const intervalMs = Math.round(positive(flags, 'interval', 1) * 1000)
  const view: View = {
    address,
    spanMs: Math.round(positive(flags, 'span', 10) * 60_000),
    table: tableOf(flags),
    paused: false,
    scroll: 0,
  }
  const isLive = terminal.display.isTTY === true && flags['once'] !== true && flags['json'] !== true
  if (isLive) return live(view, intervalMs, io, terminal)
  const overview = await first(view, intervalMs)
  if (flags['json'] === true) io.out(JSON.stringify(overview, null, 2))
  else {
    const width = Math.max(100, Math.min(200, terminal.display.columns ?? 120))
    for (const one of wholePicture(overview, view, width)) io.out(plainText(one))
  }
  return exitCodes.ok
}

function tableOf(flags: Flags): TableId | undefined {
  const name = flags['table']
  if (name === undefined) return undefined
  const found = tableIds.find((id) => id.toLowerCase() === String(name).toLowerCase())
  if (found === undefined) throw new UsageError(`there is no table "${name}"; there is ${tableIds.join(', ')}`)
  return found
}

function positive(flags: Flags, name: string, byDefault: number): number {
  const given = flags[name]
  if (given === undefined) return byDefault
  const value = Number(given)
  if (!(value > 0)) throw new UsageError(`--${name} is a number above 0; got "${given}"`)
  return value
}

/** Overviews until the signal aborts. @throws UsageError without a server, OperationError when it goes away */
async function* watch(
  { address, spanMs, table }: View,
  { intervalMs, isCounted = false, signal }: { intervalMs: number; isCounted?: boolean; signal: AbortSignal },
): AsyncGenerator<Overview> {
  const parameters = new URLSearchParams({ interval: String(intervalMs), span: String(spanMs) })
  if (table !== undefined) parameters.set('table', table)
  if (isCounted) parameters.set('counted', 'true')
  try {
    const events = await openEvents(serverAt(address), 'GET', `/emulator/watch?${parameters}`, signal)
    for await (const data of events) yield JSON.parse(data) as Overview
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof UsageError || error instanceof OperationError) throw error
    throw new OperationError(`the server on ${address} went away (${reasonOf(error)})`)
  }
  if (!signal.aborted) throw new OperationError(`the server on ${address} was stopped`)
}

async function first(view: View, intervalMs: number): Promise<Overview> {
  const stop = new AbortController()
  try {
    for await (const overview of watch(view, { intervalMs, isCounted: true, signal: stop.signal })) return overview
  } finally {
    stop.abort()
  }
  throw new UsageError(`${view.address} sent nothing`)
}

async function live(firstView: View, intervalMs: number, io: Io, terminal: TopTerminal): Promise<number> {
  let view = firstView
  let shown: Overview | undefined
  let stream = new AbortController()
  let isOver = false
  const draw = (): void => {
    if (shown !== undefined) screen.show(frame(shown, view, screen.size))
  }
  const quit = (): void => {
    isOver = true
    stream.abort()
  }
  /** Another view needs another stream; a pause does not. */
  const change = (next: View): void => {
    const isSameData = next.spanMs === view.spanMs && next.table === view.table
    view = next
    if (!isSameData) stream.abort()
    draw()
  }
  const scroll = (key: string): void => {
    if (shown !== undefined) change({ ...view, scroll: scrolled(view.scroll, key, shown, screen.size) })
  }
  const screen = new Screen({
    ...terminal,
    isColoured: (io.env['NO_COLOR'] ?? '') === '',
    onResize: draw,
    onKey: (key) => {
      if (key === 'q' || key === '\u0003' || key === '\u001b') quit()
      else if (key === '\t') change({ ...view, table: tableIds[tableIds.indexOf(view.table as TableId) + 1] })
      else if (key === '+' || key === '=') change({ ...view, spanMs: nextSpan(view.spanMs, 1) })
      else if (key === '-') change({ ...view, spanMs: nextSpan(view.spanMs, -1) })
      else if (key === 'p' || key === ' ') change({ ...view, paused: !view.paused })
      else if (Object.hasOwn(scrollKeys, key)) scroll(key)
      else if (key === 'c') {
        // The result is visible in the next frames.
        ask(serverAt(view.address), { method: 'POST', path: '/emulator/tablets/compact' }).catch(quit)
      }
    },
  })
  const release = io.onSignal(quit)
  screen.open()
  try {
    while (!isOver) {
      stream = new AbortController()
      for await (const overview of watch(view, { intervalMs, signal: stream.signal })) {
        if (view.paused) continue
        shown = overview
        draw()
      }
    }
  } finally {
    screen.close()
    release()
  }
  return exitCodes.ok
}

/** The scroll position after a key of `scrollKeys`. */
function scrolled(now: number, key: string, overview: Overview, size: Size): number {
  const last = scrollMax(overview, size)
  const page = Math.max(1, size.height - 5)
  const steps = { up: -1, down: 1, 'page up': -page, 'page down': page, start: -last, end: last }
  const step = steps[scrollKeys[key] ?? 'start']
  return Math.min(last, Math.max(0, Math.min(now, last) + step))
}

function nextSpan(spanMs: number, step: 1 | -1): number {
  const spans = spansMinutes.map((minutes) => minutes * 60_000)
  const next = step > 0 ? spans.find((span) => span > spanMs) : spans.findLast((span) => span < spanMs)
  return next ?? spanMs
}
