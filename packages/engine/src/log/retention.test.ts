import { describe, expect, it } from 'vitest'
import { MemoryKv } from '../storage/memory-kv.ts'
import { logRowKey, versionOfLogRow } from '../tables/log-rows.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { Retention } from './retention.ts'

const limits = { ageMicros: 3_600_000_000n, bytesMax: 1 << 20 }

function retentionOf(versions: readonly bigint[]): Retention {
  const retention = new Retention(limits, new VirtualClock())
  for (const version of versions) retention.add(logRowKey('group', version), 100, version)
  return retention
}

function newerThan(retention: Retention, version: bigint): readonly bigint[] {
  return retention.newerThan(version).map(versionOfLogRow)
}

describe('Retention', () => {
  it('lets moments of the age of its limits be read, and no older ones, also before any record goes', async () => {
    const clock = new VirtualClock(10_000_000_000n)
    const retention = new Retention(limits, clock)
    retention.add(logRowKey('group', 10_000_000_000n), 100, 10_000_000_000n)
    expect(retention.oldestReadable).toBe(6_400_000_000n)
    await clock.advance(1000)
    expect(retention.oldestReadable).toBe(6_401_000_000n)
  })

  it('gives the records after a moment, newest first', () => {
    expect(newerThan(retentionOf([1n, 2n, 2n, 5n]), 1n)).toEqual([5n, 2n, 2n])
  })

  it('retention/T3: finds them also where a group that was held back entered late', () => {
    expect(newerThan(retentionOf([1n, 4n, 6n, 2n, 5n]), 3n)).toEqual([6n, 5n, 4n])
    expect(newerThan(retentionOf([4n, 2n]), 3n)).toEqual([4n])
  })

  it('retention/T3: a snapshot brings the order back as it was', () => {
    const retention = retentionOf([4n, 2n])
    const kept = retention.kept()
    retention.clear()
    retention.add(logRowKey('group', 7n), 100, 7n)
    expect(newerThan(retention, 3n)).toEqual([7n])
    retention.restore(kept)
    expect(newerThan(retention, 3n)).toEqual([4n])
  })

  it('retention/T3: a record that enters late is told from those that a snapshot brought back', () => {
    const retention = retentionOf([1n, 4n])
    const kept = retention.kept()
    retention.clear()
    retention.add(logRowKey('group', 1n), 100, 1n)
    retention.restore(kept)
    retention.add(logRowKey('group', 2n), 100, 2n)
    expect(newerThan(retention, 3n)).toEqual([4n])
  })

  it('retention/T3: a record that enters late is told from those of an earlier run', async () => {
    const value = new Uint8Array(10)
    const retention = retentionOf([])
    await retention.adopt(new MemoryKv([{ key: logRowKey('group', 9n), value }]), new Set(), () => false)
    retention.add(logRowKey('group', 5n), 100, 5n)
    expect(newerThan(retention, 7n)).toEqual([9n])
  })

  it('retention/T3: finds what an earlier run applied before a record that waited over the restart', async () => {
    const value = new Uint8Array(10)
    const rows = [1n, 3n, 9n].map((version) => ({ key: logRowKey('group', version), value }))
    const retention = retentionOf([5n])
    await retention.adopt(new MemoryKv(rows), new Set(), () => false)
    retention.add(logRowKey('group', 12n), 100, 12n)
    expect(newerThan(retention, 4n)).toEqual([12n, 9n, 5n])
  })
})
