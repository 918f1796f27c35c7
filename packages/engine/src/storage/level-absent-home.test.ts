import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { type Scheduler, systemScheduler } from '../clock.ts'
import { type LevelKv, openLevelKv } from './level-kv.ts'
import { LevelWriter } from './level-writer.ts'

const value = Buffer.from('v')

let dir: string | undefined

afterEach(async () => {
  vi.restoreAllMocks()
  if (dir !== undefined) await rm(dir, { recursive: true })
})

test('a row of an earlier run that is about to move to area 0 is not taken for absent', async () => {
  dir = await mkdtemp(join(tmpdir(), 'sixtables-absent-'))
  const before = await openLevelKv({ dir, rowsDeletedMax: 0 })
  await before.mutate({ key: 'E1', value })
  await before.deleteRanges([{ start: 'E', end: 'F' }], [{ key: 'E2', value }])
  await before.close()
  // The move waits behind a long batch, which waits in the middle of its rows.
  let goOn: (() => void) | undefined
  const scheduler: Scheduler = {
    ...systemScheduler,
    defer: (task) => {
      goOn = task
    },
  }
  const { bringHome } = LevelWriter.prototype
  let kv: LevelKv | undefined
  let long: Promise<void> | undefined
  const moving = new Promise<void>((resolve) => {
    vi.spyOn(LevelWriter.prototype, 'bringHome').mockImplementation(function (this: LevelWriter, home) {
      long ??= kv?.batch(Array.from({ length: 10_000 }, (_, i) => ({ key: `D${i}`, value })))
      resolve()
      return bringHome.call(this, home)
    })
  })
  kv = await openLevelKv({ dir, rowsDeletedMax: 0, readBeforeWritten: 'E', missesBeforeReading: 1, scheduler })
  await moving
  expect(kv.get('E3')).toBeUndefined()
  // Until then all keys are read.
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(kv.get('E2')).toEqual(value)
  const steps = setInterval(() => goOn?.(), 1)
  await long
  await kv.tidy()
  clearInterval(steps)
  expect(kv.get('E2')).toEqual(value)
  await kv.close()
})
