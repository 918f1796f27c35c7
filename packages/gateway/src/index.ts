/** The public exports of the gateway. */

export type { EmulatorClock } from './controls/emulator-clock.ts'
export type { FaultMethod, FaultOptions, FaultReport } from './controls/fault.ts'
export type { Fault, Faults } from './controls/faults.ts'
export { type Emulator, type EmulatorOptions, type Seed, type SeedPlace, startEmulator } from './emulator/emulator.ts'
export type { Gateway, GatewayOptions } from './emulator/server.ts'
export { startGateway } from './emulator/server.ts'
export { variablesOf } from './emulator/variables.ts'
export type { DatabasePort, EnginePort, ResetScope } from './engine-port.ts'
export { type DumpedEntity, type DumpOptions, dumpDatabase, writeFixture } from './fixtures/dump.ts'
export {
  type Fixture,
  type FixtureFormat,
  fixtureOf,
  loadFixture,
  type ParseOptions,
  parseFixture,
} from './fixtures/fixture.ts'
export { FixtureError } from './fixtures/fixture-error.ts'
export type { FixtureData, PlainEntity, PlainProperties } from './fixtures/plain-entities.ts'
export type { PlainValue } from './fixtures/plain-value.ts'
export { type SeedReport, seedDatabase } from './fixtures/seed.ts'
export type { Logger } from './logger.ts'
export type { Address } from './protocols/port.ts'
export type { Route, RouteAnswer, RouteRequest, Router, Verb } from './protocols/router.ts'
