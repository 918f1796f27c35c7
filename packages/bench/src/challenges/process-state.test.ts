import { expect, it } from 'vitest'
import { isAsleep } from './process-state.ts'

it('a process that looks is not asleep', () => {
  expect(isAsleep(process.pid)).toBe(process.platform === 'linux' ? false : undefined)
})

it('nothing is known of a process that is not there', () => {
  expect(isAsleep(2 ** 30)).toBeUndefined()
})
