/** All services other than the data API, for one engine, with one registry of operations. */
import type { Engine } from '@sixtables/engine'
import type { Logger } from '../logger.ts'
import type { Router } from '../protocols/router.ts'
import { type AdminService, addRestMethods } from './admin-service.ts'
import { addTransferRoutes, transferMethods } from './datastore-admin/export-import.ts'
import { datastoreDialect, indexMethods } from './datastore-admin/indexes.ts'
import { addConfigRoutes } from './emulator/config.ts'
import { addDatabaseSettingsRoutes } from './emulator/database-settings.ts'
import { addTabletRoutes } from './emulator/tablets.ts'
import type { ExportLocations } from './export-locations.ts'
import { addDatabaseRoutes, addFieldRoutes } from './firestore-admin/databases.ts'
import { addFirestoreIndexRoutes, firestoreDialect } from './firestore-admin/indexes.ts'
import { IndexOperations } from './index-operations.ts'
import { Operations, operationsService } from './operations/operations.ts'

/** @param locations - places of managed exports; without them there are none. @returns the services, for gRPC */
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
  addConfigRoutes(router, engine)
  addDatabaseRoutes(router, engine, operations)
  addFieldRoutes(router, engine, operations)
  addDatabaseSettingsRoutes(router, engine)
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
