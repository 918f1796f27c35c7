import {
  DatastoreError,
  type Engine,
  encodeKey,
  encodeProperties,
  type Key,
  openEngine,
  type Value,
} from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const ttl = [{ kind: 'Session', property: 'expireAt' }]
let clock: VirtualClock
let engine: Engine

function keyOf(name: string, kind = 'Session'): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind, name }] }
}

async function put(key: Key, expiresInMs: number): Promise<void> {
  const micros = clock.nowMicros() + BigInt(expiresInMs) * 1000n
  const expiry: [string, Value] = ['expireAt', { type: 'timestamp', micros }]
  const bytes = encodeKey(key)
  const entity = Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes, encodeProperties(new Map([expiry]))])
  const mutations = [{ operation: 'upsert' as const, entity }]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function exists(key: Key): Promise<boolean> {
  const { found } = await engine.database('p').lookup(engine.context(), { keys: [key] })
  return found.length > 0
}

describe('at a store that several gateways share, a sweep', () => {
  let overloaded = ''
  let scanned = 0

  beforeEach(async () => {
    overloaded = ''
    clock = new VirtualClock()
    const rows = new MemoryRows().through(async ({ kind, key }, effect) => {
      if (kind === 'mutateIf' && overloaded !== '' && key.includes(overloaded)) {
        throw new DatastoreError('RESOURCE_EXHAUSTED', 'by the wish of this test')
      }
      return effect()
    })
    const scanRows = rows.scanRows.bind(rows)
    rows.scanRows = async (scan) => {
      const found = await scanRows(scan)
      scanned += found.length
      return found
    }
    engine = await openEngine({
      store: severalGateways({ rows, gateway: 1, groupBytesMax: 2_000 }),
      scheduler: clock,
      ttl,
    })
  })

  test('leaves what is in a full entity group, and goes on', async () => {
    const full = async (): Promise<void> => {
      for (let i = 1; i < 100; i++) await put(keyOf('full'), -i)
    }
    await expect(full()).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('deletions are refused too'),
    })
    await put(keyOf('old'), -1)
    expect(await engine.sweepExpired()).toBe(1)
    expect([await exists(keyOf('full')), await exists(keyOf('old'))]).toEqual([true, false])
  })

  test('reads the entities of its kinds, and no others', async () => {
    for (let n = 0; n < 100; n++) await put(keyOf(`other ${n}`, 'Other'), -1)
    await put(keyOf('old'), -1)
    await put(keyOf('new'), 1_000)
    scanned = 0
    expect(await engine.sweepExpired()).toBe(1)
    expect(scanned).toBeLessThan(10)
  })

  test('ends when the store is overloaded', async () => {
    await put(keyOf('old'), -1)
    overloaded = 'old'
    await expect(engine.sweepExpired()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
  })
})
