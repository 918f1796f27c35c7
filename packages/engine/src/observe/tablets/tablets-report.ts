/** The report of the tablets (report.ts) from the present fleet, in steps. */
import { getOrInsert } from '../../get-or-insert.ts'
import type { TableId } from '../../tables/table.ts'
import type { TabletFleet } from './fleet.ts'
import { rowKeyHex, rowKeyWords } from './range-words.ts'
import type { ServerReport, TableLoadReport, TabletPlace, TabletReport, TabletsReport } from './report.ts'
import type { LatencyHistogram } from './second-ring.ts'
import type { Load, Tablet } from './tablet.ts'

/** The words of a tablet take as long as reading this many rows. */
const workOfTablet = 32

export function* tabletsReport(
  fleet: TabletFleet,
  latencies: LatencyHistogram,
  { nowMs, openedMs, counted }: { readonly nowMs: number; readonly openedMs: number; readonly counted: boolean },
): Generator<number, TabletsReport> {
  const { settings } = fleet
  const { reportWindowMs, simulate } = settings
  const tables: TableLoadReport[] = []
  const tablets: TabletReport[] = []
  const serverOps = new Map<number, { tablets: number; opsPerSecond: number }>()
  for (const table of fleet.map.tables()) {
    const loads = fleet.map.tabletsOf(table).map((tablet) => ({ tablet, load: tablet.load(nowMs, reportWindowMs) }))
    const sum = loads.reduce((total, { load }) => total + load.reads + load.writes, 0)
    for (const { tablet, load } of loads) {
      tablets.push(tabletReport(tablet, load, sum, nowMs))
      const server = getOrInsert(serverOps, tablet.server, () => ({ tablets: 0, opsPerSecond: 0 }))
      server.tablets++
      server.opsPerSecond += load.reads + load.writes
      yield workOfTablet
    }
    tables.push(tableReport(table, loads))
  }
  const servers: ServerReport[] = []
  for (const server of fleet.servers) {
    const here = serverOps.get(server.id)
    const rejectedPerSecond = server.refusedPerSecond(nowMs, reportWindowMs)
    if (here === undefined && rejectedPerSecond === 0) continue
    servers.push({
      id: server.id,
      tablets: here?.tablets ?? 0,
      opsPerSecond: here?.opsPerSecond ?? 0,
      capacity: simulate ? server.capacity : undefined,
      queueMs: simulate ? server.queueMs(nowMs) : 0,
      rejectedPerSecond,
    })
  }
  const { perSecond, refusedPerSecond, p50, p99 } = latencies.report(nowMs, reportWindowMs, openedMs)
  return {
    atMs: nowMs,
    windowMs: reportWindowMs,
    simulated: simulate,
    counted,
    scale: settings.scale,
    tables,
    tablets,
    servers,
    requests: { perSecond, rejectedPerSecond: refusedPerSecond, latencyP50Ms: p50, latencyP99Ms: p99 },
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

function tabletReport(tablet: Tablet, load: Load, tableOps: number, nowMs: number): TabletReport {
  const { id, server, rows, bytes, tombstones, unavailableUntilMs, splitRefusal, wading } = tablet
  const { reads, writes } = load
  return {
    ...placeOf(tablet),
    id,
    rows: Math.max(0, Math.round(rows)),
    bytes: Math.max(0, Math.round(bytes)),
    tombstones: Math.round(tombstones.count),
    readsPerSecond: reads,
    writesPerSecond: writes,
    bytesPerSecond: load.bytes,
    loadShare: tableOps === 0 ? 0 : (reads + writes) / tableOps,
    server,
    unavailableUntilMs: unavailableUntilMs > nowMs ? unavailableUntilMs : undefined,
    splitRefusal,
    wading,
  }
}

function tableReport(
  table: TableId,
  loads: readonly { readonly tablet: Tablet; readonly load: Load }[],
): TableLoadReport {
  let [rows, bytes, tombstones, reads, writes] = [0, 0, 0, 0, 0]
  for (const { tablet, load } of loads) {
    rows += tablet.rows
    bytes += tablet.bytes
    tombstones += tablet.tombstones.count
    reads += load.reads
    writes += load.writes
  }
  return {
    table,
    tablets: loads.length,
    rows: Math.max(0, Math.round(rows)),
    bytes: Math.max(0, Math.round(bytes)),
    tombstones: Math.round(tombstones),
    readsPerSecond: reads,
    writesPerSecond: writes,
  }
}
