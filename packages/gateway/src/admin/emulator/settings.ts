/**
 * The settings of databases, which can change while the server runs and last until it ends.
 *
 *   GET    /v1/config    {"jobPolicy": {"forceStrongConsistency": true}
 *                                    | {"probabilityJobPolicy": {"randomSeed": "7", "unappliedJobPercentage": 10}}
 *                                    | {"timeJobPolicy": {"delayMs": 50}} | {"manualJobPolicy": true},
 *                         "idAllocationPolicy": {"policy": "SEQUENTIAL" | "SCATTERED"}}
 *   PATCH  /v1/config    replaces the members that it contains, and answers with all
 *
 * These are the policies of the legacy emulator, which App Engine's testbed changes between tests: of all databases, including those that are
 * created later. An unappliedJobPercentage of 10 means that a commit is applied with a chance of 90 %. A patch with a percentage restarts the
 * draws, from its seed or one of the clock.
 *
 *   GET, PATCH   /emulator/v1/projects/{p}/databases/{d}/settings     all settings of one database, in the same way; without a seed
 *                                                                     the draws go on
 *
 * A patch with a mode first sets concurrency, applying, ids and entity groups to the presets of that mode, then the other members. How a
 * database's entities are indexed is fixed by its mode at the first write.
 *
 * Measured: path and members of /v1/config, and that equal seeds and calls give equal visibility, on Google's legacy emulator. Ours: the
 * policies by time and by hand, which it does not have.
 */
import {
  type ApplyPolicy,
  type Database,
  type DatabaseSettings,
  type DatastoreError,
  type Engine,
  type IdPolicy,
  invalidArgument,
  modeSettings,
  type TtlPolicy,
} from '@sixtables/engine'
import type { Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { namedDatabase } from '../named-database.ts'

const configPath = '/v1/config'
const settingsPath = '/emulator/v1/projects/{project}/databases/{database}/settings'

/** SEQUENTIAL counts over the whole store (measured). The engine can also count by kind and parent. */
const idPolicies: Readonly<Record<IdPolicy, string>> = {
  storewide: 'SEQUENTIAL',
  sequential: 'SEQUENTIAL',
  scattered: 'SCATTERED',
}

export const concurrencyModes: Readonly<Record<DatabaseSettings['concurrency'], string>> = {
  pessimistic: 'PESSIMISTIC',
  optimistic: 'OPTIMISTIC',
  optimisticWithEntityGroups: 'OPTIMISTIC_WITH_ENTITY_GROUPS',
}

export function addSettingsRoutes(router: Router, engine: Engine): void {
  router.add('GET', configPath, () => ({ json: configOf(engine) }))
  router.add('PATCH', configPath, ({ body }) => {
    patchAll(engine, bodyObject(body))
    return { json: configOf(engine) }
  })
  router.add('GET', settingsPath, ({ parameters }) => ({
    json: settingsJson(engine, namedDatabase(engine, parameters)),
  }))
  router.add('PATCH', settingsPath, ({ parameters, body }) => {
    const database = namedDatabase(engine, parameters)
    patchOne(engine, database, bodyObject(body))
    return { json: settingsJson(engine, database) }
  })
}

/** The policies of an engine or of one of its databases. @param seed - that of the engine */
function configOf({ settings, seed }: Pick<Engine, 'seed' | 'settings'>): JsonObject {
  return {
    jobPolicy: jobPolicyOf(settings.applyPolicy, seed),
    idAllocationPolicy: { policy: idPolicies[settings.idPolicy] },
  }
}

function jobPolicyOf(policy: ApplyPolicy, seed: bigint): JsonObject {
  switch (policy.type) {
    case 'immediate':
      return { forceStrongConsistency: true }
    case 'probability': {
      // 1 − 0.9 is 0.09999999999999998: rounding gives back the percentage that was set.
      const unappliedJobPercentage = Math.round((1 - policy.chance) * 1e6) / 1e4
      return { probabilityJobPolicy: { randomSeed: seed.toString(), unappliedJobPercentage } }
    }
    case 'time':
      return { timeJobPolicy: policy.delayMs === undefined ? {} : { delayMs: policy.delayMs } }
    case 'manual':
      return { manualJobPolicy: true }
  }
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

function patchAll(engine: Engine, asked: JsonObject): void {
  const { jobPolicy, idAllocationPolicy, ...others } = asked
  refuseUnknown(others, 'the configuration')
  const { seed, ...changed } = changesOf({ jobPolicy, idAllocationPolicy })
  if (changed.applyPolicy?.type === 'probability') engine.reseed(seed ?? engine.context().clock.nowMicros())
  engine.configure(changed)
}

/** Settings that a patch asks for, and the seed that restarts the draws. */
type Changes = Partial<DatabaseSettings> & { readonly seed?: bigint }

/** By member of a patch; the mode is first, because the others replace its presets. */
const readers: Readonly<Record<string, (value: unknown) => Changes>> = {
  mode: (value) => modeSettings(choice('mode', value, ['firestore', 'legacy'])),
  concurrencyMode: (value) => ({ concurrency: concurrencyOf(value) }),
  jobPolicy: (value) => applyPolicyOf(objectIn('jobPolicy', value)),
  idAllocationPolicy: (value) => ({ idPolicy: idPolicyOf(objectIn('idAllocationPolicy', value)) }),
  indexes: (value) => ({ indexes: choice('indexes', value, ['auto', 'require']) }),
  idCollisions: (value) => ({ idCollisions: choice('idCollisions', value, ['next', 'fail']) }),
  lockTimeoutMs: (value) => ({ lockTimeoutMs: whole('lockTimeoutMs', value, 0, 86_400_000) }),
  entityGroupsMax: (value) => ({
    entityGroupsMax: value === null ? undefined : whole('entityGroupsMax', value, 1, Number.MAX_SAFE_INTEGER),
  }),
  ttl: (value) => ({ ttlPolicies: ttlPoliciesOf(value) }),
}

/** Reads a whole patch, before anything is changed. */
function changesOf(asked: JsonObject): Changes {
  const changes = Object.entries(readers)
    .filter(([name]) => asked[name] !== undefined)
    .map(([name, read]) => read(asked[name]))
  return Object.assign({}, ...changes)
}

function patchOne(engine: Engine, database: Database, asked: JsonObject): void {
  for (const name of Object.keys(asked)) {
    if (!Object.hasOwn(readers, name)) {
      throw invalidArgument(`a database has no setting "${name}"; there is ${Object.keys(readers).join(', ')}`)
    }
  }
  const { seed, ...changed } = changesOf(asked)
  // The engine draws for all databases together, so a seed restarts the draws of all.
  if (seed !== undefined) engine.reseed(seed)
  database.configure(changed)
}

export function concurrencyOf(value: unknown): DatabaseSettings['concurrency'] {
  const found = ourName(concurrencyModes, value)
  if (found !== undefined) return found
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

/** @throws INVALID_ARGUMENT, also for two policies of a kind */
export function ttlPoliciesOf(value: unknown): readonly TtlPolicy[] {
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

function idPolicyOf({ policy, ...others }: JsonObject): IdPolicy {
  refuseUnknown(others, 'idAllocationPolicy')
  const found = ourName(idPolicies, policy)
  if (found !== undefined) return found
  throw wrong('idAllocationPolicy.policy', policy, 'SEQUENTIAL or SCATTERED')
}

function applyPolicyOf(job: JsonObject): { readonly applyPolicy: ApplyPolicy; readonly seed?: bigint } {
  const names = Object.keys(job)
  const [name] = names
  if (name === undefined || names.length > 1) {
    throw invalidArgument(`jobPolicy has ${names.length} members; it has one, such as forceStrongConsistency`)
  }
  const value = job[name]
  switch (name) {
    case 'forceStrongConsistency':
    case 'manualJobPolicy':
      if (value !== true) throw wrong(`jobPolicy.${name}`, value, 'true; name another policy instead')
      return { applyPolicy: { type: name === 'manualJobPolicy' ? 'manual' : 'immediate' } }
    case 'probabilityJobPolicy':
      return probabilityOf(objectIn('jobPolicy.probabilityJobPolicy', value))
    case 'timeJobPolicy': {
      const { delayMs, ...others } = objectIn('jobPolicy.timeJobPolicy', value)
      refuseUnknown(others, 'timeJobPolicy')
      if (delayMs === undefined) return { applyPolicy: { type: 'time' } }
      if (typeof delayMs !== 'number' || !(delayMs >= 0)) throw wrong('delayMs', delayMs, 'a number of milliseconds')
      return { applyPolicy: { type: 'time', delayMs } }
    }
    default:
      throw invalidArgument(
        `there is no job policy "${name}"; there is forceStrongConsistency, probabilityJobPolicy, timeJobPolicy, manualJobPolicy`,
      )
  }
}

function probabilityOf(policy: JsonObject): { readonly applyPolicy: ApplyPolicy; readonly seed?: bigint } {
  const { randomSeed, unappliedJobPercentage = 0, ...others } = policy
  refuseUnknown(others, 'probabilityJobPolicy')
  if (typeof unappliedJobPercentage !== 'number' || !(unappliedJobPercentage >= 0 && unappliedJobPercentage <= 100)) {
    throw wrong('unappliedJobPercentage', unappliedJobPercentage, 'a number from 0 to 100')
  }
  const applyPolicy: ApplyPolicy = { type: 'probability', chance: 1 - unappliedJobPercentage / 100 }
  if (randomSeed === undefined) return { applyPolicy }
  if (!/^-?\d{1,19}$/.test(String(randomSeed))) throw wrong('randomSeed', randomSeed, 'a whole number')
  return { applyPolicy, seed: BigInt(randomSeed as string | number) }
}

function objectIn(name: string, value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw wrong(name, value, 'an object')
}

function refuseUnknown(others: JsonObject, where: string): void {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalidArgument(`${where} has no member "${unknown}"`)
}

function wrong(name: string, value: unknown, right: string): DatastoreError {
  return invalidArgument(`${name} is ${value === undefined ? 'missing' : JSON.stringify(value)}; it must be ${right}`)
}

function ourName<Name extends string>(names: Readonly<Record<Name, string>>, theirs: unknown): Name | undefined {
  return (Object.keys(names) as Name[]).find((name) => names[name] === theirs)
}
