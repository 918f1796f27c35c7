/** The exports of the package: opening a table of a Bigtable as the engine's store, and making one. */

export type { BigtablePlace } from './client/place.ts'
export type { BigtableRows } from './rows/bigtable-rows.ts'
export { type BigtableOptions, createBigtableTable, openBigtable } from './rows/open-bigtable.ts'
