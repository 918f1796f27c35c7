import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
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

test('a damaged row that moves to area 0 while the keys are read is not taken for absent', async () => {
  dir = await mkdtemp(join(tmpdir(), 'sixtables-absent-'))
  const before = await openLevelKv({ dir, rowsDeletedMax: 0 })
  await before.batch([
    { key: 'E1', value },
    { key: 'E5', value },
  ])
  await before.deleteRanges([{ start: 'E5', end: 'E6' }], [{ key: 'E5', value: Buffer.from('with a checksum') }])
  await before.close()
  const level = new Level<Uint8Array, Uint8Array>(dir, { keyEncoding: 'view', valueEncoding: 'view' })
  for (const key of await level.keys().all()) {
    if (Buffer.from(key).toString('latin1').endsWith('E5')) await level.put(key, Buffer.from('not what was written'))
  }
  await level.close()

  // The keys are read from the moment of the move on; those of the first part come after the move.
  const { bringHome } = LevelWriter.prototype
  const { keys: keysOf } = Level.prototype
  let kv: LevelKv | undefined
  let moved: Promise<void> | undefined
  let parts = 0
  vi.spyOn(Level.prototype, 'keys').mockImplementation(function (this: typeof level, ...options: [object]) {
    const keys = keysOf.call(this, ...options)
    if (moved === undefined || parts++ > 0) return keys
    const { nextv } = keys
    keys.nextv = async (size: number) => {
      await moved
      return await nextv.call(keys, size)
    }
    return keys
  })
  const moving = new Promise<void>((resolve) => {
    vi.spyOn(LevelWriter.prototype, 'bringHome').mockImplementation(function (this: LevelWriter, home) {
      let begin = (): void => {}
      moved = new Promise((done) => {
        begin = done
      })
      expect(kv?.get('E3')).toBeUndefined()
      const home0 = bringHome.call(this, home)
      home0.then(begin, begin)
      resolve()
      return home0
    })
  })
  kv = await openLevelKv({ dir, rowsDeletedMax: 0, readBeforeWritten: 'E', missesBeforeReading: 1 })
  await moving
  await kv.tidy()
  expect(() => kv?.get('E5')).toThrow('is damaged')
  await vi.waitFor(() => expect(parts).toBeGreaterThanOrEqual(3), 10_000)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(() => kv?.get('E5')).toThrow('is damaged')
  expect(kv.get('E1')).toEqual(value)
  await kv.close()
})
