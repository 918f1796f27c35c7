/** The whole API with the data in a Bigtable: each call goes to the next of two gateways, which share nothing but the table. */
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { apiOverTwoGateways } from '../support/two-gateways.ts'

apiOverTwoGateways('over the fake', () => FakeBigtable.start(), false)
