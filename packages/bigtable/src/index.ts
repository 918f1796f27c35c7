/** The exports of the package: a Bigtable table as the engine's store, and its creation. */

export type { BigtablePlace } from './client/table-place.ts'
export { type GatewayOptions, severalGateways } from './gateways/several-gateways.ts'
export type { BigtableRows } from './rows/bigtable-rows.ts'
export { type BigtableOptions, createBigtableTable, openBigtable } from './rows/open-bigtable.ts'
