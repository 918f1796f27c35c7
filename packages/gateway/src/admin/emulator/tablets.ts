/**
 * The tablets over HTTP, with their heat, their events and findings about them.
 *
 * The first report starts a count of all rows and waits 200 ms for it, enough for a small store. With `counted=true`, `tablets` and `watch`
 * wait for the whole count. Answers are the engine's reports (observe/tablets/report.ts), plain JSON.
 */
import {
  type Engine,
  giveWay,
  type HeatOptions,
  type Scheduler,
  systemScheduler,
  type TableId,
  turnOfItsOwn,
} from '@sixtables/engine'
import { eventPieces } from '../../convert/json-steps.ts'
import { tableNamed, wholeNumber } from '../../convert/parameters.ts'
import type { Route, Router } from '../../protocols/router.ts'
import { within } from '../../within.ts'

/** An event is valid for this long; no stream may ask for them more often. */
export const tickMs = 100
const groupsDefault = 20
/** Number of different options whose events are kept; most streams have the default ones. */
const keptMax = 16
const intervalMsDefault = 1000
const countMsMax = 200

export function addTabletRoutes(router: Router, engine: Engine): void {
  const { tablets } = engine
  const { clock } = engine.context()
  // Real time: a watcher must not move an emulator's clock that stands still.
  const watch = watchOf(engine, systemScheduler)
  const rowsCounted = async (query: URLSearchParams): Promise<void> => {
    const counted = tablets.counted()
    if (query.get('counted') === 'true') return counted
    await within(countMsMax, counted)
  }
  const get = (path: string, route: Route): void => router.add('GET', `/emulator/${path}`, route)
  get('tablets?counted', async ({ query, signal }) => {
    await rowsCounted(query)
    return { json: await tablets.reportInSlices(engine.context({ signal })) }
  })
  get('tablets/events?after', ({ query }) => ({ json: { events: tablets.events(numberOf(query, 'after', 0) ?? 0) } }))
  get(`heat?${heatParameters}`, ({ query }) => ({ json: tablets.heat(heatOptions(query)) }))
  get('heat/recording?', async ({ signal }) => ({
    json: { ...(await tablets.heatRecording(engine.context({ signal }))), findings: engine.findings() },
  }))
  get('heat/live?interval', ({ query }) => {
    const intervalMs = numberOf(query, 'interval', tickMs) ?? intervalMsDefault
    return { events: (signal) => liveHeat(engine, clock, intervalMs, signal) }
  })
  get('groups?limit', ({ query }) => ({
    json: { groups: tablets.groups(numberOf(query, 'limit', 1) ?? groupsDefault) },
  }))
  get('findings?', () => ({ json: { findings: engine.findings() } }))
  get(`watch?interval,counted,${heatParameters}`, async ({ query }) => {
    const intervalMs = numberOf(query, 'interval', tickMs) ?? intervalMsDefault
    const options = heatOptions(query)
    await rowsCounted(query)
    return { events: (signal) => watch(intervalMs, options, signal) }
  })
  router.add('POST', '/emulator/tablets/compact?table', async ({ query, signal }) => {
    tablets.compact(tableOf(query))
    return { json: await tablets.reportInSlices(engine.context({ signal })) }
  })
}

const heatParameters = 'table,span,rows'

function heatOptions(query: URLSearchParams): HeatOptions {
  return { table: tableOf(query), spanMs: numberOf(query, 'span', 1), rowsMax: numberOf(query, 'rows', 1) }
}

function tableOf(query: URLSearchParams): TableId | undefined {
  const name = query.get('table')
  return name === null ? undefined : tableNamed(name)
}

function numberOf(query: URLSearchParams, name: string, min: number): number | undefined {
  return wholeNumber(name, query.get(name), { min })
}

/**
 * Heat second by second as events: the first has all recorded seconds, each later one the new seconds. While a stream is open every row operation
 * is counted. A slow client gets fewer events with more seconds each, and loses none: the engine is read only when an event can be sent.
 *
 * Its waits move a clock that stands still: only then does a second end, and its heat come.
 */
async function* liveHeat(
  engine: Engine,
  clock: Scheduler,
  intervalMs: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const reader = engine.tablets.watchHeat()
  const context = engine.context({ signal })
  let lastFindings = ''
  try {
    while (!signal.aborted) {
      const report = await reader.read(context)
      const findings = engine.findings()
      const words = JSON.stringify(findings)
      const isKnown = words === lastFindings && !report.isWhole
      // One object in each turn of the loop: with two, V8 kept the last one of each kind, a whole recording.
      yield* eventPieces(context, { ...report, findings: isKnown ? undefined : findings })
      lastFindings = words
      if (!reader.hasMore) await clock.sleep(intervalMs, signal)
      await turnOfItsOwn(context)
    }
  } finally {
    reader.end()
  }
}

type Watch = (intervalMs: number, options: HeatOptions, signal: AbortSignal) => AsyncGenerator<Buffer>

/**
 * The reports as events, until the signal aborts. In one tick of 100 ms, ten streams with the same options get the same event, which is made and
 * printed once, in slices, for the first stream that asks.
 */
export function watchOf(engine: Engine, clock: Scheduler): Watch {
  const latest = new Map<string, { readonly madeAtMs: number; readonly event: Promise<Buffer> }>()
  const eventOf = (options: HeatOptions): Promise<Buffer> => {
    const name = JSON.stringify(options)
    const now = clock.steadyMs()
    const kept = latest.get(name)
    if (kept !== undefined && now - kept.madeAtMs < tickMs) return kept.event
    const event = made(engine, options)
    if (latest.size >= keptMax) latest.clear()
    latest.set(name, { madeAtMs: now, event })
    return event
  }
  return async function* (intervalMs, options, signal) {
    const context = engine.context({ signal })
    while (!signal.aborted) {
      yield await eventOf(options)
      await clock.sleep(intervalMs, signal)
      await turnOfItsOwn(context)
    }
  }
}

async function made(engine: Engine, options: HeatOptions): Promise<Buffer> {
  const { tablets } = engine
  const context = engine.context()
  const report = await tablets.reportInSlices(context)
  const workOfPart = report.tablets.length
  const heat = tablets.heat(options)
  await giveWay(context, workOfPart)
  const findings = engine.findings()
  await giveWay(context, workOfPart)
  const pieces: Buffer[] = []
  const event = { report, heat, groups: tablets.groups(groupsDefault), findings }
  for await (const piece of eventPieces(context, event)) pieces.push(piece)
  return Buffer.concat(pieces)
}
