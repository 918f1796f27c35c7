/** The contract of the store (storage/kv.ts) over rows in a Bigtable. */
import { afterAll, describe, expect, it } from 'vitest'
import { type OpenedKv, rowKvContract } from '../../../engine/test/contract/row-kv.contract.ts'
import { RowsKv } from '../../src/row-store/rows-kv.ts'
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
  const open = opener(() => FakeBigtable.start())
  rowKvContract('a Bigtable', open, { answersAtOnce: false })

  it('compares values of 10,000 bytes, and refuses longer ones', async () => {
    const { kv, cleanup } = await open()
    const [long, longer] = [new Uint8Array(10_000), new Uint8Array(10_001)]
    await kv.mutate({ key: 'a', value: long })
    expect(await kv.mutateIf({ key: 'a', value: longer }, long)).toBe(true)
    const refused = {
      code: 'INVALID_ARGUMENT',
      message: 'a conditional write expects 10001 bytes; at most 10000 can be compared',
    }
    await expect(kv.mutateIf({ key: 'a', value: long }, longer)).rejects.toMatchObject(refused)
    await cleanup()
  })
})

// Needs a program of Google's: `npm run bigtable`.
describe.skipIf(!hasCbtemulator)("over Google's emulator", () => {
  rowKvContract('a Bigtable', opener(startCbtemulator), { answersAtOnce: false })
})
