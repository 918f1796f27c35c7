/** The exports for gateways without a Bigtable: over rows in memory, or in a simulation. */

export { type GatewayOptions, severalGateways } from './gateways/several-gateways.ts'
export type { GatewayMechanism } from './gateways/switched-off.ts'
export { MemoryRows } from './row-store/memory-rows.ts'
export type { Row, RowChange, RowCondition, RowScan, RowStore } from './row-store/row-store.ts'
