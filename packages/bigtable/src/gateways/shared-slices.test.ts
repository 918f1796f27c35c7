import { encodeKey, encodeProperties, type Key, openEngine, type RequestContext, type Value } from '@sixtables/engine'
import { keySpaces, VirtualClock } from '@sixtables/engine/testing'
import { expect, test, vi } from 'vitest'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

class TurnClock extends VirtualClock {
  turns = 0

  override defer(task: () => void): void {
    super.defer(() => {
      this.turns++
      task()
    })
  }
}

function keyOf(id: number): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'A', id: BigInt(id) }] }
}

function entityOf(id: number, value: Value): Uint8Array {
  const key = encodeKey(keyOf(id))
  return Buffer.concat([Buffer.from([0x0a, key.length]), key, encodeProperties(new Map([['x', value]]))])
}

test('a commit of many entities makes its records, and sends them, in slices', async () => {
  const clock = new TurnClock()
  const rows = new MemoryRows()
  /** The turns in which entities were read, and in which their groups were written to. */
  const read: number[] = []
  const written: number[] = []
  const seam: RowSeam = async (call, effect) => {
    if (call.kind === 'mutateIf' && call.key.startsWith(keySpaces.Entities)) written.push(clock.turns)
    return effect()
  }
  const engine = await openEngine({
    store: severalGateways({ rows: rows.through(seam), gateway: 1 }),
    scheduler: clock,
  })
  const context: RequestContext = {
    ...engine.context(),
    ledger: {
      charge: (table, operation) => void (table === 'Entities' && operation === 'get' && read.push(clock.turns)),
    },
  }
  const count = 64
  const keys = Array.from({ length: count }, (_, i) => keyOf(i + 1))
  const mutations = keys.map((_, i) => ({
    operation: 'upsert' as const,
    entity: entityOf(i + 1, { type: 'string', value: `${i}`.padEnd(60_000), excludeFromIndexes: true }),
  }))
  const database = engine.database('p')
  await database.commit(context, { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
  const { found } = await database.lookup(engine.context(), { keys })
  expect(found).toHaveLength(count)
  expect(read).toHaveLength(count)
  expect((written[0] ?? 0) - (read.at(-1) ?? 0), 'records are made').toBeGreaterThanOrEqual(4)
  expect((written[count - 1] ?? 0) - (written[0] ?? 0), 'groups are prepared').toBeGreaterThanOrEqual(2)
  await engine.close()
  expect(written).toHaveLength(2 * count)
  expect((written.at(-1) ?? 0) - (written[count] ?? 0), 'groups are finished').toBeGreaterThanOrEqual(2)
})

/** The costs of the writes of the commit of so many groups: bytes of log records, and conditional writes under way at a time. */
async function costOf(mode: 'transactional' | 'nonTransactional', groups: number) {
  const clock = new VirtualClock()
  let [bytes, running, atOnce, rowsOfCall] = [0, 0, 0, 0]
  const rows = new MemoryRows()
  const change = rows.mutateRows.bind(rows)
  vi.spyOn(rows, 'mutateRows').mockImplementation(async (changes) => {
    rowsOfCall = Math.max(rowsOfCall, changes.length)
    await change(changes)
  })
  const write = rows.mutateRowIf.bind(rows)
  vi.spyOn(rows, 'mutateRowIf').mockImplementation(async (key, condition, changes) => {
    if (!key.startsWith(keySpaces.Entities)) return await write(key, condition, changes)
    for (const change of changes) if (change.type === 'set') bytes += change.value.length
    atOnce = Math.max(atOnce, ++running)
    await clock.sleep(1)
    running--
    return await write(key, condition, changes)
  })
  const store = severalGateways({ rows, gateway: 1 })
  const engine = await openEngine({ store, scheduler: clock })
  const mutations = Array.from({ length: groups }, (_, i) => ({
    operation: 'upsert' as const,
    entity: entityOf(i + 1, { type: 'integer', value: 1n }),
  }))
  const options = mode === 'transactional' ? { mode, singleUse: { mode: 'readWrite' } as const } : { mode }
  let isOver = false
  const work = Promise.resolve(engine.database('p').commit(engine.context(), { ...options, mutations }))
  const over = work
    .then(() => engine.close())
    .finally(() => {
      isOver = true
    })
  while (!isOver) await clock.advance(1)
  await over
  return { bytes, atOnce, rowsOfCall }
}

test('the bytes of a commit grow with its groups, and not with their square', async () => {
  const few = await costOf('transactional', 50)
  const many = await costOf('transactional', 500)
  expect(many.bytes / few.bytes).toBeLessThan(11)
})

test.each(['transactional', 'nonTransactional'] as const)(
  'a %s commit of many groups has few conditional writes under way at a time',
  async (mode) => {
    expect((await costOf(mode, 500)).atOnce).toBeLessThanOrEqual(64)
  },
)

test('the rows of a commit are written in parts', async () => {
  expect((await costOf('transactional', 500)).rowsOfCall).toBeLessThanOrEqual(500)
})
