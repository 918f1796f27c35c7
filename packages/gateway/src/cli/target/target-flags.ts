/**
 * Flags for the target of a command, a running server or a closed folder, and for project, database and namespace. A command has only
 * those that affect it.
 */
import type { Flag } from '../framework/command.ts'
import { defaultEndpoint, formatEndpoint } from './endpoint.ts'

const group = 'What is looked at'

const endpoint: Flag = {
  name: 'endpoint',
  type: 'string',
  describe: 'Address of a running server: host:port',
  default: 'DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081',
  group,
  // Flags of `start` that users may try here.
  insteadOf: {
    host: () => 'HOST:PORT',
    port: (port) => formatEndpoint({ host: defaultEndpoint.host, port: Number(port) }),
    'host-port': (address) => address,
  },
}
const dataDir: Flag = {
  name: 'data-dir',
  type: 'string',
  describe: 'Data folder, instead of --endpoint: its running server, or the folder itself if no server uses it',
  group,
}
const project: Flag = {
  name: 'project',
  type: 'string',
  describe: 'Project of the keys',
  default: 'DATASTORE_PROJECT_ID, or demo',
  group,
}
const database: Flag = {
  name: 'database',
  type: 'string',
  describe: 'Database of the keys',
  default: 'the default database',
  group,
}
const namespace: Flag = {
  name: 'namespace',
  type: 'string',
  describe: 'Namespace of the keys',
  default: 'the default namespace',
  group,
}
const json: Flag = { name: 'json', type: 'boolean', describe: 'JSON output', group }

const serverDir: Flag = { ...dataDir, describe: 'Data folder of the running server, instead of --endpoint' }

/** Flags of commands that need a running server. */
export const serverFlags: readonly Flag[] = [endpoint, serverDir, json]

/** Flags of commands about the server itself; `--host-port` is gcloud's name for the address. */
export function addressFlags(group: string): readonly Flag[] {
  const hostPort: Flag = { name: 'host-port', type: 'string', describe: 'The same as --endpoint', group }
  return [endpoint, hostPort, serverDir].map((flag) => ({ ...flag, group }))
}

/** Flags of commands that read the whole store. */
export const placeFlags: readonly Flag[] = [endpoint, dataDir, json]

/** Flags of commands that read one database. */
export const databaseFlags: readonly Flag[] = [endpoint, dataDir, project, database, json]

/** Flags of commands with keys. */
export const targetFlags: readonly Flag[] = [endpoint, dataDir, project, database, namespace, json]
