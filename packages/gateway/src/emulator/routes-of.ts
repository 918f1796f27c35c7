/**
 * Everything that answers calls of an engine, before a transport brings them: the server of this package (server.ts), or a page in a browser.
 *
 *   HttpRequest ─▶ http.exchange() ─┬─ JSON, protobuf ──────────────┐
 *   gRPC (server.ts) ───────────────┴─ handlers ─ engine            ├─▶ answer
 *                                     emulator and admin endpoints ─┘
 */
import { Engine, type MovableClock } from '@sixtables/engine'
import { type AdminService, addRestMethods } from '../admin/admin-service.ts'
import { addTransferRoutes, transferMethods } from '../admin/datastore-admin/export-import.ts'
import { datastoreDialect, indexMethods } from '../admin/datastore-admin/indexes.ts'
import { addCommitRoutes } from '../admin/emulator/commit-routes.ts'
import { addEmulatorEndpoints } from '../admin/emulator/emulator-endpoints.ts'
import { addEngineRoutes } from '../admin/emulator/engine-routes.ts'
import { addFaultRoutes } from '../admin/emulator/fault-routes.ts'
import type { FixtureReader } from '../admin/emulator/fixture-request.ts'
import { addOverviewRoute } from '../admin/emulator/overview.ts'
import { addRequestRoutes } from '../admin/emulator/request-routes.ts'
import { addSettingsRoutes } from '../admin/emulator/settings.ts'
import { addTabletRoutes } from '../admin/emulator/tablets.ts'
import type { ExportLocations } from '../admin/export-locations.ts'
import { addDatabaseRoutes, addFieldRoutes } from '../admin/firestore-admin/databases.ts'
import { addFirestoreIndexRoutes, firestoreDialect } from '../admin/firestore-admin/indexes.ts'
import { IndexOperations } from '../admin/index-operations.ts'
import { Operations, operationsService } from '../admin/operations/operations.ts'
import { Calls } from '../calls/calls.ts'
import { RequestRecorder } from '../calls/request-recorder.ts'
import { EmulatorClock } from '../controls/emulator-clock.ts'
import { Faults } from '../controls/faults.ts'
import type { EnginePort } from '../engine-port.ts'
import { watchedHandlers } from '../handlers/handlers.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { FairQueue } from '../protocols/fair-queue.ts'
import { HttpCalls, type Serving } from '../protocols/http-calls.ts'
import { Router } from '../protocols/router.ts'
import { addSnapshotRoutes } from './snapshots.ts'

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

/**
 * The endpoints of an emulator that need no machine. A server adds its address, metrics, labs and the console (serve.ts).
 */
export class EmulatorRoutes {
  readonly faults: Faults
  readonly calls: Calls = new Calls()
  readonly clock: EmulatorClock
  readonly requests: RequestRecorder = new RequestRecorder(this.calls)
  readonly #engine: Engine

  constructor(engine: Engine, scheduler: MovableClock) {
    this.#engine = engine
    this.faults = new Faults(engine.inspector)
    this.clock = new EmulatorClock(scheduler, engine)
  }

  addTo(router: Router, withFixture?: FixtureReader): void {
    const { faults, calls, clock, requests } = this
    const engine = this.#engine
    addEngineRoutes(router, engine, withFixture)
    addFaultRoutes(router, { engine, faults, clock })
    addRequestRoutes(router, requests, calls)
    addCommitRoutes(router, engine)
    addSnapshotRoutes(router, engine, clock)
    addOverviewRoute(router, engine, calls)
  }
}

/** All services other than the data API, with one registry of operations. @param locations - places of managed exports; without them there are none */
export function addAdmin(
  router: Router,
  engine: Engine,
  logger: Logger,
  locations: ExportLocations | undefined,
): readonly AdminService[] {
  const operations = new Operations(logger)
  const indexes = new IndexOperations(engine, operations, { ofProject: datastoreDialect, ofDatabase: firestoreDialect })
  const transfer = locations === undefined ? undefined : { engine, operations, locations }
  if (transfer !== undefined) addTransferRoutes(router, transfer)
  addFirestoreIndexRoutes(router, indexes)
  addSettingsRoutes(router, engine)
  addDatabaseRoutes(router, engine, operations)
  addFieldRoutes(router, engine, operations)
  addTabletRoutes(router, engine)
  const services: readonly AdminService[] = [
    {
      name: 'google.datastore.admin.v1.DatastoreAdmin',
      methods: [...indexMethods(indexes), ...(transfer === undefined ? [] : transferMethods(transfer))],
    },
    operationsService(operations, indexes),
  ]
  for (const service of services) addRestMethods(router, service)
  return services
}
