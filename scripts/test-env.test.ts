import { expect, test } from 'vitest'

interface Matchers {
  readonly customEqualityTesters: readonly unknown[]
}

/** All that `expect` asks before it compares two values by itself, in this process. */
const testers = (): number =>
  (globalThis as unknown as Record<symbol, Matchers>)[Symbol.for('$$jest-matchers-object')]?.customEqualityTesters
    .length ?? 0

const before = testers()
const again: string = './test-env.ts?again'
await import(again)

test('what runs before each test file makes no comparison slower than it was before', () => {
  expect(before).toBeGreaterThan(0)
  expect(testers()).toBe(before)
})
