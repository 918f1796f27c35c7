/** The contract of the store of wide rows over the fake (rows/RS1 to rows/RS7). */
import { rowsContract } from '@sixtables/engine/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { openPatiently } from '../support/fake-client.ts'

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
