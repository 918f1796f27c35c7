/** What other packages may use of the gateway. */

export type { Route, RouteAnswer, RouteRequest, Router, Verb } from './admin/router.ts'
export { type Emulator, type EmulatorOptions, startEmulator } from './emulator/emulator.ts'
export type { EmulatorClock } from './emulator/emulator-clock.ts'
export type { DatabasePort, EnginePort, ResetScope } from './engine-port.ts'
export type { FaultMethod, FaultOptions, FaultReport } from './faults/fault.ts'
export type { Fault, Faults } from './faults/faults.ts'
export type { Logger } from './logger.ts'
export type { Address } from './protocols/port.ts'
export type { Gateway, GatewayOptions } from './server.ts'
export { startGateway } from './server.ts'
