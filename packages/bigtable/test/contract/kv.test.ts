/** The contract of the store (kv/K1 to kv/K3) over rows in a Bigtable. */
import { RowsKv } from '@sixtables/engine/testing'
import { afterAll, describe } from 'vitest'
import { type OpenedKv, rowKvContract } from '../../../engine/test/contract/row-kv.contract.ts'
import { hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { openPatiently } from '../support/fake-client.ts'

interface Served {
  readonly address: string
  close(): Promise<void>
}

let tables = 0

function opener(serve: () => Promise<Served>): () => Promise<OpenedKv<RowsKv>> {
  let served: Promise<Served> | undefined
  afterAll(async () => (await served)?.close())
  return async () => {
    served ??= serve()
    const { address } = await served
    const kv = new RowsKv(await openPatiently(address, `t${tables++}`))
    return { kv, cleanup: () => kv.close() }
  }
}

describe('over the fake', () => {
  rowKvContract(
    'a Bigtable',
    opener(() => FakeBigtable.start()),
    { answersAtOnce: false },
  )
})

// Needs a program of Google's: `npm run bigtable`.
describe.skipIf(!hasCbtemulator)("over Google's emulator", () => {
  rowKvContract('a Bigtable', opener(startCbtemulator), { answersAtOnce: false })
})
