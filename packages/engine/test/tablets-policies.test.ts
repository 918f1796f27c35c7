/** Split, merge, placement and capacity together, driven by flows on virtual time, without an engine around them. */
import { describe, expect, test } from 'vitest'
import { tabletSettings } from '../src/observe/tablets/defaults.ts'
import { TabletFleet } from '../src/observe/tablets/fleet.ts'
import { seededRandom } from '../src/random.ts'
import { drive, rising, scattered, startMs } from './tablets-world.ts'

describe('500 operations a second, and half as many more every five minutes', () => {
  test('reach 740,000 a second after 90 minutes, and nothing is refused on the way', () => {
    const ramp = drive({ seconds: 5_600, rate: (second) => 500 * 1.5 ** Math.floor(second / 300), key: scattered })
    expect(ramp.served).toBeGreaterThan(730_000)
    expect(ramp.counts.refused).toBe(0)
    // Moves are short and rare.
    expect(ramp.counts.unavailable / ramp.counts.asked).toBeLessThan(0.003)
    expect(ramp.busiestOverMean).toBeLessThan(2)
    expect(ramp.tablets).toBeGreaterThan(100)
  })

  const full = 740_000
  const perMinute = full * 60

  test('all of it at once is refused, and after a quarter of an hour still', () => {
    const jump = drive({ seconds: 900, rate: () => full, key: scattered })
    expect((jump.refusedByMinute[0] ?? 0) / perMinute).toBeGreaterThan(0.9)
    expect((jump.refusedByMinute[14] ?? 0) / perMinute).toBeGreaterThan(0.9)
    const resting = jump.of('split-refused').find(({ words }) => words.includes('it was split'))
    expect(resting?.words).toMatch(/it was split \S+ minutes ago, and its files are rewritten first, which takes 8/)
  })

  test.each([
    [2, 56],
    [3, 35],
  ])('when it grows %i-fold every five minutes, much is refused once it is reached', (growth, minutes) => {
    const rate = (second: number): number => Math.min(full, 500 * growth ** Math.floor(second / 300))
    const { refusedByMinute } = drive({ seconds: (minutes + 4) * 60, rate, key: scattered })
    for (let minute = minutes; minute < minutes + 4; minute++) {
      expect((refusedByMinute[minute] ?? 0) / perMinute).toBeGreaterThan(0.12)
    }
  })

  test('it is the rest between two splits that decides: with none, a doubling is served', () => {
    const rate = (second: number): number => Math.min(full, 500 * 2 ** Math.floor(second / 300))
    const { counts } = drive({ seconds: 3_600, rate, key: scattered, settings: { splitRestMs: 0 } })
    expect(counts.refused).toBe(0)
  })

  test('in its rest a tablet is not split by load', () => {
    const { of } = drive({ seconds: 1_200, rate: () => 30_000, key: scattered })
    const minutes = of('split').map(({ atMs }) => Math.floor((atMs - startMs) / 60_000))
    expect(new Set(minutes)).toEqual(new Set([1, 9, 17]))
  })
})

describe('beyond what one tablet should take', () => {
  test('rising keys stay on one tablet however often it would be split, and the refusal says why', () => {
    const { busiestShare, of, fleet } = drive({ seconds: 1_200, rate: () => 6_000, key: rising })
    expect(busiestShare).toBeGreaterThan(0.9)
    const [refused] = of('split-refused')
    expect(refused?.words).toContain('the load moves on along the keys')
    const tablets = fleet.map.tabletsOf('Entities')
    const hot = tablets.find(({ splitRefusal }) => splitRefusal !== undefined)
    expect(hot?.splitRefusal?.reason).toBe('load-at-one-end')
    expect(hot?.splitRefusal?.share).toBeGreaterThanOrEqual(0.9)
  })

  test('a lower threshold does not help rising keys: they are not split by load at all', () => {
    const { busiestShare, of } = drive({
      seconds: 1_200,
      rate: () => 6_000,
      key: rising,
      settings: { splitOpsPerSecond: 3_000 },
    })
    expect(of('split').filter(({ reason }) => reason === 'load')).toEqual([])
    expect(busiestShare).toBeGreaterThan(0.9)
  })

  test('scattered keys are split and spread: no tablet has twice the mean', () => {
    const { busiestOverMean, tablets } = drive({ seconds: 1_200, rate: () => 30_000, key: scattered })
    expect(tablets).toBeGreaterThanOrEqual(8)
    expect(busiestOverMean).toBeLessThan(2)
  })

  test('one hot row is refused with its share, and saturates its server', () => {
    const key = (n: number): string => (n % 10 === 0 ? scattered(n) : 'E500000000')
    const { of, counts, fleet } = drive({ seconds: 600, rate: () => 20_000, key })
    const [refused] = of('split-refused')
    expect(refused?.words).toMatch(/(8|9)\d % of its load is for one row/)
    expect(counts.refused).toBeGreaterThan(0.3 * counts.asked)
    expect(fleet.map.tabletsOf('Entities').some(({ splitRefusal }) => splitRefusal?.reason === 'single-hot-row')).toBe(
      true,
    )
  })

  test('a load that only moved from one range to another is split there in the end', () => {
    const key = (n: number): string => (n < 2_000 ? `Ea${scattered(n)}` : `Eb${scattered(n)}`)
    const { of } = drive({ seconds: 1_800, rate: () => 6_000, key })
    expect(of('split').some(({ at }) => at?.includes('62 45'))).toBe(true)
  })
})

test('what has gone cold is merged again, and stays so', () => {
  const rate = (second: number): number => (second < 600 ? 30_000 : 1)
  const { of, tablets } = drive({ seconds: 3_600, rate, key: scattered })
  expect(of('split').length).toBeGreaterThanOrEqual(3)
  expect(tablets).toBe(1)
  expect(of('merge').length).toBe(of('split').length)
})

test('a tablet that has grown too big is split at its middle row', () => {
  const settings = { splitBytes: 1_000_000, mergeBytes: 1_000 }
  const fleet = new TabletFleet(tabletSettings(settings), seededRandom(7), startMs)
  const random = seededRandom(3)
  const tablet = fleet.tabletOf('Entities', 'E')
  for (let n = 0; n < 2_000; n++) {
    tablet.rows += 1
    tablet.bytes += 600
    tablet.noteRow(rising(n), random)
  }
  fleet.advance(startMs + 10_000)
  const halves = fleet.map.tabletsOf('Entities').map(({ rows }) => rows)
  expect(halves).toHaveLength(2)
  expect(Math.min(...halves)).toBeGreaterThan(600)
  expect(fleet.events[0]).toMatchObject({ kind: 'split', reason: 'size' })
  for (const tablet of fleet.map.all()) tablet.bytes = 1e9
  fleet.advance(startMs + 480_000)
  expect([...fleet.map.all()]).toHaveLength(2)
  fleet.advance(startMs + 500_000)
  expect([...fleet.map.all()]).toHaveLength(4)
})

test('equal operations give equal events', () => {
  const run = () => drive({ seconds: 900, rate: () => 30_000, key: scattered }).events
  expect(run()).toEqual(run())
})

test('a clock that is set back ends what flows, and decisions go on from there', () => {
  const fleet = new TabletFleet(tabletSettings({ simulate: true }), seededRandom(7), startMs)
  const charge = { rowKey: 'E1', reads: 0, writes: 1, bytes: 1, cost: 1, weight: 5_000, spreadMs: 10_000 }
  fleet.charge(startMs, fleet.tabletOf('Entities', 'E1'), charge)
  const earlierMs = startMs - 86_400_000
  fleet.advance(earlierMs)
  expect(fleet.serverOf(fleet.tabletOf('Entities', 'E1')).flow).toBe(0)
  for (let n = 0; n < 700; n++) {
    const nowMs = earlierMs + n * 100
    fleet.advance(nowMs)
    fleet.charge(nowMs, fleet.tabletOf('Entities', 'E1'), { ...charge, rowKey: scattered(n), weight: 600, spreadMs: 0 })
  }
  expect(fleet.map.tabletsOf('Entities').length).toBeGreaterThan(1)
})
