/** Parts of the server for tests of the console: two gateways that share a store, and the JSON that a server writes. */
export { messageOf } from '../../src/call.ts'
export { movableClock } from '../../src/controls/emulator-clock.ts'
export { type Served, serve } from '../../src/emulator/serve.ts'
export { lookupAnswer } from '../../src/handlers/lookup.ts'
export { answerToJson, requestFromJson } from '../../src/protocols/json-codec.ts'
