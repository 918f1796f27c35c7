/** The exports for another transport than Node's sockets: the site, whose page brings the calls. */
export { addCommandRoute } from './cli/page/command-route.ts'
export { movableClock } from './controls/emulator-clock.ts'
export { EmulatorRoutes, type Routes, routesOf } from './emulator/routes-of.ts'
export { addLabRoutes, type LabStarter } from './labs/lab-routes.ts'
export {
  BodyTooLarge,
  bodyBytesMax,
  type HttpAnswer,
  type HttpCalls,
  type HttpRequest,
  type WholeAnswer,
} from './protocols/http-calls.ts'
export { codec } from './protocols/wire-form.ts'
