import { expect, test, vi } from 'vitest'
import { DatastoreError } from './errors.ts'
import { DamagedRow } from './storage/level-error.ts'

test('errors of another copy of the engine are known as such, and others are not', async () => {
  vi.resetModules()
  const other = await import('./errors.ts')
  const error = new other.DatastoreError('UNAVAILABLE', 'gone')
  expect(other.DatastoreError).not.toBe(DatastoreError)
  expect(error).toBeInstanceOf(DatastoreError)
  expect(new Error('x')).not.toBeInstanceOf(DatastoreError)
  expect(error).not.toBeInstanceOf(DamagedRow)
})
