/** The flags of `export` and `import`: which server or folder, which database, which of its entities. */
import type { Flag } from '../framework/command.ts'

const where = 'Where the database is'
const what = 'What is moved'

export const transferFlags: readonly Flag[] = [
  {
    name: 'endpoint',
    type: 'string',
    describe: 'Running server that does the work: host:port',
    default: 'DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081',
    group: where,
  },
  { name: 'data-dir', type: 'string', describe: 'Folder to open instead; no server may be using it', group: where },
  { name: 'project', type: 'string', describe: 'Project', default: 'DATASTORE_PROJECT_ID, or demo', group: where },
  { name: 'database', type: 'string', describe: 'Database', default: 'the default database', group: where },
  {
    name: 'kind',
    type: 'list',
    describe: 'Only entities of this kind; may be repeated',
    default: 'all kinds',
    group: what,
  },
  {
    name: 'namespace',
    type: 'list',
    describe: 'Only entities of this namespace, "" for the default one; may be repeated',
    default: 'all namespaces',
    group: what,
  },
  { name: 'json', type: 'boolean', describe: 'Answer as JSON', group: what },
]
