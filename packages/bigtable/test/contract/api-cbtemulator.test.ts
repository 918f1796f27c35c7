/** As api-fake.test.ts, by every client, over Google's emulator. */
import { describe } from 'vitest'
import { hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { apiOverTwoGateways } from '../support/two-gateways.ts'

// Needs a program of Google's: `npm run bigtable`.
describe.skipIf(!hasCbtemulator)('the API', () => {
  apiOverTwoGateways("over Google's emulator", startCbtemulator, true)
})
