/** The settings of `sixtables start`: reads flags, checks their combinations, and fills in defaults. Pure, so that each rule has a test. */
import { join, resolve } from 'node:path'
import type { EngineOptions, TtlPolicy } from '@sixtables/engine'
import { ttlPoliciesOf } from '../../../admin/emulator/settings.ts'
import {
  chanceForm,
  clockForm,
  durabilityForm,
  idCollisionsForm,
  indexesForm,
  modeForm,
  seedForm,
} from '../../../emulator/option-forms.ts'
import type { ServeOptions } from '../../../emulator/serve.ts'
import type { AdmissionLimits } from '../../../protocols/admission.ts'
import { isLocalName } from '../../../protocols/guard.ts'
import type { Flags, Io } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { formed, last, list, oneOf, text, wholeNumber } from '../../framework/flag-values.ts'
import { understood } from '../../target/ask.ts'
import { type BigtablePlace, bigtablePlaceOf, isInBigtable } from '../../target/bigtable.ts'
import { defaultEndpoint, type Endpoint, parseEndpoint, parsePort } from '../../target/endpoint.ts'
import { projectOf } from '../../target/places.ts'
import { flagsOfOthers, type LogLevel, logLevels } from './start-flags.ts'

/** Options of the engine and the server as they take them, and what `start` does itself. */
export interface StartSettings
  extends Pick<
      EngineOptions,
      | 'apply'
      | 'durability'
      | 'idCollisions'
      | 'indexes'
      | 'mode'
      | 'openTransactionsMax'
      | 'seed'
      | 'tablets'
      | 'transactionBytesMax'
      | 'ttl'
    >,
    Pick<ServeOptions, 'allowedHosts' | 'allowedOrigins' | 'console' | 'load' | 'project' | 'requests'> {
  /** `undefined`: 127.0.0.1 and ::1. */
  readonly host: string | undefined
  readonly port: number
  /** Absolute path; `undefined` = in memory, or in a Bigtable. */
  readonly dataDir: string | undefined
  readonly bigtable: BigtableSetting | undefined
  /** Absolute path of index.yaml; `false` = none. */
  readonly indexFile: string | false
  /** Whether the file must exist: the user named it, and queries will not create it. */
  readonly needsIndexFile: boolean
  /** Absolute path of a managed export to start with: its metadata file or folder. */
  readonly importData: string | undefined
  /** Absolute path of a folder for an export at the end. */
  readonly exportOnExit: string | undefined
  /** `undefined`: that of the mode. */
  readonly idPolicy: 'storewide' | 'scattered' | undefined
  /** Moment at which the clock stands still, in milliseconds since the epoch; `undefined` = real time. */
  readonly clock: number | undefined
  readonly logLevel: LogLevel
  /** Absolute path of a file for a recording of all calls; `undefined` = none. */
  readonly record: string | undefined
  /** Notes for the user about the settings, one line each. */
  readonly notes: readonly string[]
}

/** @throws UsageError with the flag, its value, and a right one */
export function startSettings(flags: Flags, { cwd, env }: Pick<Io, 'cwd' | 'env'>): StartSettings {
  const notes: string[] = []
  const testing = last(flags['testing']) === true
  const listen = listenOn(flags)
  const bigtable = bigtableOf(flags, env, addressOf(listen).host)
  const place = bigtable === undefined ? storeOf(flags, { cwd, testing }) : { dir: undefined, notes: [] }
  notes.push(...place.notes)
  if (/^[a-z]+:\/\//i.test(env['DATASTORE_EMULATOR_HOST'] ?? '')) {
    notes.push('DATASTORE_EMULATOR_HOST is set with a scheme, on which some clients hang; leave the scheme out')
  }
  const mode = modeOf(flags)
  for (const { name, group, describe } of flagsOfOthers) {
    if (group === 'ignored' && flags[name] !== undefined) notes.push(`--${name} changes nothing here: ${describe}`)
  }
  if (isFirestoreAsked(flags) && flags['consistency'] !== undefined) {
    notes.push('--consistency has no effect: Firestore in Datastore mode is strongly consistent')
  }
  const project = projectOf(flags, env)
  const indexes = indexesOf(flags)
  const index = indexFileOf(flags, { cwd, dir: place.dir, testing })
  if (index.isNamed && flags['project'] === undefined && flags['project-id'] === undefined) {
    notes.push(
      `the indexes of ${index.file} are set up for the project ${project}; --project names another. ` +
        'Queries of other projects have those that they need',
    )
  }
  return {
    ...listen,
    allowedOrigins: list(flags, 'allowed-origin'),
    allowedHosts: list(flags, 'allowed-host'),
    console: last(flags['console']) !== false,
    dataDir: place.dir,
    bigtable,
    durability: formed(flags, 'durability', durabilityForm) ?? 'process',
    project,
    mode,
    apply: applyOf(flags, { isAtOnce: testing || bigtable !== undefined, legacy: mode === 'legacy' }),
    indexes,
    indexFile: index.file,
    needsIndexFile: index.isNamed && !index.isMade && (indexes === 'require' || bigtable !== undefined),
    ...transferOf(flags, cwd),
    idPolicy: idPolicyOf(flags),
    idCollisions: formed(flags, 'id-collisions', idCollisionsForm) ?? 'next',
    ttl: ttlOf(flags),
    seed: formed(flags, 'seed', seedForm) ?? 1,
    clock: formed(flags, 'clock', clockForm),
    load: loadOf(flags),
    openTransactionsMax: wholeNumber(flags, 'max-transactions', 10_000_000),
    transactionBytesMax: wholeNumber(flags, 'max-transaction-bytes', 2 ** 40),
    tablets: tabletsOf(flags),
    logLevel: oneOf(flags, 'log-level', logLevels) ?? 'warn',
    requests: flags['requests'] === true,
    record: pathOf(flags, 'record', cwd),
    notes,
  }
}

export function addressOf({ host, port }: Pick<StartSettings, 'host' | 'port'>): Endpoint {
  return { host: host ?? defaultEndpoint.host, port }
}

function isFirestoreAsked(flags: Flags): boolean {
  return ['firestore-in-datastore-mode', 'use-firestore-in-datastore-mode'].some((name) => last(flags[name]) === true)
}

function modeOf(flags: Flags): StartSettings['mode'] {
  const mode = formed(flags, 'mode', modeForm)
  const databaseMode = text(flags, 'database-mode')
  if (databaseMode !== undefined && databaseMode !== 'datastore-mode') {
    throw new UsageError(`--database-mode is datastore-mode: Datastore is what is served; got "${databaseMode}"`)
  }
  if (mode === 'legacy' && isFirestoreAsked(flags)) {
    throw new UsageError('--mode legacy and Firestore in Datastore mode contradict each other; give one of them')
  }
  return mode ?? 'firestore'
}

function idPolicyOf(flags: Flags): StartSettings['idPolicy'] {
  const policy = text(flags, 'auto-id-policy')
  const name = policy?.toLowerCase()
  if (name === 'sequential') return 'storewide'
  if (name === 'scattered' || name === undefined) return name
  throw new UsageError(`--auto-id-policy is SEQUENTIAL or SCATTERED; got "${policy}"`)
}

function pathOf(flags: Flags, name: string, cwd: string): string | undefined {
  const path = text(flags, name)
  return path === undefined ? undefined : resolve(cwd, path)
}

function transferOf(flags: Flags, cwd: string): Pick<StartSettings, 'importData' | 'exportOnExit'> {
  const [importData, seed] = [pathOf(flags, 'import-data', cwd), pathOf(flags, 'seed-from-export', cwd)]
  if (importData !== undefined && seed !== undefined) {
    throw new UsageError('--import-data and --seed-from-export are the same; give one of them')
  }
  const to = pathOf(flags, 'export-on-exit', cwd)
  const name = text(flags, 'export-name')
  if (name !== undefined && to === undefined) throw new UsageError('--export-name needs --export-on-exit')
  return { importData: importData ?? seed, exportOnExit: to === undefined ? undefined : resolve(to, name ?? '') }
}

function listenOn(flags: Flags): Pick<StartSettings, 'host' | 'port'> {
  const both = text(flags, 'host-port')
  const host = text(flags, 'host')
  const port = text(flags, 'port')
  if (both === undefined) {
    return {
      host: host?.replace(/^\[(.*)\]$/, '$1'),
      port: port === undefined ? defaultEndpoint.port : parsePort(port, '--port'),
    }
  }
  if (host !== undefined || port !== undefined) {
    throw new UsageError('--host-port says both host and port; leave out --host and --port')
  }
  return parseEndpoint(both, '--host-port')
}

/**
 * `--consistency 0.9` applies a commit at once with a chance of 90 %; `--apply` names a policy. Without either the mode decides: strong, or
 * a chance of 0.9 in legacy mode (measured: the default of Google's emulator).
 */
function applyOf(
  flags: Flags,
  { isAtOnce, legacy }: { isAtOnce: boolean; legacy: boolean },
): NonNullable<EngineOptions['apply']> {
  const asked = oneOf(flags, 'apply', ['immediate', 'delayed', 'manual'])
  const chance = isFirestoreAsked(flags) ? undefined : formed(flags, 'consistency', chanceForm)
  const delayMs = wholeNumber(flags, 'apply-delay-ms', 86_400_000)
  if (chance !== undefined && delayMs !== undefined) {
    throw new UsageError('--consistency applies by chance and --apply-delay-ms by time; give one of them')
  }
  if (delayMs !== undefined && asked !== 'delayed') {
    throw new UsageError('--apply-delay-ms needs --apply delayed')
  }
  if (chance === undefined) {
    if (asked === 'delayed') return delayMs === undefined ? { type: 'time' } : { type: 'time', delayMs }
    if (asked !== undefined) return { type: asked }
    return legacy && !isAtOnce ? { type: 'probability', chance: 0.9 } : { type: 'immediate' }
  }
  if (asked !== undefined && asked !== 'delayed') {
    throw new UsageError(`--consistency is a form of --apply delayed; leave out --apply ${asked}`)
  }
  return chance === 1 ? { type: 'immediate' } : { type: 'probability', chance }
}

/** Parses `Session.expireAt`; the kind ends at the first dot. */
function ttlOf(flags: Flags): readonly TtlPolicy[] {
  const policies = list(flags, 'ttl').map((asked): TtlPolicy => {
    const [, kind, property] = /^([^.]+)\.(.+)$/.exec(asked) ?? []
    if (kind !== undefined && property !== undefined) return { kind, property }
    throw new UsageError(`--ttl is written Kind.property, such as Session.expireAt; got "${asked}"`)
  })
  return understood(
    () => ttlPoliciesOf(policies),
    (message) => `--ttl: ${message}`,
  )
}

/** At least 1: a server with a bound of 0 would start, and refuse every call. */
function loadOf(flags: Flags): Partial<AdmissionLimits> {
  const given = {
    connectionsMax: wholeNumber(flags, 'max-connections', 1_000_000, 1),
    callsMax: wholeNumber(flags, 'max-calls', 10_000_000, 1),
    unreadBytesMax: wholeNumber(flags, 'max-unread-bytes', 2 ** 40, 1),
    requestBytesMax: wholeNumber(flags, 'max-request-bytes', 2 ** 40, 1),
  }
  return Object.fromEntries(Object.entries(given).filter(([, limit]) => limit !== undefined))
}

function indexesOf(flags: Flags): StartSettings['indexes'] {
  const asked = formed(flags, 'indexes', indexesForm)
  const required = last(flags['require-indexes'])
  if (required === true && asked === 'auto') {
    throw new UsageError('--require-indexes and --indexes auto contradict each other; give one of them')
  }
  return asked ?? (required === true ? 'require' : 'auto')
}

function tabletsOf(flags: Flags): NonNullable<EngineOptions['tablets']> {
  const simulate = last(flags['simulate']) === true
  const names = { scale: 'simulate-scale', servers: 'tablet-servers', opsPerSecond: 'server-ops' } as const
  const setting: { simulate: boolean; scale?: number; servers?: number; opsPerSecond?: number } = { simulate }
  for (const [key, name] of Object.entries(names) as [keyof typeof names, string][]) {
    const number = wholeNumber(flags, name, key === 'servers' ? 100_000 : 1_000_000_000)
    if (number === undefined) continue
    if (!simulate) throw new UsageError(`--${name} says how to simulate; give --simulate as well`)
    if (number === 0) throw new UsageError(`--${name} must be at least 1; got "0"`)
    setting[key] = number
  }
  return setting
}

/**
 * The place of the data. `--testing` means memory, except with `--store-on-disk` (measured: as in Google's emulator). With `--storage-file`
 * the store is at that path, a folder here, and the data folder contains only index.yaml, as there.
 */
function storeOf(
  flags: Flags,
  { cwd, testing }: { readonly cwd: string; readonly testing: boolean },
): { readonly dir: string | undefined; readonly notes: readonly string[] } {
  const directory = text(flags, 'directory')
  const dataDir = text(flags, 'data-dir')
  const storageFile = text(flags, 'storage-file')
  if (directory !== undefined && dataDir !== undefined) {
    throw new UsageError(`--data-dir and ${directory} both name the folder of the data; give one of them`)
  }
  const folder = dataDir ?? directory
  const asGiven = dataDir === undefined ? directory : `--data-dir ${dataDir}`
  const onDisk = last(flags['store-on-disk']) ?? !testing
  if (onDisk === false) {
    const given = [asGiven, storageFile === undefined ? undefined : `--storage-file ${storageFile}`]
    const unused = given.filter((one): one is string => one !== undefined)
    return { dir: undefined, notes: unused.map((one) => `data is kept in memory, so ${one} is not used`) }
  }
  if (storageFile === undefined) return { dir: resolve(cwd, folder ?? '.sixtables'), notes: [] }
  const dir = resolve(cwd, storageFile)
  const notUsed = asGiven === undefined ? '' : `; ${asGiven} is not used`
  return { dir, notes: [`--storage-file names a folder here: data is kept in ${dir}${notUsed}`] }
}

/**
 * The index file. With a store in memory, or for a test, a file is written only if a flag asks for it.
 *
 * @returns `isMade`: a missing file will be created
 */
function indexFileOf(
  flags: Flags,
  { cwd, dir, testing }: { readonly cwd: string; readonly dir: string | undefined; readonly testing: boolean },
): { readonly file: string | false; readonly isNamed: boolean; readonly isMade: boolean } {
  const named = text(flags, 'index-file')
  const asked = last(flags['store-index-configuration-on-disk'])
  if (named !== undefined && asked === false) {
    throw new UsageError('--index-file names a file that --no-store-index-configuration-on-disk does without; give one')
  }
  const isMade = asked === true
  if (named !== undefined) return { file: resolve(cwd, named), isNamed: true, isMade }
  const isKept = asked ?? !testing
  return { file: isKept !== false && dir !== undefined ? join(dir, 'index.yaml') : false, isNamed: false, isMade }
}

/** A table, and whether a reset may delete its data. */
export interface BigtableSetting extends BigtablePlace {
  readonly allowReset: boolean
}

/** With `--store bigtable`: the table, and the flags that are impossible with a shared store. */
const inTable = 'the data is in Bigtable; --bigtable-table names the table'
const oneProcess = 'the simulation is of one process; leave out --store bigtable for it'
const atOnce =
  'each commit is applied at once, as a gateway that waits may be gone; for queries that lag behind, read with EVENTUAL ' +
  'consistency, or leave out --store bigtable'

const refusedFlags: Readonly<Record<string, string>> = {
  directory: inTable,
  'data-dir': inTable,
  'storage-file': inTable,
  'store-on-disk': inTable,
  testing:
    'tests keep their data in memory; leave out --store bigtable, or name a fresh --bigtable-table of an emulator',
  durability: 'Bigtable keeps each write that it has acknowledged, through power cuts too; leave it out',
  'apply-delay-ms': atOnce,
  simulate: oneProcess,
  'simulate-scale': oneProcess,
  'tablet-servers': oneProcess,
  'server-ops': oneProcess,
  clock:
    'gateways of one table share a clock row, which follows real time; leave out --store bigtable for a fixed clock',
  'store-index-configuration-on-disk':
    'index.yaml is read (--index-file) and not written, as several gateways would; `sixtables indexes create` makes an index',
  'max-transactions': 'transactions are rows of the table and are not counted; --max-calls bounds calls under way',
  'max-transaction-bytes':
    'what transactions have read is in rows of the table and is not counted; --max-calls bounds calls under way',
}

/** The table; `undefined` if the data is on this machine. @param host - the server's host. @throws UsageError for flags that contradict it */
export function bigtableOf(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
  host: string,
): BigtableSetting | undefined {
  if (!isInBigtable(flags, ['yes-without-authentication', 'allow-reset'])) return undefined
  for (const [name, words] of Object.entries(refusedFlags)) {
    const value = last(flags[name])
    if (name === 'store-on-disk' && value === false) {
      throw new UsageError(
        '--no-store-on-disk does not go with --store bigtable: the data is in Bigtable; for data in memory leave out --store bigtable',
      )
    }
    if (value === undefined || value === false) continue
    throw new UsageError(`${name === 'directory' ? value : `--${name}`} does not go with --store bigtable: ${words}`)
  }
  const apply = last(flags['apply']) ?? 'immediate'
  if (apply !== 'immediate') throw new UsageError(`--apply ${apply} does not go with --store bigtable: ${atOnce}`)
  const consistency = last(flags['consistency']) ?? '1'
  if (Number(consistency) !== 1) {
    throw new UsageError(`--consistency ${consistency} does not go with --store bigtable: ${atOnce}`)
  }
  const place = bigtablePlaceOf(flags, env)
  checkReach(flags, place, host)
  return { ...place, allowReset: place.emulator !== undefined || last(flags['allow-reset']) === true }
}

/** Refuses a public host: every program that reaches the port would have the gateway's rights on the table. */
function checkReach(flags: Flags, { emulator }: BigtablePlace, host: string): void {
  if (emulator !== undefined || isLocalName(host) || last(flags['yes-without-authentication']) === true) return
  throw new UsageError(
    `--host ${host} lets every program that reaches it read and write the table with this gateway's rights, as the API has no ` +
      'authentication here; put an authenticating proxy before it and give --yes-without-authentication, or leave out --host',
  )
}
