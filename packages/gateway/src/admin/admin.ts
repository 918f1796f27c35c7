/**
 * The services beside the data API, put together over one engine and one registry of operations.
 */
import type { Engine } from '@sixtables/engine'
import type { Logger } from '../logger.ts'
import type { AdminService } from './admin-service.ts'
import { Operations } from './operations.ts'
import { operationsService } from './operations-service.ts'
import type { Router } from './router.ts'

export interface Admin {
  /** Served over gRPC and REST. */
  readonly services: readonly AdminService[]
  /** Adds what is REST alone. */
  addRoutes(router: Router): void
}

export function adminOf(_engine: Engine, logger: Logger): Admin {
  const operations = new Operations(logger)
  return {
    services: [{ name: 'google.datastore.admin.v1.DatastoreAdmin', methods: [] }, operationsService(operations)],
    addRoutes() {},
  }
}
