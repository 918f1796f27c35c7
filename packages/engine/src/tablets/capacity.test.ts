import { expect, test } from 'vitest'
import { TabletServer } from './capacity.ts'

const open = () => new TabletServer(0, 0, 1_000, 2_000)

test('what flows in above the capacity waits, as long as it takes to work it off', () => {
  const server = open()
  server.changeFlow(0, 1_500)
  expect(server.queueMs(1_000)).toBeCloseTo(500)
  server.changeFlow(1_000, -1_500)
  expect(server.queueMs(1_200)).toBeCloseTo(300)
  expect(server.queueMs(2_000)).toBe(0)
})

test('a server below its capacity has no queue, but is slower the busier it is', () => {
  const server = open()
  server.changeFlow(0, 900)
  expect(server.queueMs(60_000)).toBe(0)
  expect(server.delayMs(60_000, 1, 2)).toBeCloseTo(1 + 20)
  expect(open().delayMs(60_000, 1, 2)).toBeCloseTo(1 + 2)
})

test('a full queue refuses: what is too much is counted, and nothing waits longer than the bound', () => {
  const server = open()
  server.changeFlow(0, 3_000)
  expect(server.isFull(900)).toBe(false)
  expect(server.isFull(1_100)).toBe(true)
  expect(server.queueMs(5_000)).toBe(2_000)
  expect(server.refused).toBeCloseTo(2_000 * 5 - 2_000)
})

test('single operations queue as flows do', () => {
  const server = open()
  for (let i = 0; i < 100; i++) server.take(0, 10)
  expect(server.queueMs(0)).toBeCloseTo(1_000)
  expect(server.queueMs(400)).toBeCloseTo(600)
})
