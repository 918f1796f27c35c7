/**
 * The settings of one database, which can change while the server runs and last until it ends. Those of all databases are flags of `sixtables
 * start`; /v1/config changes some of them for all databases.
 *
 *   GET    /emulator/v1/projects/{p}/databases/{d}/settings
 *          {"mode": "firestore" | "legacy",
 *           "concurrencyMode": "PESSIMISTIC" | "OPTIMISTIC" | "OPTIMISTIC_WITH_ENTITY_GROUPS",
 *           "jobPolicy": {…}, "idAllocationPolicy": {…}           as in /v1/config (config.ts)
 *           "indexes": "auto" | "require", "idCollisions": "next" | "fail",
 *           "lockTimeoutMs": 2000, "entityGroupsMax": 25 | null,
 *           "ttl": [{"kind": "Session", "property": "expireAt"}]}
 *   PATCH  the same path; replaces the members that it contains, and answers with all
 *
 * A patch with a mode first sets concurrency, applying, ids and entity groups to the presets of that mode, then the other members. How a
 * database's entities are indexed is fixed by its mode at the first write.
 */
import {
  type Database,
  type DatabaseSettings,
  type Engine,
  invalidArgument,
  modeSettings,
  type TtlPolicy,
} from '@sixtables/engine'
import type { Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { namedDatabase } from '../named-database.ts'
import { applyPolicyOf, configOf, idPolicyOf, objectIn, refuseUnknown, wrong } from './config.ts'

const path = '/emulator/v1/projects/{project}/databases/{database}/settings'

export const concurrencyModes: Readonly<Record<DatabaseSettings['concurrency'], string>> = {
  pessimistic: 'PESSIMISTIC',
  optimistic: 'OPTIMISTIC',
  optimisticWithEntityGroups: 'OPTIMISTIC_WITH_ENTITY_GROUPS',
}

export function addDatabaseSettingsRoutes(router: Router, engine: Engine): void {
  router.add('GET', path, (request) => ({ json: settingsJson(engine, namedDatabase(engine, request.parameters)) }))
  router.add('PATCH', path, (request) => {
    const database = namedDatabase(engine, request.parameters)
    patch(engine, database, bodyObject(request.body))
    return { json: settingsJson(engine, database) }
  })
}
export function settingsJson({ seed }: Pick<Engine, 'seed'>, { settings }: Pick<Database, 'settings'>): JsonObject {
  return {
    mode: settings.mode,
    concurrencyMode: concurrencyModes[settings.concurrency],
    ...configOf({ settings, seed }),
    indexes: settings.indexes,
    idCollisions: settings.idCollisions,
    lockTimeoutMs: settings.lockTimeoutMs,
    entityGroupsMax: settings.entityGroupsMax ?? null,
    ttl: settings.ttlPolicies,
  }
}

/** Readers of the members of a patch; the mode is first. */
const readers: Readonly<Record<string, (value: unknown) => Partial<DatabaseSettings>>> = {
  mode: (value) => modeSettings(choice('mode', value, ['firestore', 'legacy'])),
  concurrencyMode: (value) => ({ concurrency: concurrencyOf(value) }),
  jobPolicy: (value) => ({ applyPolicy: applyPolicyOf(objectIn('jobPolicy', value)).applyPolicy }),
  idAllocationPolicy: (value) => ({ idPolicy: idPolicyOf(objectIn('idAllocationPolicy', value)) }),
  indexes: (value) => ({ indexes: choice('indexes', value, ['auto', 'require']) }),
  idCollisions: (value) => ({ idCollisions: choice('idCollisions', value, ['next', 'fail']) }),
  lockTimeoutMs: (value) => ({ lockTimeoutMs: whole('lockTimeoutMs', value, 0, 86_400_000) }),
  entityGroupsMax: (value) => ({
    entityGroupsMax: value === null ? undefined : whole('entityGroupsMax', value, 1, Number.MAX_SAFE_INTEGER),
  }),
  ttl: (value) => ({ ttlPolicies: ttlOf(value) }),
}

/** Checks the whole patch before it changes anything. */
function patch(engine: Engine, database: Database, asked: JsonObject): void {
  for (const name of Object.keys(asked)) {
    if (!Object.hasOwn(readers, name)) {
      throw invalidArgument(`a database has no setting "${name}"; there is ${Object.keys(readers).join(', ')}`)
    }
  }
  const changed = Object.entries(readers)
    .filter(([name]) => asked[name] !== undefined)
    .map(([name, read]) => read(asked[name]))
  // The engine draws for all databases together, so a seed restarts the draws of all.
  const seed = asked['jobPolicy'] === undefined ? undefined : applyPolicyOf(objectIn('', asked['jobPolicy'])).seed
  if (seed !== undefined) engine.reseed(seed)
  database.configure(Object.assign({}, ...changed))
}

export function concurrencyOf(value: unknown): DatabaseSettings['concurrency'] {
  for (const [ours, theirs] of Object.entries(concurrencyModes)) {
    if (value === theirs) return ours as DatabaseSettings['concurrency']
  }
  throw wrong('concurrencyMode', value, `one of ${Object.values(concurrencyModes).join(', ')}`)
}

function choice<const T extends string>(name: string, value: unknown, choices: readonly T[]): T {
  const found = choices.find((one) => one === value)
  if (found === undefined) throw wrong(name, value, `one of ${choices.join(', ')}`)
  return found
}

function whole(name: string, value: unknown, least: number, greatest: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= greatest) return Number(value)
  throw wrong(name, value, `a whole number from ${least} to ${greatest}`)
}

function ttlOf(value: unknown): readonly TtlPolicy[] {
  if (!Array.isArray(value)) throw wrong('ttl', value, 'a list of {"kind", "property"}')
  const policies = value.map((one, i): TtlPolicy => {
    const { kind, property, ...others } = objectIn(`ttl[${i}]`, one)
    refuseUnknown(others, `ttl[${i}]`)
    if (typeof kind !== 'string' || kind === '') throw wrong(`ttl[${i}].kind`, kind, 'the name of a kind')
    if (typeof property !== 'string' || property === '') throw wrong(`ttl[${i}].property`, property, 'a property')
    return { kind, property }
  })
  const kinds = new Set<string>()
  for (const { kind } of policies) {
    if (kinds.has(kind))
      throw invalidArgument(`the kind ${kind} has two TTL policies; one property of a kind holds the expiry`)
    kinds.add(kind)
  }
  return policies
}
