import { expect, it } from 'vitest'
import { insert, type Put } from './entities.ts'
import { openStore } from './store.ts'

it('makes the mutations of many puts commit by commit', async () => {
  const store = await openStore({})
  let made = 0
  function* puts(): Generator<Put> {
    for (let n = 1; n <= 1200; n++) {
      made = n
      yield insert(store.key({ kind: 'Record', id: BigInt(n) }), {})
    }
  }
  const madeAt: number[] = []
  const end = store.engine.tablets.onSample(({ table }) => {
    if (table === 'Log') madeAt.push(made)
  })
  await store.alone(() => store.putAll(puts(), 1000))
  end()
  expect([...new Set(madeAt)]).toEqual([500, 1000, 1200])
  await store.close()
})
