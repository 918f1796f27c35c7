/**
 * capacity/CP1, capacity/CP2: whatever load comes, offered = refused + served + waiting, and a server serves at most its capacity. Once on a
 * server, and once through the requests of a whole engine.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { openEngine } from '../../src/engine/engine.ts'
import type { Key } from '../../src/model/key.ts'
import { TabletServer, type WorkFlow } from '../../src/observe/tablets/capacity.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const costMax = 60

/** Work that comes `afterMs` later than the one before it; spread over a time, or at once. */
const offers = fc.array(
  fc.record({
    afterMs: fc.oneof({ weight: 4, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(3_000) }),
    cost: fc.integer({ min: 1, max: costMax }),
    spreadMs: fc.constantFrom(0, 0, 200, 1_000),
  }),
  { minLength: 1, maxLength: 200 },
)

test('capacity/CP1, capacity/CP2: a server serves at most capacity × time, and no more than the queue waits', () => {
  fc.assert(
    fc.property(
      offers,
      fc.integer({ min: 10, max: 2_000 }),
      fc.integer({ min: 0, max: 3_000 }),
      (load, capacity, queueMsMax) => {
        const server = new TabletServer(0, 0, capacity, queueMsMax)
        const most = (capacity * queueMsMax) / 1000
        const waitMsMax = ((most + costMax) / capacity) * 1000 + 1e-6
        const flows: WorkFlow[] = []
        let nowMs = 0
        let admitted = 0
        const endFlows = (untilMs: number): void => {
          flows.sort((a, b) => a.endsMs - b.endsMs)
          while (flows[0] !== undefined && flows[0].endsMs <= untilMs) {
            const flow = flows.shift() as WorkFlow
            server.removeFlow(flow.endsMs, flow)
            expect(server.queueMs(flow.endsMs)).toBeLessThanOrEqual(waitMsMax)
          }
        }
        for (const { afterMs, cost, spreadMs } of load) {
          nowMs += afterMs
          endFlows(nowMs)
          if (!server.hasRoom(nowMs)) continue
          admitted += cost
          if (spreadMs > 0) {
            const flow = { costPerSecond: (cost * 1000) / spreadMs, endsMs: nowMs + spreadMs }
            flows.push(flow)
            server.addFlow(nowMs, flow)
          } else {
            server.take(nowMs, cost)
          }
          const toCome = flows.reduce((sum, flow) => sum + (flow.costPerSecond * (flow.endsMs - nowMs)) / 1000, 0)
          const waiting = (server.queueMs(nowMs) * capacity) / 1000
          const served = admitted - waiting - toCome
          expect(served).toBeGreaterThanOrEqual(-1e-6)
          expect(served).toBeLessThanOrEqual((capacity * nowMs) / 1000 + 1e-6)
          expect(waiting).toBeLessThanOrEqual(most + costMax + 1e-6)
        }
        endFlows(Number.POSITIVE_INFINITY)
      },
    ),
  )
})

const key = (id: number): Key => ({
  partition: { projectId: 'p', databaseId: '', namespaceId: '' },
  path: [{ kind: 'ToDo', id: BigInt(id) }],
})

test('capacity/CP1: requests of an engine that are answered are at most capacity × time and the queue, one by one and weighed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ afterMs: fc.nat(120), id: fc.integer({ min: 1, max: 5 }) }), {
        minLength: 50,
        maxLength: 300,
      }),
      fc.integer({ min: 5, max: 100 }),
      fc.constantFrom(1, 1, 7),
      async (load, opsPerSecond, weight) => {
        const queueMsMax = 1_000
        const clock = new VirtualClock()
        const tablets = { simulate: true, waits: false, servers: 1, opsPerSecond, queueMsMax }
        const engine = await openEngine({ scheduler: clock, tablets })
        const database = engine.database('p')
        const begunAt = clock.nowMicros()
        let [served, refused] = [0, 0]
        for (const { afterMs, id } of load) {
          await clock.advance(afterMs)
          try {
            await database.lookup(engine.context({ weight }), { keys: [key(id)] })
            served += weight
          } catch (error) {
            expect(error).toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
            refused += weight
          }
        }
        const seconds = Number(clock.nowMicros() - begunAt) / 1e6
        expect(served + refused).toBe(load.length * weight)
        // What is let in last may flow in for a slot of a second more.
        const slotSeconds = weight > 1 ? 1.2 : 0
        const queue = (opsPerSecond * queueMsMax) / 1000 + weight
        expect(served).toBeLessThanOrEqual(opsPerSecond * (seconds + slotSeconds) + queue + 1e-6)
        await engine.close()
      },
    ),
    { numRuns: runs(40) },
  )
})
