/**
 * The emulator inside a program, for test suites that start one for each file or test.
 *
 *   const emulator = await startEmulator()
 *   Object.assign(process.env, emulator.env())      any client library finds it by these variables
 *   …
 *   await emulator.close()                          or `await using emulator = …`
 *
 * By default it is in memory and on a free port, and writes nothing to disk. Two emulators share nothing.
 *
 * E1  After close() nothing is left in the process: no port, no timer, no store.       test/contract/emulator-cycles.test.ts
 */

import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import {
  type Engine,
  type EngineOptions,
  type EngineSnapshot,
  type Inspector,
  invalidArgument,
  openEngine,
} from '@sixtables/engine'
import { ttlPoliciesOf } from '../admin/emulator/settings.ts'
import { type EmulatorClock, movableClock } from '../controls/emulator-clock.ts'
import type { Faults } from '../controls/faults.ts'
import { databaseIdOf } from '../convert/parameters.ts'
import type { ResetScope } from '../engine-port.ts'
import { type Fixture, fixtureOf } from '../fixtures/fixture.ts'
import { loadFixture } from '../fixtures/fixture-file.ts'
import type { FixtureData, PlainEntity } from '../fixtures/plain-entities.ts'
import { type SeedReport, seedDatabase } from '../fixtures/seed.ts'
import { failureLog, type Logger, silentLogger } from '../logger.ts'
import { listenTrouble } from './listen-trouble.ts'
import {
  applyForm,
  clockForm,
  durabilityForm,
  type Form,
  idCollisionsForm,
  indexesForm,
  modeForm,
  optionsForm,
  portForm,
  projectForm,
  seedForm,
} from './option-forms.ts'
import { indexFileTrouble, type Served, serve } from './serve.ts'
import type { GatewayOptions } from './server.ts'
import { codeOf } from './server-file.ts'
import { formatEndpoint, projectDefault, variablesOf } from './variables.ts'

export interface EmulatorOptions
  extends Pick<
      EngineOptions,
      'dir' | 'mode' | 'ttl' | 'indexes' | 'indexFile' | 'apply' | 'idCollisions' | 'durability' | 'seed' | 'retention'
    >,
    Pick<GatewayOptions, 'host' | 'port' | 'allowedOrigins' | 'allowedHosts'> {
  /**
   * A moment at which the clock stands still, such as `2030-01-01T00:00:00Z`: commits have versions one microsecond apart from there on. A
   * sleep moves the clock by its length: a lock's timeout, a delayed apply.
   */
  readonly clock?: string | Date | undefined
  /** Whether the newest 1,000 calls are kept from the start, for GET /emulator/requests; by default only while a reader watches. */
  readonly requests?: boolean | undefined
  /** The project in env(); default `demo`. Other projects work too, without creation. */
  readonly project?: string | undefined
  /** Default: silent. */
  readonly logger?: Logger | undefined
}

export interface Emulator {
  /** Default `127.0.0.1`. */
  readonly host: string
  readonly port: number
  /** `host:port`, the value of DATASTORE_EMULATOR_HOST. */
  readonly address: string
  readonly project: string
  readonly engine: Engine
  /** The rows of tables and logs, and the release of held records. */
  readonly inspector: Inspector
  /** The clock, which can be moved forward. */
  readonly clock: EmulatorClock
  /** Errors and delays on demand. */
  readonly faults: Faults
  /** The environment variables that client libraries read. @param project - default: {@link project} */
  env(project?: string): Record<string, string>
  /** Deletes all data, or that of a project, a database or a namespace. Faults and clock stay the same. */
  reset(scope?: ResetScope): Promise<void>
  /** Keeps the current data for {@link restore}. In memory only; costs next to nothing. */
  snapshot(): Promise<EngineSnapshot>
  /** Replaces all data by that of the snapshot, which can be restored many times. Open transactions end. */
  restore(snapshot: EngineSnapshot): Promise<void>
  /**
   * Writes entities: those of a fixture, of a file (.json, .yaml, .csv), or plain ones such as
   * `[{ key: 'ToDo:1', properties: { done: false } }]`. All are checked before the first is written.
   *
   * @param where - default: the default database of {@link project}
   * @throws FixtureError with file, line, entity and property
   */
  seed(fixture: Seed, where?: SeedPlace): Promise<SeedReport>
  /** Stops listening, waits for running calls, and closes the store. A second call waits for the first. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type Seed = Fixture | string | URL | FixtureData | readonly PlainEntity[]

export interface SeedPlace {
  readonly project?: string | undefined
  readonly database?: string | undefined
}

/** All options. The type requires a new option to be added here. */
const optionNames: Readonly<Record<keyof EmulatorOptions, true>> = {
  allowedHosts: true,
  allowedOrigins: true,
  apply: true,
  clock: true,
  dir: true,
  durability: true,
  host: true,
  idCollisions: true,
  indexes: true,
  indexFile: true,
  logger: true,
  mode: true,
  port: true,
  project: true,
  requests: true,
  retention: true,
  seed: true,
  ttl: true,
}

function checkOptions(options: EmulatorOptions): void {
  formed('startEmulator()', optionsForm, options)
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name))
  if (unknown !== undefined) {
    throw invalidArgument(`startEmulator() has no option "${unknown}"; there is ${Object.keys(optionNames).join(', ')}`)
  }
  const { ttl = [], indexes, indexFile, dir, logger = silentLogger } = options
  ttlPoliciesOf(ttl)
  if (typeof indexFile !== 'string') return
  const trouble = indexFileTrouble(indexFile, { name: 'indexFile', mustExist: indexes === 'require', dir }, logger)
  if (trouble !== undefined) throw invalidArgument(trouble)
}

/** @throws INVALID_ARGUMENT for a value of another form */
function formed<T>(name: string, { words, read }: Form<T>, value: unknown): T | undefined {
  const found = value === undefined ? undefined : read(value)
  if (value === undefined || found !== undefined) return found
  const got =
    typeof value === 'string' ? JSON.stringify(value) : inspect(value, { breakLength: Number.POSITIVE_INFINITY })
  throw invalidArgument(`${name} ${words}; got ${got}`)
}

/**
 * Starts an emulator in this process, within milliseconds.
 *
 * @throws INVALID_ARGUMENT for an unknown option or a wrong value; an error with the system's
 *   code (EADDRINUSE, …) for an address that is not available
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkOptions(options)
  const { dir, logger = silentLogger } = options
  const project = formed('project', projectForm, options.project) ?? projectDefault
  const port = formed('port', portForm, options.port) ?? 0
  const scheduler = movableClock(formed('clock', clockForm, options.clock))
  const engine = await openEngine({
    ...options,
    mode: formed('mode', modeForm, options.mode),
    apply: formed('apply', applyForm, options.apply),
    indexes: formed('indexes', indexesForm, options.indexes),
    idCollisions: formed('idCollisions', idCollisionsForm, options.idCollisions),
    durability: formed('durability', durabilityForm, options.durability),
    seed: formed('seed', seedForm, options.seed),
    indexFile: options.indexFile ?? (dir === undefined ? false : undefined),
    scheduler,
    onIndexFileTrouble: (trouble) => logger.warn(trouble),
    onBackgroundFailure: failureLog(logger),
  })
  try {
    const { host, allowedOrigins, allowedHosts, requests } = options
    const network = { host, port, allowedOrigins, allowedHosts }
    return emulatorOf(engine, project, await serve({ ...network, engine, scheduler, dir, project, logger, requests }))
  } catch (error) {
    await engine.close()
    const { host = '127.0.0.1' } = options
    const trouble = await listenTrouble(error, { host, port }, { port: 'port', host: "host: '127.0.0.1'" })
    throw trouble === undefined ? error : Object.assign(new Error(trouble, { cause: error }), { code: codeOf(error) })
  }
}

function emulatorOf(engine: Engine, project: string, served: Served): Emulator {
  const { clock, faults, gateway } = served
  const { host, port } = gateway
  const address = formatEndpoint(gateway)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= served
      .close()
      .finally(() => engine.close())
      .finally(() => clock.end())
    return closing
  }
  return {
    host,
    port,
    address,
    project,
    engine,
    inspector: engine.inspector,
    clock,
    faults,
    env: (named = project) => ({ ...variablesOf(address, named) }),
    reset: (scope = {}) => engine.reset(scope),
    snapshot: () => engine.snapshot(),
    restore: (snapshot) => engine.restore(snapshot),
    async seed(fixture, where = {}) {
      const database = engine.database(where.project ?? project, databaseIdOf(where.database ?? ''))
      return await seedDatabase(database, await fixtureFrom(fixture))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function fixtureFrom(seed: Seed): Promise<Fixture> {
  if (typeof seed === 'string') return await loadFixture(seed)
  if (seed instanceof URL) return await loadFixture(fileURLToPath(seed))
  // FixtureData has a list of entities; a fixture has a function that makes them for a database.
  return 'entities' in seed && typeof seed.entities === 'function' ? (seed as Fixture) : fixtureOf(seed as FixtureData)
}
