import { describe, it } from 'vitest'
import { MemoryRows } from '../../src/storage/memory-rows.ts'
import { rowsContract } from '../../src/testing/rows-contract.ts'

describe('memory-rows keeps the contract of a store of wide rows', () => {
  for (const { name, run } of rowsContract) it(name, () => run(new MemoryRows()))
})
