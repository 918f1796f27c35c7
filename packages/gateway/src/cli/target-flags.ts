/**
 * The flags by which `check` and `inspect` are told what to look at: a running server or a closed folder, and in which
 * project, database and namespace a key lives.
 */
export const targetFlags = [
  {
    name: 'endpoint',
    type: 'string',
    describe: 'Running server to ask: host:port',
    defaultDescription: 'DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081',
    group: 'What is looked at:',
  },
  {
    name: 'data-dir',
    type: 'string',
    describe: 'Folder to open instead; no server may be using it',
    group: 'What is looked at:',
  },
  {
    name: 'project',
    type: 'string',
    describe: 'Project of the keys',
    defaultDescription: 'DATASTORE_PROJECT_ID, or demo',
    group: 'What is looked at:',
  },
  {
    name: 'database',
    type: 'string',
    describe: 'Database of the keys',
    defaultDescription: 'the default database',
    group: 'What is looked at:',
  },
  {
    name: 'namespace',
    type: 'string',
    describe: 'Namespace of the keys',
    defaultDescription: 'the default namespace',
    group: 'What is looked at:',
  },
  {
    name: 'json',
    type: 'boolean',
    describe: 'Answer as JSON',
    group: 'What is looked at:',
  },
] as const
