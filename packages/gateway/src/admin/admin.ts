/**
 * The services beside the data API, put together over one engine and one registry of operations.
 */
import type { Engine } from '@sixtables/engine'
import type { Logger } from '../logger.ts'
import type { AdminService } from './admin-service.ts'
import { addConfigRoutes } from './config.ts'
import { addDatabaseSettingsRoutes } from './database-settings.ts'
import { addDatabaseRoutes } from './databases-firestore.ts'
import { addTransferRoutes, transferMethods } from './export-import.ts'
import { ExportLocations } from './export-locations.ts'
import { TransferOperations } from './export-operations.ts'
import { addFieldRoutes } from './fields-firestore.ts'
import { IndexOperations } from './index-operations.ts'
import { indexMethods } from './indexes.ts'
import { addFirestoreIndexRoutes } from './indexes-firestore.ts'
import { Operations } from './operations.ts'
import { operationsService } from './operations-service.ts'
import type { Router } from './router.ts'
import { addTabletRoutes } from './tablets.ts'

export interface Admin {
  /** Served over gRPC and REST. */
  readonly services: readonly AdminService[]
  /** Adds what is REST alone. */
  addRoutes(router: Router): void
}

export function adminOf(engine: Engine, logger: Logger): Admin {
  const operations = new Operations(logger)
  const indexes = new IndexOperations(engine, operations)
  const transfer = {
    engine,
    locations: new ExportLocations(engine.store),
    transfers: new TransferOperations(engine, operations),
  }
  return {
    services: [
      {
        name: 'google.datastore.admin.v1.DatastoreAdmin',
        methods: [...indexMethods(indexes), ...transferMethods(transfer)],
      },
      operationsService(operations),
    ],
    addRoutes(router) {
      addTransferRoutes(router, transfer)
      addFirestoreIndexRoutes(router, indexes)
      addConfigRoutes(router, engine)
      addDatabaseRoutes(router, engine, operations)
      addFieldRoutes(router, engine, operations)
      addDatabaseSettingsRoutes(router, engine)
      addTabletRoutes(router, engine)
    },
  }
}
