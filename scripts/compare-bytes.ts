/**
 * Lets `expect` compare bytes as bytes: by itself it looks at one after the other, which takes longer than most tests. A file of its own,
 * since a worker loads it once, and test-env.ts before each test file: each time `expect` would ask one more function about every value.
 */
import { expect } from 'vitest'

expect.addEqualityTesters([
  (one: unknown, other: unknown) =>
    one instanceof Uint8Array && other instanceof Uint8Array && one.constructor === other.constructor
      ? Buffer.compare(one, other) === 0
      : undefined,
])
