import { expect, test } from 'vitest'
import { mutationOf } from '../../test/property/log-world.ts'
import type { Scheduler } from '../clock.ts'
import { type Engine, openEngine } from '../service/engine.ts'
import { MemoryRows } from '../storage/memory-rows.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = { partition, path: [{ kind: 'G', name: 'a' }] }

test('clock-row/C3: a gateway whose clock is far ahead of a register that moves refuses to stamp until its clock is right', async () => {
  const rows = new MemoryRows()
  const clock = new VirtualClock()
  let aheadMicros = 0n
  const fast: Scheduler = {
    nowMicros: () => clock.nowMicros() + aheadMicros,
    steadyMs: () => clock.steadyMs(),
    defer: (task) => clock.defer(task),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  }
  const engines = await Promise.all(
    [clock, fast].map((scheduler, i) => openEngine({ shared: { rows, gateway: i + 1 }, scheduler })),
  )
  const [one, other] = engines as [Engine, Engine]
  let value = 0
  const put = async (engine: Engine): Promise<bigint | undefined> => {
    const mutations = [mutationOf(key, ++value)]
    const committed = Promise.resolve(
      engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations }),
    )
    committed.catch(() => {})
    await clock.advance(200)
    return (await committed).mutationResults[0]?.version
  }
  const before = await put(one)
  await put(other)
  aheadMicros = 61_000_000n
  await put(one)
  await expect(put(other)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      /^the clock of this gateway is 6\d s ahead of the other gateways .*set the clock right/,
    ),
  })
  aheadMicros = 0n
  const after = await put(other)
  expect(Number((after ?? 0n) - (before ?? 0n))).toBeLessThan(61_000_000)
  await Promise.all(engines.map((engine) => engine.close()))
})
