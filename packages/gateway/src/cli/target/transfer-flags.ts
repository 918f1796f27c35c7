/** The flags of `export` and `import`: server or folder, database, and a filter of entities. */
import type { Flag } from '../framework/command.ts'

const where = 'Where the database is'
const what = 'What is moved'

export const transferFlags: readonly Flag[] = [
  {
    name: 'endpoint',
    type: 'string',
    describe: 'Address of a running server: host:port',
    default: 'DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081',
    group: where,
  },
  {
    name: 'data-dir',
    type: 'string',
    describe: 'Data folder to open, instead of --endpoint; no server may use it',
    group: where,
  },
  { name: 'project', type: 'string', describe: 'Project', default: 'DATASTORE_PROJECT_ID, or demo', group: where },
  { name: 'database', type: 'string', describe: 'Database', default: 'the default database', group: where },
  {
    name: 'kind',
    type: 'list',
    describe: 'Kind of the entities; repeatable',
    default: 'all kinds',
    group: what,
  },
  {
    name: 'namespace',
    type: 'list',
    describe: 'Namespace of the entities, "" for the default one; repeatable',
    default: 'all namespaces',
    group: what,
  },
  { name: 'json', type: 'boolean', describe: 'JSON output', group: what },
]
