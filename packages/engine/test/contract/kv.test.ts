import { memoryStore } from '../../src/engine/open-kv.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { FaultyKv } from '../../src/testing/faulty-kv.ts'
import { kvContract } from './kv.contract.ts'

const nothing = async (): Promise<void> => {}

kvContract('memory-kv', async () => ({ kv: new MemoryKv(), cleanup: nothing }), { answersAtOnce: true })
kvContract(
  'memory-kv with small nodes',
  async () => ({ kv: new MemoryKv([], { nodeCapacity: 4 }), cleanup: nothing }),
  {
    answersAtOnce: true,
  },
)
kvContract('on-demand-rows', async () => ({ kv: memoryStore(), cleanup: nothing }), {
  answersAtOnce: true,
})
kvContract('async-kv', async () => ({ kv: new AsyncKv(new MemoryKv()), cleanup: nothing }), { answersAtOnce: false })
kvContract(
  'async-kv with hops that overtake each other',
  async () => {
    let calls = 0
    const hop = async (): Promise<void> => {
      for (let turns = 7 - (calls++ % 8); turns > 0; turns--) await Promise.resolve()
    }
    return { kv: new AsyncKv(new MemoryKv(), { hop }), cleanup: nothing }
  },
  { answersAtOnce: false },
)
kvContract('faulty-kv without a fault', async () => ({ kv: new FaultyKv(new MemoryKv()), cleanup: nothing }), {
  answersAtOnce: true,
})
