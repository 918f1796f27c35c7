/**
 * The flags of `sixtables start`, as data for the help, the parser and docs/reference/flags.md.
 *
 * Known: `--testing`, `--store-on-disk`, `--consistency`, `--host-port` and `--data-dir` are names of Google's emulators, which also accept
 * underscores. Ours: the rest.
 */
import { type Flag, flagTable } from '../../framework/command.ts'
import { storeFlags } from '../../target/target-flags.ts'

export const logLevels = ['error', 'warn', 'info', 'debug'] as const

export type LogLevel = (typeof logLevels)[number]

const beforeStore = flagTable(`
Network
  host                              | text | Address of the server; 0.0.0.0 for all addresses of the machine | 127.0.0.1 and ::1
  port -p                           | text | Port for gRPC and HTTP; 0 for any free port | 8081
  host-port                         | text | Host and port together, such as localhost:8081 or [::1]:8081
  allowed-origin                    | list | Web origin that may call the server, in addition to local origins; repeatable
  allowed-host                      | list | Accepted Host header, in addition to local names; repeatable
  console                           | switch | The console, a page for browsers at /console/; --no-console for a server without | true
Storage
  data-dir                          | text | Data folder | .sixtables
  store-on-disk                     | switch | Storage of data on disk; --no-store-on-disk for memory | true, false with --testing
  testing                           | switch | Data in memory, strong consistency, no files
  durability                        | process power | Failures that an acknowledged write survives: a killed process, or also a power cut | process
  index-file                        | text | index.yaml to read, and to extend with the indexes that queries need | index.yaml in the data folder
  store-index-configuration-on-disk | switch | Use of index.yaml; a missing --index-file is created; with --no-… no file is used | true if data is on disk, false with --testing
  import-data                       | text | Managed export to import at the start, into the default database of --project
  export-on-exit                    | text | Folder to which that database is exported when the server ends; replaces an earlier export
  export-name                       | text | Name of the export, a folder below --export-on-exit
`)

const behindStore = flagTable(`
Bigtable
  yes-without-authentication        | switch | Consent to a --host beyond this machine before a real Bigtable: the API has no authentication
  allow-reset                       | switch | Consent to resets, which delete all data, of a real Bigtable
Behaviour
  project                           | text | Project id in the printed environment (every project is served) | DATASTORE_PROJECT_ID, or demo
  mode                              | firestore legacy | Emulated service: Firestore in Datastore mode, or the first Datastore with entity groups | firestore
  consistency                       | text | Probability, 0 to 1, that a global query sees a pending write; 1 is strong consistency | 0.9 with --mode legacy and without --testing, else 1
  apply                             | immediate delayed manual | Apply policy: when a commit is written to entity and index rows; manual waits for \`inspect release\` | immediate, or as --consistency says
  apply-delay-ms                    | text | Milliseconds from commit to apply, with --apply delayed | random, mostly 100
  indexes                           | auto require | Missing composite index of a query: build it, or refuse the query as in production | auto
  require-indexes                   | switch | The same as --indexes require
  auto-id-policy                    | SEQUENTIAL SCATTERED | Automatic ids of new entities: 1, 2, 3, … over the whole store, or spread over the id space | SEQUENTIAL with --mode legacy, else SCATTERED
  id-collisions                     | next fail | New entity whose automatic id is in use: take the next free id, or fail the commit | next
  ttl                               | list | Kind.property: entities of this kind are deleted after the time in this property; repeatable
  seed                              | text | Seed of all random numbers, a whole number; equal seeds repeat a run | 1
  clock                             | text | Fixed time of the clock, such as 2030-01-01T00:00:00Z, for predictable timestamps | real time
Load limits
  max-connections                   | text | Maximum number of open connections | 10,000, or less if file descriptors are few
  max-calls                         | text | Maximum number of calls under way | 20,000
  max-unread-bytes                  | text | Maximum bytes of answers that clients have not read; above it the slowest connection is closed | 536,870,912
  max-request-bytes                 | text | Maximum bytes of all requests under way | 536,870,912
  max-transactions                  | text | Maximum number of open transactions | 100,000
  max-transaction-bytes             | text | Maximum bytes of keys and key ranges that all open transactions have read | 536,870,912
Simulation
  simulate                          | switch | Capacity of tablet servers and latency of logs: requests wait, and are refused on overload
  simulate-scale                    | text | Number of operations that each real one stands for, with --simulate | 1
  tablet-servers                    | text | Number of tablet servers, with --simulate | 1000
  server-ops                        | text | Row operations a second of one server, with --simulate | 10000
Log
  log-level                         | ${logLevels.join(' ')} | Minimum log level on stderr | warn
  requests                          | switch | The newest 1,000 calls kept from the start on, for \`sixtables requests\`; without it only while it or the console watches
  record                            | text | New file for a recording of all calls, without values (sixtables record)
`)

/**
 * Flags in start scripts for Google's emulators and gcloud that are not ours. The group is the effect here: the same as one of our flags;
 * none, with the reason, so that a script still works; or a refusal, with the alternative.
 *
 * Known: names and meanings (the two emulators' own help, gcloud's reference). Ours: the effect of each.
 */
export const flagsOfOthers: readonly Flag[] = flagTable(`
same
  project-id | text | the same as --project
  firestore-in-datastore-mode | switch | the same as --mode firestore; --consistency then has no effect
  use-firestore-in-datastore-mode | switch | the same as --mode firestore; --consistency then has no effect
  database-mode | text | datastore-mode is always served; other modes are refused
  seed-from-export | text | the same as --import-data
ignored
  allow-remote-shutdown | switch | POST /shutdown always ends the server
  enable-entity-groups | switch | --mode decides how entity groups conflict
  regenerate-indexes | switch | index.yaml keeps what queries needed
  single-project-mode | switch | every project is served
  single-project-mode-error | switch | every project is served
  websocket-port | text | --port is the only port
  webchannel-port | text | --port is the only port
same
  storage-file | text | names the data folder, and takes precedence over a folder without a flag
refused
  allow-reserved-kinds | switch | is not offered: kinds like __this__ are never written, as in production; leave it out
  rules | text | is for Firestore in native mode, which is not served; leave it out
  functions-emulator | text | is for Firestore in native mode, which is not served; leave it out
  licenses | switch | is not offered; each package has its licence in its folder
`)

const hiddenFlags: readonly Flag[] = flagsOfOthers.map((flag) => ({
  ...flag,
  group: 'Known from other emulators',
  hidden: true,
  ...(flag.group === 'refused' ? { refused: flag.describe } : {}),
}))

export const startFlags: readonly Flag[] = [...beforeStore, ...storeFlags, ...behindStore, ...hiddenFlags]
