/** The flags of `export` and `import`: server or folder, database, and a filter of entities. */
import type { Flag } from '../framework/command.ts'
import { flagTable } from '../framework/flag-table.ts'

export const transferFlags: readonly Flag[] = flagTable(`
Where the database is
  endpoint  | text   | Address of a running server: host:port | DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081
  data-dir  | text   | Data folder to open, instead of --endpoint; no server may use it
  project   | text   | Project | DATASTORE_PROJECT_ID, or demo
  database  | text   | Database | the default database
What is moved
  kind      | list   | Kind of the entities; repeatable | all kinds
  namespace | list   | Namespace of the entities, "" for the default one; repeatable | all namespaces
  json      | switch | JSON output
`)
