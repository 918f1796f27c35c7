/** The flags of `export` and `import`: which server or folder, which database, which of its entities. */

interface TransferFlag {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'array'
  /** Elements of a list are texts, also those that look like numbers. */
  readonly string?: true
  readonly describe: string
  readonly defaultDescription?: string
  readonly group: string
}

const where = 'Where the database is:'
const what = 'What is moved:'

export const transferFlags: readonly TransferFlag[] = [
  {
    name: 'endpoint',
    type: 'string',
    describe: 'Running server that does the work: host:port',
    defaultDescription: 'DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081',
    group: where,
  },
  { name: 'data-dir', type: 'string', describe: 'Folder to open instead; no server may be using it', group: where },
  {
    name: 'project',
    type: 'string',
    describe: 'Project',
    defaultDescription: 'DATASTORE_PROJECT_ID, or demo',
    group: where,
  },
  {
    name: 'database',
    type: 'string',
    describe: 'Database',
    defaultDescription: 'the default database',
    group: where,
  },
  {
    name: 'kind',
    type: 'array',
    string: true,
    describe: 'Only entities of this kind; may be repeated',
    defaultDescription: 'all kinds',
    group: what,
  },
  {
    name: 'namespace',
    type: 'array',
    string: true,
    describe: 'Only entities of this namespace, "" for the default one; may be repeated',
    defaultDescription: 'all namespaces',
    group: what,
  },
  { name: 'json', type: 'boolean', describe: 'Answer as JSON', group: what },
]
