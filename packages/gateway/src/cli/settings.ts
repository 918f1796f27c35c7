/**
 * What `sixtables start` was asked for, settled: flags read, checked against each other, defaults filled in. Pure, so that
 * each rule has a test.
 */
import { join, resolve } from 'node:path'
import type { Flags } from './command.ts'
import { defaultEndpoint, type Endpoint, parseEndpoint, parsePort } from './endpoint.ts'
import { UsageError } from './errors.ts'
import { type LogLevel, logLevels } from './logger.ts'
import { ignoredFlags } from './start-flags.ts'

/** When commits are applied; the engine's ApplyPolicy as data. */
export type ApplySetting =
  | { readonly type: 'immediate' }
  | { readonly type: 'probability'; readonly chance: number }
  | { readonly type: 'time'; readonly delayMs?: number }
  | { readonly type: 'manual' }

/** Entities of a kind that go after the timestamp in a property; the engine's TtlPolicy as data. */
export interface TtlSetting {
  readonly kind: string
  readonly property: string
}

export interface StartSettings {
  /** `undefined`: this machine alone, by IPv4 and IPv6. */
  readonly host: string | undefined
  readonly port: number
  readonly allowedOrigins: readonly string[]
  readonly allowedHosts: readonly string[]
  /** Absolute; `undefined` = in memory. */
  readonly dataDir: string | undefined
  readonly durability: 'process' | 'power'
  readonly project: string
  readonly mode: 'firestore' | 'legacy'
  readonly apply: ApplySetting
  /** What is done about a composite index that a query lacks. */
  readonly indexes: 'auto' | 'require'
  /** index.yaml, absolute; `false` = none. */
  readonly indexFile: string | false
  /** What becomes of a new entity whose automatic id is in use. */
  readonly idCollisions: 'next' | 'fail'
  /** What expires, in every database. */
  readonly ttl: readonly TtlSetting[]
  readonly seed: number
  readonly logLevel: LogLevel
  /** Things the user should know about what was asked; one line each. */
  readonly notes: readonly string[]
}

export interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export const defaultProject = 'demo'

/** @throws UsageError that names the flag, what was given, and what would be right */
export function startSettings(flags: Flags, { cwd, env }: Surroundings): StartSettings {
  const notes: string[] = []
  const testing = last(flags['testing']) === true
  const onDisk = !testing && last(flags['store-on-disk']) !== false
  const dataDir = text(flags, 'data-dir')
  if (!onDisk && dataDir !== undefined) {
    notes.push(`data is kept in memory, so --data-dir ${dataDir} is not used`)
  }
  if (/^[a-z]+:\/\//i.test(env['DATASTORE_EMULATOR_HOST'] ?? '')) {
    notes.push('DATASTORE_EMULATOR_HOST is set with a scheme, on which some clients hang; leave the scheme out')
  }
  const mode = oneOf(flags, 'mode', ['firestore', 'legacy']) ?? 'firestore'
  for (const name of ignoredFlags) {
    if (flags[name] !== undefined) notes.push(`--${name} is known from other emulators and changes nothing here`)
  }
  const dir = onDisk ? resolve(cwd, dataDir ?? join(cwd, '.sixtables')) : undefined
  return {
    ...listenOn(flags),
    allowedOrigins: list(flags, 'allowed-origin'),
    allowedHosts: list(flags, 'allowed-host'),
    dataDir: dir,
    durability: oneOf(flags, 'durability', ['process', 'power']) ?? 'process',
    project: projectOf(flags, env),
    mode,
    apply: applyOf(flags, { testing, legacy: mode === 'legacy' }),
    indexes: indexesOf(flags),
    indexFile: indexFileOf(flags, { cwd, dir }),
    idCollisions: oneOf(flags, 'id-collisions', ['next', 'fail']) ?? 'next',
    ttl: ttlOf(flags),
    seed: wholeNumber(flags, 'seed', 0xffff_ffff) ?? 1,
    logLevel: oneOf(flags, 'log-level', logLevels) ?? 'warn',
    notes,
  }
}

/** The project of `--project`, else of DATASTORE_PROJECT_ID, else the default. */
export function projectOf(flags: Flags, env: Surroundings['env']): string {
  return text(flags, 'project') ?? (env['DATASTORE_PROJECT_ID'] || defaultProject)
}

/** The database of `--database`; empty for the default one. */
export function databaseOf(flags: Flags): string {
  const database = String(last(flags['database']) ?? '')
  return database === '(default)' ? '' : database
}

/** The address that is asked for, as it is spoken of. */
export function addressOf({ host, port }: Pick<StartSettings, 'host' | 'port'>): Endpoint {
  return { host: host ?? defaultEndpoint.host, port }
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
 * `--consistency F` is short for applying by chance; `--apply` says it outright. Without either the mode decides: strong,
 * or a chance of 0.9 in legacy mode (measured: the default of Google's emulator).
 */
function applyOf(flags: Flags, { testing, legacy }: { testing: boolean; legacy: boolean }): ApplySetting {
  const asked = oneOf(flags, 'apply', ['immediate', 'delayed', 'manual'])
  const consistency = text(flags, 'consistency')
  const delayMs = wholeNumber(flags, 'apply-delay-ms', 86_400_000)
  if (consistency !== undefined && delayMs !== undefined) {
    throw new UsageError('--consistency applies by chance and --apply-delay-ms by time; give one of them')
  }
  if (delayMs !== undefined && asked !== 'delayed') {
    throw new UsageError('--apply-delay-ms needs --apply delayed')
  }
  if (consistency === undefined) {
    if (asked === 'delayed') return delayMs === undefined ? { type: 'time' } : { type: 'time', delayMs }
    if (asked !== undefined) return { type: asked }
    return legacy && !testing ? { type: 'probability', chance: 0.9 } : { type: 'immediate' }
  }
  const chance = /^(\d+\.?\d*|\.\d+)$/.test(consistency) ? Number(consistency) : Number.NaN
  if (!(chance >= 0 && chance <= 1)) {
    throw new UsageError(`--consistency must be a number from 0 to 1; got "${consistency}"`)
  }
  if (asked !== undefined && asked !== 'delayed') {
    throw new UsageError(`--consistency is a form of --apply delayed; leave out --apply ${asked}`)
  }
  return chance === 1 ? { type: 'immediate' } : { type: 'probability', chance }
}

/** `Session.expireAt`: the kind ends at the first dot. */
function ttlOf(flags: Flags): readonly TtlSetting[] {
  const policies = list(flags, 'ttl').map((asked): TtlSetting => {
    const [, kind, property] = /^([^.]+)\.(.+)$/.exec(asked) ?? []
    if (kind !== undefined && property !== undefined) return { kind, property }
    throw new UsageError(`--ttl is written Kind.property, such as Session.expireAt; got "${asked}"`)
  })
  for (const [i, { kind }] of policies.entries()) {
    if (policies.findIndex((other) => other.kind === kind) !== i) {
      throw new UsageError(`--ttl names two properties of ${kind}; one property of a kind holds the expiry`)
    }
  }
  return policies
}

function indexesOf(flags: Flags): StartSettings['indexes'] {
  const asked = oneOf(flags, 'indexes', ['auto', 'require'])
  const required = last(flags['require-indexes'])
  if (required === true && asked === 'auto') {
    throw new UsageError('--require-indexes and --indexes auto contradict each other; give one of them')
  }
  return asked ?? (required === true ? 'require' : 'auto')
}

/** Nothing is written beside a store in memory, unless a file is named. */
function indexFileOf(
  flags: Flags,
  { cwd, dir }: { readonly cwd: string; readonly dir: string | undefined },
): string | false {
  const named = text(flags, 'index-file')
  const isKept = last(flags['store-index-configuration-on-disk']) !== false
  if (named !== undefined && !isKept) {
    throw new UsageError('--index-file names a file that --no-store-index-configuration-on-disk does without; give one')
  }
  if (named !== undefined) return resolve(cwd, named)
  return isKept && dir !== undefined ? join(dir, 'index.yaml') : false
}

function last(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : value
}

/** The last value of a flag. @throws UsageError when the flag has none */
export function text(flags: Flags, name: string): string | undefined {
  const value = last(flags[name])
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw new UsageError(`--${name} needs a value`)
}

function list(flags: Flags, name: string): readonly string[] {
  const value = flags[name] ?? []
  const values = Array.isArray(value) ? value : [value]
  return values.map((one) => {
    if (typeof one === 'string' && one !== '') return one
    throw new UsageError(`--${name} needs a value`)
  })
}

/** @throws UsageError when the value is none of the choices */
export function oneOf<const T extends string>(flags: Flags, name: string, choices: readonly T[]): T | undefined {
  const value = text(flags, name)
  if (value === undefined) return undefined
  const found = choices.find((choice) => choice === value)
  if (found === undefined) throw new UsageError(`--${name} is one of ${choices.join(', ')}; got "${value}"`)
  return found
}

function wholeNumber(flags: Flags, name: string, greatest: number): number | undefined {
  const value = text(flags, name)
  if (value === undefined) return undefined
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (!(number <= greatest)) {
    throw new UsageError(`--${name} must be a whole number from 0 to ${greatest}; got "${value}"`)
  }
  return number
}
