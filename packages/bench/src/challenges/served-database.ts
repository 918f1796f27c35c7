/**
 * The server that a command talks to: the gateway over a {@link ChargedDatabase}, with the variables by which client libraries find it.
 *
 * Each process of a program has a server of its own, so that a process that was ended reaches nothing any more.
 */
import { DatastoreError, invalidArgument } from '@sixtables/engine'
import type { DatabasePort } from '@sixtables/gateway'
import { projectId, type Store } from '../sim/store.ts'
import type { ChargedDatabase } from './charged-database.ts'

export interface ServedDatabase {
  readonly variables: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Does the work of one request: told before it begins, and of its end. It may refuse the request by throwing. */
export type AroundRequest = <T>(work: (database: ChargedDatabase) => Promise<T>) => Promise<T>

export async function serveDatabase(store: Store, around: AroundRequest): Promise<ServedDatabase> {
  // Programs in JavaScript do without it.
  const { startGateway, variablesOf } = await import('@sixtables/gateway')
  const port = portOver(around)
  const gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    closeGraceMs: 0,
    engine: {
      database(project, databaseId) {
        if (project === projectId && databaseId === '') return port
        const found = databaseId === '' ? `the project ${project}` : `the database ${databaseId} of ${project}`
        throw invalidArgument(
          `this server has only the default database of the project ${projectId}, not ${found}; read DATASTORE_PROJECT_ID`,
        )
      },
      context: () => store.engine.context(),
      async reset() {
        throw new DatastoreError('PERMISSION_DENIED', 'the data is judged; it cannot be reset')
      },
    },
  })
  const variables = {
    ...variablesOf(`127.0.0.1:${gateway.port}`, projectId),
    GOOGLE_CLOUD_PROJECT: projectId,
    GCLOUD_PROJECT: projectId,
  }
  return { variables, close: () => gateway.close() }
}

/** The context of a request is not used: its weight and its deadline are those of the load. */
function portOver(around: AroundRequest): DatabasePort {
  return {
    lookup: (_, request) => around((database) => database.lookup(request)),
    runQuery: (_, request) => around((database) => database.runQuery(request)),
    explainQuery: (_, request) => around((database) => database.explainQuery(request)),
    runAggregationQuery: (_, request) => around((database) => database.runAggregationQuery(request)),
    async explainAggregationQuery() {
      throw new DatastoreError('UNIMPLEMENTED', 'aggregations are not explained here')
    },
    beginTransaction: (_, options) => around((database) => database.beginTransaction(options)),
    commit: (_, request) => around((database) => database.commit(request)),
    rollback: (_, transaction) => around((database) => database.rollback(transaction)),
    allocateIds: (_, keys) => around((database) => database.allocateIds(keys)),
    reserveIds: (_, keys) => around((database) => database.reserveIds(keys)),
  }
}
