import { expect, test } from 'vitest'
import { TabletServer } from './capacity.ts'

const open = () => new TabletServer(0, 0, 1_000, 2_000)

test('what flows in above the capacity waits, as long as it takes to work it off', () => {
  const server = open()
  const flow = { costPerSecond: 1_500, endsMs: 1_000 }
  server.addFlow(0, flow)
  expect(server.queueMs(1_000)).toBeCloseTo(500)
  server.removeFlow(1_000, flow)
  expect(server.queueMs(1_200)).toBeCloseTo(300)
  expect(server.queueMs(2_000)).toBe(0)
})

test('a server below its capacity has no queue, but is slower the busier it is', () => {
  const server = open()
  server.addFlow(0, { costPerSecond: 900, endsMs: 60_000 })
  expect(server.queueMs(60_000)).toBe(0)
  expect(server.delayMs(60_000, 1, 2)).toBeCloseTo(1 + 20)
  expect(open().delayMs(60_000, 1, 2)).toBeCloseTo(1 + 2)
})

test('single operations queue as flows do', () => {
  const server = open()
  for (let i = 0; i < 100; i++) server.take(0, 10)
  expect(server.queueMs(0)).toBeCloseTo(1_000)
  expect(server.queueMs(400)).toBeCloseTo(600)
})

test('capacity/CP2: a full queue takes nothing in, and one with room takes the next operation, however large', () => {
  const server = open()
  for (let i = 0; i < 199; i++) server.take(0, 10)
  expect(server.hasRoom(0)).toBe(true)
  server.take(0, 500)
  expect(server.queueMs(0)).toBeCloseTo(2_490)
  expect(server.hasRoom(0)).toBe(false)
  expect(server.hasRoom(490)).toBe(false)
  expect(server.hasRoom(491)).toBe(true)
})

test('capacity/CP2: flows under way count up to their ends', () => {
  const server = open()
  // 4,000 more than can be served will wait when the longer one ends.
  server.addFlow(0, { costPerSecond: 2_000, endsMs: 1_000 })
  expect(server.hasRoom(0)).toBe(true)
  server.addFlow(0, { costPerSecond: 1_000, endsMs: 1_000 })
  expect(server.queueMs(0)).toBe(0)
  expect(server.hasRoom(0)).toBe(false)
})

test('capacity/CP2: a flow that goes on behind the end of another counts up to its own end', () => {
  const server = open()
  server.addFlow(0, { costPerSecond: 400, endsMs: 1_000 })
  server.addFlow(0, { costPerSecond: 1_100, endsMs: 10_000 })
  expect(server.hasRoom(0)).toBe(true)
  server.addFlow(0, { costPerSecond: 150, endsMs: 10_000 })
  expect(server.hasRoom(0)).toBe(false)
})

test('a server without a queue lets work in when it is idle', () => {
  const server = new TabletServer(0, 0, 1_000, 0)
  expect(server.hasRoom(0)).toBe(true)
  server.take(0, 10)
  expect(server.hasRoom(9)).toBe(false)
  expect(server.hasRoom(10)).toBe(true)
})
