import { describe, expect, it, vi } from 'vitest'
import { keyCodesOfPath, partitionCode, pathCode, splitKeyCode } from '../encoding/key-codec.ts'
import { sliceWorkMax } from '../slices.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { groupOf, logRowKey, versionOfLogRow } from '../tables/log-rows.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { encodeLogRecord } from './log-record.ts'
import { Retention } from './retention.ts'

const limits = { ageMicros: 3_600_000_000n, bytesMax: 1 << 20 }

function retentionOf(versions: readonly bigint[]): Retention {
  const retention = new Retention(limits, new VirtualClock())
  for (const version of versions) add(retention, version)
  return retention
}

const group = groupOf(
  partitionCode({ projectId: 'p', databaseId: '', namespaceId: '' }),
  pathCode([{ kind: 'A', id: 1n }]),
)

function add(retention: Retention, version: bigint): void {
  const { partition, path } = splitKeyCode(group)
  const changes = [{ codes: keyCodesOfPath(partition, path) }]
  retention.add({ logRow: logRowKey(group, version), logBytes: 100, changes }, version)
}

function newerThan(retention: Retention, version: bigint): readonly bigint[] {
  const newer = retention.newerThan(version)
  const versions = newer.ofGroup(group).map((place) => versionOfLogRow(newer.rowAt(place)))
  return versions.filter((one) => one > version).sort((a, b) => Number(b - a))
}

describe('Retention', () => {
  it('lets moments of the age of its limits be read, and no older ones, also before any record goes', async () => {
    const clock = new VirtualClock(10_000_000_000n)
    const retention = new Retention(limits, clock)
    add(retention, 10_000_000_000n)
    expect(retention.oldestReadable).toBe(6_400_000_000n)
    await clock.advance(1000)
    expect(retention.oldestReadable).toBe(6_401_000_000n)
  })

  it('gives the records after a moment, newest first', () => {
    expect(newerThan(retentionOf([1n, 2n, 2n, 5n]), 1n)).toEqual([5n, 2n, 2n])
  })

  it('retention/T1: finds them also where a group that was held back entered late', () => {
    expect(newerThan(retentionOf([1n, 4n, 6n, 2n, 5n]), 3n)).toEqual([6n, 5n, 4n])
    expect(newerThan(retentionOf([4n, 2n]), 3n)).toEqual([4n])
  })

  it('retention/T1: a snapshot brings the order back as it was', () => {
    const retention = retentionOf([4n, 2n])
    const kept = retention.kept()
    retention.clear()
    add(retention, 7n)
    expect(newerThan(retention, 3n)).toEqual([7n])
    retention.restore(kept)
    expect(newerThan(retention, 3n)).toEqual([4n])
  })

  it('retention/T1: a record that enters late is told from those that a snapshot brought back', () => {
    const retention = retentionOf([1n, 4n])
    const kept = retention.kept()
    retention.clear()
    add(retention, 1n)
    retention.restore(kept)
    add(retention, 2n)
    expect(newerThan(retention, 3n)).toEqual([4n])
  })

  it('retention/T1: a record that enters late is told from those of an earlier run', async () => {
    const value = encodeLogRecord({ transaction: new Uint8Array(0), groups: [] }, [])
    const retention = retentionOf([])
    await retention.adopt(new MemoryKv([{ key: logRowKey(group, 9n), value }]), new Set(), () => false)
    add(retention, 5n)
    expect(newerThan(retention, 7n)).toEqual([9n])
  })

  it('takes over the records of an earlier run in slices, of whatever length', async () => {
    const value = encodeLogRecord({ transaction: new Uint8Array(0), groups: [] }, [])
    const count = 20_000
    const rows = Array.from({ length: count }, (_, i) => ({ key: logRowKey(group, BigInt(i + 1)), value }))
    const sorted = vi.spyOn(Array.prototype, 'sort')
    const clock = new VirtualClock()
    const turns = vi.spyOn(clock, 'defer')
    const retention = new Retention(limits, clock)
    await retention.adopt(new MemoryKv(rows), new Set(), () => false)
    const longest = Math.max(...(sorted.mock.contexts as unknown[][]).map(({ length }) => length))
    sorted.mockRestore()
    expect(longest).toBeLessThan(1000)
    expect(turns.mock.calls.length).toBeGreaterThan((3 * count) / sliceWorkMax)
    expect(newerThan(retention, 0n)).toHaveLength(count)
  })

  it.each([0, 1, 2, 3])('takes over nothing of an earlier run after a reset at turn %i of the search', async (turn) => {
    const value = encodeLogRecord({ transaction: new Uint8Array(0), groups: [] }, [])
    const rows = Array.from({ length: 5000 }, (_, i) => ({ key: logRowKey(group, BigInt(i + 1)), value }))
    const clock = new VirtualClock()
    const defer = clock.defer.bind(clock)
    let turns = 0
    let isReset = false
    const retention = new Retention(limits, clock)
    vi.spyOn(clock, 'defer').mockImplementation((task) => {
      if (turns++ === turn) {
        retention.clear()
        isReset = true
      }
      defer(task)
    })
    await retention.adopt(new MemoryKv(rows), new Set(), () => false)
    expect(isReset).toBe(true)
    expect(newerThan(retention, 0n)).toEqual([])
    expect(retention.bytes).toBe(0)
  })

  it('retention/T1: finds what an earlier run applied before a record that waited over the restart', async () => {
    const value = encodeLogRecord({ transaction: new Uint8Array(0), groups: [] }, [])
    const rows = [1n, 3n, 9n].map((version) => ({ key: logRowKey(group, version), value }))
    const retention = retentionOf([5n])
    await retention.adopt(new MemoryKv(rows), new Set(), () => false)
    add(retention, 12n)
    expect(newerThan(retention, 4n)).toEqual([12n, 9n, 5n])
  })
})
