/** Gateways over rows in memory, for tests of the packages above. */
export { severalGateways } from '../../src/gateways/several-gateways.ts'
export { MemoryRows } from '../../src/row-store/memory-rows.ts'
