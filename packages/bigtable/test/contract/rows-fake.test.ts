/** The contract of the store of wide rows over the fake (row-store/RS1, row-store/RS2). */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { openPatiently } from '../support/fake-client.ts'
import { rowsContract } from '../support/rows-contract.ts'

describe('rows in a Bigtable keep the contract of a store of wide rows', () => {
  let fake: FakeBigtable
  let tables = 0

  beforeAll(async () => {
    fake = await FakeBigtable.start()
  })
  afterAll(() => fake.close())

  test.each(rowsContract)('$name', async ({ run }) => {
    const rows = await openPatiently(fake.address, `t${tables++}`)
    await run(rows).finally(() => rows.close())
  })
})
