import { describe, it } from 'vitest'
import { rowKvContract } from '../../../engine/test/contract/row-kv.contract.ts'
import { MemoryRows } from '../../src/row-store/memory-rows.ts'
import { RowsKv } from '../../src/row-store/rows-kv.ts'
import { rowsContract } from '../support/rows-contract.ts'

describe('memory-rows keeps the contract of a store of wide rows', () => {
  for (const { name, run } of rowsContract) it(name, () => run(new MemoryRows()))
})

rowKvContract('rows-kv', async () => ({ kv: new RowsKv(new MemoryRows()), cleanup: async () => {} }), {
  answersAtOnce: false,
})
