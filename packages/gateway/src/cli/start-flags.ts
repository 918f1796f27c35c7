/**
 * The flags of `sixtables start`, as data: the help text, the parser and docs/reference/flags.md all come from this list.
 *
 * Known: the names that Google's emulators use are kept (`--testing`, `--store-on-disk`, `--consistency`, `--host-port`,
 * `--data-dir`), also with underscores. Ours: the rest.
 */
import type { Flag } from './command.ts'
import { hiddenFlags } from './flags-of-others.ts'
import { logLevels } from './logger.ts'

const shownFlags: readonly Flag[] = [
  {
    name: 'host',
    type: 'string',
    describe: 'Address to listen on; 0.0.0.0 for all',
    default: '127.0.0.1 and ::1',
    group: 'Where it listens',
  },
  {
    name: 'port',
    alias: 'p',
    type: 'string',
    describe: 'Port for gRPC and HTTP; 0 takes a free one',
    default: '8081',
    group: 'Where it listens',
  },
  {
    name: 'host-port',
    type: 'string',
    describe: 'Both at once: localhost:8081, [::1]:8081',
    group: 'Where it listens',
  },
  {
    name: 'allowed-origin',
    type: 'list',
    describe: 'A web origin that may call, besides local ones; may be repeated',
    group: 'Where it listens',
  },
  {
    name: 'allowed-host',
    type: 'list',
    describe: 'A Host header to answer to, besides local ones; may be repeated',
    group: 'Where it listens',
  },
  {
    name: 'data-dir',
    type: 'string',
    describe: 'Folder of the data',
    default: '.sixtables',
    group: 'Where data lives',
  },
  {
    name: 'store-on-disk',
    type: 'boolean',
    describe: 'Keep data on disk; --no-store-on-disk keeps it in memory',
    default: 'true',
    group: 'Where data lives',
  },
  {
    name: 'testing',
    type: 'boolean',
    describe: 'In memory and strongly consistent, nothing is left behind',
    group: 'Where data lives',
  },
  {
    name: 'durability',
    type: 'string',
    choices: ['process', 'power'],
    describe: 'What an acknowledged write survives: a killed process, or a power cut as well',
    default: 'process',
    group: 'Where data lives',
  },
  {
    name: 'index-file',
    type: 'string',
    describe: 'index.yaml to read, and to write where queries need more indexes',
    default: 'index.yaml in the folder of the data',
    group: 'Where data lives',
  },
  {
    name: 'store-index-configuration-on-disk',
    type: 'boolean',
    describe: 'Keep index.yaml; with --no-store-index-configuration-on-disk there is none',
    default: 'true where data is on disk',
    group: 'Where data lives',
  },
  {
    name: 'import-data',
    type: 'string',
    describe: 'A managed export to begin with, into the default database of --project',
    group: 'Where data lives',
  },
  {
    name: 'export-on-exit',
    type: 'string',
    describe: 'Folder to which that database is exported when the server ends, over an export that is there',
    group: 'Where data lives',
  },
  {
    name: 'export-name',
    type: 'string',
    describe: 'Name of a folder below --export-on-exit for it',
    group: 'Where data lives',
  },
  {
    name: 'project',
    type: 'string',
    describe: 'Project id in the printed environment (every project is served)',
    default: 'DATASTORE_PROJECT_ID, or demo',
    group: 'How it behaves',
  },
  {
    name: 'mode',
    type: 'string',
    choices: ['firestore', 'legacy'],
    describe: 'As Firestore in Datastore mode, or as the first Datastore with entity groups',
    default: 'firestore',
    group: 'How it behaves',
  },
  {
    name: 'consistency',
    type: 'string',
    describe: 'Chance from 0 to 1 that a global query sees a waiting write; 1 is strong',
    default: '0.9 with --mode legacy, else 1',
    group: 'How it behaves',
  },
  {
    name: 'apply',
    type: 'string',
    choices: ['immediate', 'delayed', 'manual'],
    describe: 'When a commit reaches entity and index rows; manual waits for `inspect release`',
    default: 'immediate, or as --consistency says',
    group: 'How it behaves',
  },
  {
    name: 'apply-delay-ms',
    type: 'string',
    describe: 'With --apply delayed: milliseconds from commit to apply',
    default: 'mixed delays',
    group: 'How it behaves',
  },
  {
    name: 'indexes',
    type: 'string',
    choices: ['auto', 'require'],
    describe: 'A composite index that a query lacks is built for it, or the query is refused as in production',
    default: 'auto',
    group: 'How it behaves',
  },
  {
    name: 'require-indexes',
    type: 'boolean',
    describe: 'The same as --indexes require',
    group: 'How it behaves',
  },
  {
    name: 'auto-id-policy',
    type: 'string',
    choices: ['SEQUENTIAL', 'SCATTERED'],
    describe: 'Automatic ids of new entities: 1, 2, 3, or spread over all',
    default: 'SEQUENTIAL with --mode legacy, else SCATTERED',
    group: 'How it behaves',
  },
  {
    name: 'id-collisions',
    type: 'string',
    choices: ['next', 'fail'],
    describe: 'A new entity whose automatic id is in use takes the next free one, or its commit fails',
    default: 'next',
    group: 'How it behaves',
  },
  {
    name: 'ttl',
    type: 'list',
    describe: 'Kind.property: entities of the kind go some time after that timestamp; may be repeated',
    group: 'How it behaves',
  },
  {
    name: 'seed',
    type: 'string',
    describe: 'Whole number from which all chance is drawn; equal seeds replay',
    default: '1',
    group: 'How it behaves',
  },
  {
    name: 'log-level',
    type: 'string',
    choices: logLevels,
    describe: 'Least important log line that is still written to stderr',
    default: 'warn',
    group: 'What it says',
  },
]

/** All that `start` knows. */
export const startFlags: readonly Flag[] = [...shownFlags, ...hiddenFlags]
