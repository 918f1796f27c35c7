/** An overview for tests of the picture: one table with a rising right edge, another that is even. */
import type { HeatRow, TabletReport } from '@sixtables/engine'
import type { Overview } from '../../src/cli/commands/top/frame.ts'

const atMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const stepMs = 10_000
const slots = 60

export function sampleOverview(changed: Partial<Overview> = {}): Overview {
  const edge = Array.from({ length: 8 }, (_, i) =>
    heatRow('Entities', i, (slot) => (Math.floor(slot / 8) === i ? 900 : 0)),
  )
  const even = Array.from({ length: 4 }, (_, i) => heatRow('EntitiesByKind', i, () => 40 + i))
  return {
    report: {
      atMs,
      windowMs: 60_000,
      simulated: true,
      counted: true,
      scale: 100,
      tables: [
        {
          table: 'Entities',
          tablets: 2,
          rows: 12_000,
          bytes: 5e6,
          tombstones: 10,
          readsPerSecond: 0,
          writesPerSecond: 950,
        },
        {
          table: 'EntitiesByKind',
          tablets: 1,
          rows: 12_000,
          bytes: 2e6,
          tombstones: 0,
          readsPerSecond: 100,
          writesPerSecond: 60,
        },
      ],
      tablets: [
        tablet(1, { start: '', end: 'demo › ToDo › 7', writesPerSecond: 50, loadShare: 0.05 }),
        tablet(2, {
          start: 'demo › ToDo › 7',
          end: '',
          writesPerSecond: 900,
          loadShare: 0.95,
          splitRefusal: { reason: 'load-at-one-end', share: 0.97, words: '97 % of the load is at the end' },
        }),
      ],
      servers: [{ id: 0, tablets: 2, opsPerSecond: 950, capacity: 1000, queueMs: 12, rejectedPerSecond: 3 }],
      requests: { perSecond: 95, rejectedPerSecond: 3, latencyP50Ms: 0.4, latencyP99Ms: 18 },
    },
    heat: {
      atMs,
      stepMs,
      columns: Array.from({ length: slots }, (_, i) => atMs - (slots - i) * stepMs),
      rows: [...edge, ...even],
      events: [
        {
          sequence: 1,
          atMs: atMs - 300_000,
          kind: 'split',
          table: 'Entities',
          tablet: 1,
          at: 'demo › ToDo › 7',
          atHex: '4507',
          startHex: '',
          endHex: '',
          other: 2,
          fromServer: undefined,
          toServer: undefined,
          reason: 'load',
          words: 'split at demo › ToDo › 7',
        },
      ],
    },
    groups: [
      { group: 'Counter:"visits"', logHex: '4c01', commitsPerSecond: 4, conflictsPerSecond: 9, waitsPerSecond: 2 },
    ],
    findings: [
      {
        kind: 'sequential-keys',
        subject: 'ToDo',
        words: 'New entities of ToDo come in the order of their keys: all writes meet the tablet at the end.',
        evidence: ['250 of the last 256 new keys (98 %) lie right beside one of the 8 before'],
        share: 0.98,
        remedy: 'Let Datastore allocate the ids.',
        lab: 'sequential-keys',
        firstSeenMs: atMs - 60_000,
        lastSeenMs: atMs,
      },
    ],
    ...changed,
  }
}

function heatRow(table: HeatRow['table'], i: number, writes: (slot: number) => number): HeatRow {
  const zeros = new Array<number>(slots).fill(0)
  const label = `${table} › demo › ToDo › ${i}…`
  return {
    table,
    start: `${i}`,
    end: `${i + 1}`,
    label,
    reads: zeros,
    writes: Array.from({ length: slots }, (_, slot) => writes(slot)),
    bytes: zeros,
  }
}

function tablet(id: number, changed: Partial<TabletReport>): TabletReport {
  return {
    table: 'Entities',
    id,
    start: '',
    end: '',
    startHex: '',
    endHex: '',
    rows: 6000,
    bytes: 2_500_000,
    tombstones: 0,
    readsPerSecond: 0,
    writesPerSecond: 0,
    bytesPerSecond: 0,
    loadShare: 0,
    server: 0,
    unavailableUntilMs: undefined,
    splitRefusal: undefined,
    wading: undefined,
    ...changed,
  }
}
