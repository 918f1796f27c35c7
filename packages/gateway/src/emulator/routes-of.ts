/**
 * Everything that answers calls of an engine, before a transport brings them: the server of this package (server.ts), or a page in a browser.
 *
 *   HttpRequest ─▶ http.exchange() ─┬─ JSON, protobuf ──────────────┐
 *   gRPC (server.ts) ───────────────┴─ handlers ─ engine            ├─▶ answer
 *                                     emulator and admin endpoints ─┘
 */
import { Engine } from '@sixtables/engine'
import { addAdmin } from '../admin/admin.ts'
import type { AdminService } from '../admin/admin-service.ts'
import { addEmulatorEndpoints } from '../admin/emulator/emulator-endpoints.ts'
import type { ExportLocations } from '../admin/export-locations.ts'
import { Calls } from '../calls/calls.ts'
import type { Faults } from '../controls/faults.ts'
import type { EnginePort } from '../engine-port.ts'
import { watchedHandlers } from '../handlers/handlers.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { FairQueue } from '../protocols/fair-queue.ts'
import { HttpCalls, type Serving } from '../protocols/http-calls.ts'
import { Router } from '../protocols/router.ts'

export interface RouteOptions {
  readonly logger?: Logger | undefined
  readonly onShutdown?: (() => void) | undefined
  readonly page?: string | undefined
  readonly faults?: Faults | undefined
  readonly calls?: Calls | undefined
  /** Adds endpoints of the embedding program. */
  readonly routes?: ((router: Router) => void) | undefined
}

export interface Routes extends Serving {
  readonly http: HttpCalls
  readonly services: readonly AdminService[]
}

/** @param locations - places of managed exports; without them there are none */
export function routesOf(
  engine: EnginePort,
  { logger = silentLogger, calls = new Calls(), faults, onShutdown, page, routes }: RouteOptions,
  locations?: ExportLocations,
): Routes {
  const handlers = watchedHandlers(engine, calls, faults)
  const { clock } = engine.context()
  const router = new Router()
  addEmulatorEndpoints(router, { engine, onShutdown, page })
  routes?.(router)
  const services = engine instanceof Engine ? addAdmin(router, engine, logger, locations) : []
  const serving: Serving = { handlers, clock, logger, queue: new FairQueue(), calls }
  return { ...serving, http: new HttpCalls({ ...serving, router }), services }
}
