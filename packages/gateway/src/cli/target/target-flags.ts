/**
 * Flags for the target of a command, a running server, a closed folder or a table of a Bigtable, and for project, database and namespace. A
 * command has only those that affect it. BIGTABLE_EMULATOR_HOST names an emulator, as for Google's clients.
 */
import { formatEndpoint } from '../../emulator/variables.ts'
import { type Flag, flagTable, type Positional } from '../framework/command.ts'
import { defaultEndpoint } from './endpoint.ts'

const [address, dataDir, serverDir, hostPort, project, database, namespace, json] = flagTable(`
What is looked at
  endpoint  | text   | Address of a running server: host:port | DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081
  data-dir  | text   | Data folder, instead of --endpoint: its running server, or the folder itself if no server uses it
  data-dir  | text   | Data folder of the running server, instead of --endpoint
  host-port | text   | The same as --endpoint
  project   | text   | Project of the keys | DATASTORE_PROJECT_ID, or demo
  database  | text   | Database of the keys | the default database
  namespace | text   | Namespace of the keys | the default namespace
  json      | switch | JSON output
`) as [Flag, Flag, Flag, Flag, Flag, Flag, Flag, Flag]

const endpoint: Flag = {
  ...address,
  // Flags of `start` that users may try here.
  insteadOf: {
    host: () => 'HOST:PORT',
    port: (port) => formatEndpoint({ host: defaultEndpoint.host, port: Number(port) }),
    'host-port': (address) => address,
  },
}

export const serverFlags: readonly Flag[] = [endpoint, serverDir, json]

/** Flags of commands about the server itself; `--host-port` is gcloud's name for the address. */
export function addressFlags(group: string): readonly Flag[] {
  return [endpoint, hostPort, serverDir].map((flag) => ({ ...flag, group }))
}

export const placeFlags: readonly Flag[] = [endpoint, dataDir, json]

export const databaseFlags: readonly Flag[] = [endpoint, dataDir, project, database, json]

export const targetFlags: readonly Flag[] = [endpoint, dataDir, project, database, namespace, json]

export const key: Positional = { name: 'key', describe: 'Key, root first: ToDo:1 or User:"ada"/ToDo:5' }
export const keyMissing = 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'

/** The flags of `export` and `import`: server or folder, database, and a filter of entities. */
export const transferFlags: readonly Flag[] = flagTable(`
Where the database is
  endpoint  | text   | Address of a running server: host:port | DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081
  data-dir  | text   | Data folder to open, instead of --endpoint; a server that uses it is asked
  project   | text   | Project | DATASTORE_PROJECT_ID, or demo
  database  | text   | Database | the default database
What is moved
  kind      | list   | Kind of the entities; repeatable | all kinds
  namespace | list   | Namespace of the entities, "" for the default one; repeatable | all namespaces
  json      | switch | JSON output
`)

/** The kind of store, for commands that can read more than one, and the names of the table. */
export const storeFlags: readonly Flag[] = flagTable(`
Bigtable
  store                | local bigtable | Data on this machine, or in a Bigtable, for any number of gateways (package @sixtables/bigtable) | local
  bigtable-project     | text | Project of the Bigtable instance
  bigtable-instance    | text | Id of the Bigtable instance
  bigtable-table       | text | Id of the table | sixtables
  bigtable-app-profile | text | App profile with single-cluster routing and single-row transactions | the default of the instance
`)

export const bigtableFlags: readonly Flag[] = storeFlags.slice(1)

/**
 * Names of the tables, for help and messages, which must not load the engine. test/cli/query-commands.test.ts compares them with the engine's.
 */
export const tableNames: readonly string[] = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'EntitiesByCompositeProperty',
  'IdSequences',
  'Log',
  'Metadata',
]

/** The names in words: the six tables of entities, indexes and ids, and two more. */
export const tablesInWords: string = `${tableNames.slice(0, 6).join(', ')}; beside these six, Log and Metadata`
