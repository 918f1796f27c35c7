/** The sums of running flows, which keep a tick after a quiet minute short. */
import { expect, test } from 'vitest'
import { seededRandom } from '../../random.ts'
import { tabletSettings } from './defaults.ts'
import { TabletFleet } from './fleet.ts'
import { RunningFlows } from './flows.ts'

const startMs = 1_700_000_000_000
const spreadMs = 60_000

test('a tick reads one sum of a tablet, however many flows of databases run there', () => {
  const fleet = new TabletFleet(tabletSettings({}), seededRandom(7), startMs)
  const flows = new RunningFlows()
  const tablet = fleet.tabletOf('Entities', 'E')
  for (let database = 0; database < 1_000; database++) {
    const endsMs = startMs + 200 * (database % 300)
    flows.add({ rowKey: `E${database}`, reads: 1, writes: 2, bytes: 3, costPerSecond: 1, endsMs, tablet })
  }
  expect([...flows.sums.values()]).toEqual([{ flows: 1_000, reads: 1_000, writes: 2_000, bytes: 3_000 }])
  expect(flows.takeEnded(startMs)).toHaveLength(4)
  expect(flows.sums.get(tablet)?.writes).toBe(1_992)
  expect(flows.takeEnded(startMs + spreadMs)).toHaveLength(996)
  expect([flows.size, flows.sums.size]).toEqual([0, 0])
})

test('fractions of ended flows leave nothing below zero, while another flow runs', () => {
  const tablet = new TabletFleet(tabletSettings({}), seededRandom(7), startMs).tabletOf('Entities', 'E')
  const flows = new RunningFlows()
  const each = { rowKey: 'E', bytes: 0, costPerSecond: 1, tablet }
  flows.add({ ...each, reads: 0, writes: 1, endsMs: startMs + 1_000 })
  for (const [i, reads] of [0.2, 0.3, 0.1].entries()) flows.add({ ...each, reads, writes: 0, endsMs: startMs + i })
  for (let atMs = startMs; atMs < startMs + 3; atMs++) flows.takeEnded(atMs)
  expect(flows.sums.get(tablet)).toMatchObject({ flows: 1, writes: 1 })
  expect(flows.sums.get(tablet)?.reads).toBeGreaterThanOrEqual(0)
})
