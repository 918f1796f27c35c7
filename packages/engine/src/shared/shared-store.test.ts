import { expect, test } from 'vitest'
import { seededRandom } from '../random.ts'
import { MemoryRows } from '../storage/memory-rows.ts'
import { RowsKv } from '../storage/rows-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { SharedStore } from './shared-store.ts'

test('closing waits for work that ends by itself, and not for work that goes on until then', async () => {
  const scheduler = new VirtualClock()
  const store = new SharedStore({
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
