/** The contract of the store of wide rows over Google's emulator (row-store/RS1, row-store/RS2). */
import { systemScheduler } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBigtable } from '../../src/index.ts'
import { type Emulator, hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { rowsContract } from '../support/rows-contract.ts'

// Needs a program of Google's: `npm run bigtable`.
describe.skipIf(!hasCbtemulator)("rows in Google's emulator keep the contract of a store of wide rows", () => {
  let emulator: Emulator
  let tables = 0

  beforeAll(async () => {
    emulator = await startCbtemulator()
  })
  afterAll(() => emulator.close())

  test.each(rowsContract)('$name', async ({ run }) => {
    const place = { project: 'demo', instance: 'local', table: `t${tables++}`, emulator: emulator.address }
    const rows = await openBigtable(place)
    await run(rows).finally(() => rows.close())
  })

  test('it tells its time', async () => {
    const scheduler = { ...systemScheduler, nowMicros: () => systemScheduler.nowMicros() + 3_600_000_000n }
    const place = { project: 'demo', instance: 'local', table: 'clock', emulator: emulator.address }
    await expect(openBigtable({ ...place, scheduler })).rejects.toThrow(
      /this machine is (3599|3600) s ahead of the clock/,
    )
    await (await openBigtable(place)).close()
  })
})
