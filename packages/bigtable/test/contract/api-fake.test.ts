/**
 * The whole API with the data in a Bigtable: each call goes to the next of two gateways, which share nothing but the table. `npm test` has
 * the same over rows in memory (api-memory.test.ts), and the fake's own tests.
 */
import { describe } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { apiOverTwoGateways } from '../support/two-gateways.ts'

// Half a minute: it is for npm run test:deep.
describe.skipIf(!isDeep)('a Bigtable', () => apiOverTwoGateways('over the fake', () => FakeBigtable.start(), false))
