import { expect, test } from 'vitest'
import type { Key } from '../model/key.ts'
import { openEngine } from '../service/engine.ts'
import { MemoryRows } from '../storage/memory-rows.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const key: Key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'G', name: 'a' }] }

test.each([
  [undefined, 'try again later'],
  ['is it running?', 'is it running?'],
])(
  'a call without a deadline on a store that does not answer ends with its name, and %s',
  async (silenceRemedy, said) => {
    const scheduler = new VirtualClock()
    let isSilent = false
    const seamed = new MemoryRows().through(async (_call, effect) => {
      if (isSilent) await new Promise(() => {})
      return effect()
    })
    const rows = silenceRemedy === undefined ? seamed : Object.assign(seamed, { silenceRemedy })
    const engine = await openEngine({ shared: { rows, gateway: 1 }, scheduler })
    const lookup = () => engine.database('p').lookup(engine.context(), { keys: [key] })
    await lookup()
    isSilent = true
    const outcome = Promise.resolve(lookup()).catch((error: unknown) => error)
    await scheduler.advance(10_000)
    expect(await outcome).toMatchObject({
      code: 'UNAVAILABLE',
      message: `rows in memory did not answer within 10 s; ${said}`,
    })
  },
)
