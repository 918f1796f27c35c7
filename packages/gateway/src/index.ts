/** What other packages may use of the gateway. */

export type { Route, RouteAnswer, RouteRequest, Router, Verb } from './admin/router.ts'
export type { DatabasePort, EnginePort, ResetScope } from './engine-port.ts'
export type { Logger } from './logger.ts'
export type { Address } from './protocols/port.ts'
export type { Gateway, GatewayOptions } from './server.ts'
export { startGateway } from './server.ts'
