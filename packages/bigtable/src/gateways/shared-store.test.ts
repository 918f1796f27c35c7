import { type Scheduler, seededRandom, systemScheduler } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { RowsKv } from '../row-store/rows-kv.ts'
import { SharedStore } from './shared-store.ts'

const storeOn = (scheduler: Scheduler): SharedStore =>
  new SharedStore({
    kv: new RowsKv(new MemoryRows()),
    gateway: 1n,
    scheduler,
    random: seededRandom(1),
    rulesOf: () => {
      throw new Error('not part of this test')
    },
    onFailure: (error) => {
      throw error
    },
  })

test('any number of sleeps at a time is no leak to be warned of', async () => {
  const warnings: Error[] = []
  const warn = (warning: Error): number => warnings.push(warning)
  process.on('warning', warn)
  const store = storeOn(systemScheduler)
  const sleeps = Array.from({ length: 20 }, () => store.sleep(1e6).catch(() => {}))
  await store.close()
  await Promise.all(sleeps)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', warn)
  expect(warnings).toEqual([])
})

test('closing waits for work that ends by itself, and not for work that goes on until then', async () => {
  const scheduler = new VirtualClock()
  const store = storeOn(scheduler)
  const ended: string[] = []
  let finish = (): void => {}
  store.inBackground(async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    ended.push('work')
  })
  store.inBackground(async () => {
    await store.sleep(1e9).catch(() => ended.push('watch'))
  }, true)
  const closing = store.close().then(() => ended.push('closed'))
  finish()
  await closing
  await Promise.resolve()
  expect(ended.toSorted()).toEqual(['closed', 'watch', 'work'])
  expect(ended[0]).toBe('work')
})
