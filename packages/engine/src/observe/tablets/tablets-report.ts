/** The report of the tablets (report.ts) from the present fleet, in steps. */
import { getOrInsert } from '../../get-or-insert.ts'
import type { TabletFleet } from './fleet.ts'
import { rowKeyHex, rowKeyWords } from './range-words.ts'
import type { ServerReport, TableLoadReport, TabletPlace, TabletReport, TabletsReport } from './report.ts'
import type { Load, Tablet } from './tablet.ts'

/** The words of a tablet take as long as reading this many rows. */
const workOfTablet = 32

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
