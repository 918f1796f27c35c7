import { beforeEach, describe, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import type { Key } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { type Engine, openEngine } from './engine.ts'
import { sweepIntervalMs } from './ttl.ts'

let clock: CountingClock
let engine: Engine

function keyOf(name: string, kind = 'Session', namespaceId = ''): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId }, path: [{ kind, name }] }
}

/** Turns that were given to others. */
class CountingClock extends VirtualClock {
  turns = 0
  onTurn = (): void => {}

  override defer(task: () => void): void {
    this.turns++
    this.onTurn()
    super.defer(task)
  }
}

/** Sessions that have expired. */
async function putExpired(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await put(keyOf(`old ${n}`), -1)
}

async function put(key: Key, expiresInMs: number | undefined, excludeFromIndexes = false): Promise<void> {
  const micros = clock.nowMicros() + BigInt(expiresInMs ?? 0) * 1000n
  const expiry: [string, Value][] =
    expiresInMs === undefined ? [] : [['expireAt', { type: 'timestamp', micros, excludeFromIndexes }]]
  const bytes = encodeKey(key)
  const entity = Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes, encodeProperties(new Map(expiry))])
  const mutations = [{ operation: 'upsert' as const, entity }]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
}

async function exists(key: Key): Promise<boolean> {
  const { found } = await engine.database('p').lookup(engine.context(), { keys: [key] })
  return found.length > 0
}

const ttl = [{ kind: 'Session', property: 'expireAt' }]

describe('an entity with a time to live', () => {
  beforeEach(async () => {
    clock = new CountingClock()
    engine = await openEngine({ scheduler: clock, ttl })
  })

  test('goes also if its database was reset while a sweep was under way', async () => {
    await putExpired(600)
    const sweep = engine.sweepExpired()
    await engine.reset()
    await putExpired(600)
    await sweep
    await engine.sweepExpired()
    expect(await exists(keyOf('old 599'))).toBe(false)
  })

  test('goes some time after its expiry, with all its rows, and not before', async () => {
    await put(keyOf('soon'), 90_000)
    await put(keyOf('soon', 'Session', 'n1'), 90_000, true)
    await clock.advance(sweepIntervalMs)
    expect(await exists(keyOf('soon'))).toBe(true)
    await clock.advance(sweepIntervalMs)
    expect(await exists(keyOf('soon'))).toBe(false)
    expect(await exists(keyOf('soon', 'Session', 'n1'))).toBe(false)
    expect(await engine.check()).toMatchObject({ entities: 0, indexRows: 0, problemCount: 0 })
  })

  test('stays without the property, with another type of value, and in another kind', async () => {
    await put(keyOf('none'), undefined)
    await put(keyOf('old', 'Other'), -1)
    await clock.advance(2 * sweepIntervalMs)
    expect(await exists(keyOf('none'))).toBe(true)
    expect(await exists(keyOf('old', 'Other'))).toBe(true)
  })

  test('is deleted in slices, with the calls of others in between', async () => {
    await putExpired(600)
    clock.turns = 0
    expect(await engine.sweepExpired()).toBe(600)
    // A slice ends after 4,096 rows where time stands still, and a delete counts for 32.
    expect(clock.turns).toBeGreaterThanOrEqual(4)
  })

  test('stays when the engine closes during the sweep', async () => {
    await putExpired(600)
    let closing: Promise<void> | undefined
    clock.onTurn = () => {
      closing ??= engine.close()
    }
    await expect(engine.sweepExpired()).rejects.toMatchObject({ code: 'CANCELLED' })
    await closing
  })

  test('is left for the next sweep while a transaction keeps it locked', async () => {
    await put(keyOf('locked'), -1)
    const database = engine.database('p')
    const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
    await database.lookup(engine.context(), { keys: [keyOf('locked')], read: { transaction } })
    const sweeping = engine.sweepExpired()
    for (let second = 0; second < 4; second++) await clock.advance(1000)
    expect(await sweeping).toBe(0)
    await database.rollback(engine.context(), transaction)
    expect(await engine.sweepExpired()).toBe(1)
  })
})
