/** A load of weighted operations on tablets alone, on virtual time: for tests of the policies and for the page about them. */

import { type TabletSettings, tabletSettings } from '../src/observe/tablets/defaults.ts'
import { TabletFleet } from '../src/observe/tablets/fleet.ts'
import type { TabletEvent } from '../src/observe/tablets/report.ts'
import { seededRandom } from '../src/random.ts'
import type { TableId } from '../src/tables/table.ts'

export const startMs = 1_700_000_000_000
const slotMs = 5_000

export interface Drive {
  readonly seconds: number
  /** Operations a second on each table at a second. */
  rate(second: number): number
  readonly tables?: readonly TableId[]
  /** The n-th key. */
  key(n: number): string
  readonly settings?: Partial<TabletSettings>
}

/** Keys spread evenly, each next one far from the last. */
export const scattered = (n: number): string => `E${Math.floor(((n * 0.6180339887498949) % 1) * 1e9)}`.padEnd(10, '0')
export const rising = (n: number): string => `E${String(n).padStart(9, '0')}`

/** Writes at a rate, with enough samples for every tablet; the weights make up for the rest. */
export function drive({ seconds, rate, tables = ['Entities'], key, settings = {} }: Drive) {
  const fleet = new TabletFleet(tabletSettings({ simulate: true, ...settings }), seededRandom(7), startMs)
  let n = 0
  const counts = { asked: 0, refused: 0, unavailable: 0 }
  const refusedByMinute: number[] = []
  for (let ms = 0; ms < seconds * 1000; ms += slotMs) {
    const most = Math.max(1, ...tables.map((table) => fleet.map.tabletsOf(table).length))
    const samples = Math.max(16, Math.ceil((most * 100 * slotMs) / 60_000))
    for (let i = 0; i < samples; i++) {
      const nowMs = startMs + ms + Math.floor((i * slotMs) / samples)
      fleet.advance(nowMs)
      const weight = (rate(ms / 1000) * slotMs) / 1000 / samples
      const rowKey = key(n++)
      for (const table of tables) {
        counts.asked += weight
        const tablet = fleet.tabletOf(table, rowKey)
        const minute = Math.floor(ms / 60_000)
        if (tablet.unavailableUntilMs > nowMs) counts.unavailable += weight
        else if (!fleet.serverOf(tablet).hasRoom(nowMs)) {
          counts.refused += weight
          refusedByMinute[minute] = (refusedByMinute[minute] ?? 0) + weight
          fleet.noteRefused(nowMs, tablet, rowKey, weight, 1)
        } else {
          fleet.charge(nowMs, tablet, { rowKey, reads: 0, writes: 1, bytes: 500, cost: 1, weight, spreadMs: slotMs })
        }
      }
    }
  }
  const endMs = startMs + seconds * 1000
  fleet.advance(endMs)
  const loads = fleet.map.tabletsOf('Entities').map((tablet) => {
    const { reads, writes } = tablet.load(endMs, 10_000)
    return reads + writes
  })
  const sum = loads.reduce((total, load) => total + load, 0)
  const events = fleet.events
  return {
    fleet,
    events,
    counts,
    refusedByMinute,
    tablets: loads.length,
    served: sum,
    busiestShare: Math.max(...loads) / sum,
    busiestOverMean: Math.max(...loads) / (sum / loads.length),
    of: (kind: TabletEvent['kind']) => events.filter((event) => event.kind === kind),
  }
}
