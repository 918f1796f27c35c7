import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { expect, it, onTestFinished, vi } from 'vitest'
import { isAsleep, killThoseWith } from './process-state.ts'

it('a process that looks is not asleep', () => {
  expect(isAsleep(process.pid)).toBe(process.platform === 'linux' ? false : undefined)
})

it('nothing is known of a process that is not there', () => {
  expect(isAsleep(2 ** 30)).toBeUndefined()
})

it('nothing is killed where the list of processes cannot be read', () => {
  vi.spyOn(fs, 'readdirSync').mockImplementation(() => {
    throw new Error('EACCES: permission denied')
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
  expect(() => killThoseWith('MARK=1')).not.toThrow()
})
