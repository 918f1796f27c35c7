/** Reports of the present fleet (report.ts): of its tablets, in steps, and of load per key range over time. */
import { getOrInsert } from '../../get-or-insert.ts'
import type { TabletFleet } from './fleet.ts'
import { heatTiers } from './heat-range.ts'
import { rangeLabel, rowKeyHex, rowKeyWords } from './range-words.ts'
import type {
  HeatOptions,
  HeatReport,
  HeatRow,
  ServerReport,
  TableLoadReport,
  TabletPlace,
  TabletReport,
  TabletsReport,
} from './report.ts'
import type { Load, Tablet } from './tablet.ts'

/** The words of a tablet take as long as reading this many rows. */
const workOfTablet = 32
const spanDefaultMs = 600_000
const rowsDefault = 32

export function* tabletsReport(
  fleet: TabletFleet,
  nowMs: number,
  { counted, requests }: Pick<TabletsReport, 'counted' | 'requests'>,
): Generator<number, TabletsReport> {
  const { settings } = fleet
  const { reportWindowMs, simulate } = settings
  const tables: TableLoadReport[] = []
  const tablets: TabletReport[] = []
  const serverOps = new Map<number, { tablets: number; opsPerSecond: number }>()
  for (const table of fleet.map.tables()) {
    const loads: Loaded[] = fleet.map
      .tabletsOf(table)
      .map((tablet) => ({ tablet, load: tablet.load(nowMs, reportWindowMs) }))
    const sum = loads.reduce((total, { load }) => total + load.reads + load.writes, 0)
    for (const { tablet, load } of loads) {
      tablets.push(tabletReport({ tablet, load }, sum, nowMs))
      const server = getOrInsert(serverOps, tablet.server, () => ({ tablets: 0, opsPerSecond: 0 }))
      server.tablets++
      server.opsPerSecond += load.reads + load.writes
      yield workOfTablet
    }
    tables.push({ table, tablets: loads.length, ...sizeAndLoad(loads) })
  }
  const servers: ServerReport[] = []
  for (const server of fleet.servers) {
    const here = serverOps.get(server.id)
    const rejectedPerSecond = server.refusedPerSecond(nowMs, reportWindowMs)
    if (here === undefined && rejectedPerSecond === 0) continue
    servers.push({
      id: server.id,
      ...(here ?? { tablets: 0, opsPerSecond: 0 }),
      capacity: simulate ? server.capacity : undefined,
      queueMs: simulate ? server.queueMs(nowMs) : 0,
      rejectedPerSecond,
    })
  }
  return {
    atMs: nowMs,
    windowMs: reportWindowMs,
    simulated: simulate,
    counted,
    scale: settings.scale,
    tables,
    tablets,
    servers,
    requests,
  }
}

/** The table and the bounds of a tablet, in words and in hexadecimal. */
export function placeOf({ table, start, end }: Tablet): TabletPlace {
  return {
    table,
    start: rowKeyWords(table, start),
    end: rowKeyWords(table, end),
    startHex: rowKeyHex(start),
    endHex: rowKeyHex(end),
  }
}

interface Loaded {
  readonly tablet: Tablet
  readonly load: Load
}

function tabletReport({ tablet, load }: Loaded, tableOps: number, nowMs: number): TabletReport {
  const { id, server, unavailableUntilMs, splitRefusal, wading } = tablet
  return {
    ...placeOf(tablet),
    id,
    ...sizeAndLoad([{ tablet, load }]),
    bytesPerSecond: load.bytes,
    loadShare: tableOps === 0 ? 0 : (load.reads + load.writes) / tableOps,
    server,
    unavailableUntilMs: unavailableUntilMs > nowMs ? unavailableUntilMs : undefined,
    splitRefusal,
    wading,
  }
}

function sizeAndLoad(loads: readonly Loaded[]): Omit<TableLoadReport, 'table' | 'tablets'> {
  let [rows, bytes, tombstones, reads, writes] = [0, 0, 0, 0, 0]
  for (const { tablet, load } of loads) {
    rows += tablet.rows
    bytes += tablet.bytes
    tombstones += tablet.tombstones.count
    reads += load.reads
    writes += load.writes
  }
  return {
    rows: Math.max(0, Math.round(rows)),
    bytes: Math.max(0, Math.round(bytes)),
    tombstones: Math.round(tombstones),
    readsPerSecond: reads,
    writesPerSecond: writes,
  }
}

/** The grid of load, from the finest tier that reaches far enough back. */
export function heatReport(fleet: TabletFleet, nowMs: number, options: HeatOptions): HeatReport {
  const { table, spanMs = spanDefaultMs, rowsMax = rowsDefault } = options
  const reaching = heatTiers.findIndex(({ stepMs, columns }) => stepMs * columns >= spanMs)
  const tier = reaching < 0 ? heatTiers.length - 1 : reaching
  const { stepMs, columns: most } = heatTiers[tier] as (typeof heatTiers)[number]
  const columns = Math.min(most, Math.max(1, Math.ceil(spanMs / stepMs)))
  const lastStep = Math.floor(nowMs / stepMs)
  const firstStep = lastStep - columns + 1
  // The running column is only partly over.
  const lastSeconds = Math.max(1, (nowMs - lastStep * stepMs) / 1000)
  const perSecond = (values: readonly number[]): number[] =>
    values.map((value, i) => value / (i === values.length - 1 ? lastSeconds : stepMs / 1000))
  const rows: HeatRow[] = []
  for (const one of table === undefined ? fleet.heat.tables() : [table]) {
    for (const { start, end, measures } of fleet.heat.cells(one, tier, firstStep, columns, rowsMax)) {
      const [reads = [], writes = [], bytes = []] = measures.map(perSecond)
      rows.push({
        table: one,
        start: rowKeyWords(one, start),
        end: rowKeyWords(one, end),
        label: rangeLabel(one, start, end),
        reads,
        writes,
        bytes,
      })
    }
  }
  const beginMs = firstStep * stepMs
  return {
    atMs: nowMs,
    stepMs,
    columns: Array.from({ length: columns }, (_, i) => beginMs + i * stepMs),
    rows,
    events: fleet.events.filter((event) => event.atMs >= beginMs && (table === undefined || event.table === table)),
  }
}
