/**
 * The policies of the legacy emulator, which can change while the server runs: App Engine's testbed changes them between tests.
 *
 *   GET    /v1/config    {"jobPolicy": {"forceStrongConsistency": true}
 *                                    | {"probabilityJobPolicy": {"randomSeed": "7", "unappliedJobPercentage": 10}}
 *                                    | {"timeJobPolicy": {"delayMs": 50}} | {"manualJobPolicy": true},
 *                         "idAllocationPolicy": {"policy": "SEQUENTIAL" | "SCATTERED"}}
 *   PATCH  /v1/config    replaces the members that it contains, and answers with all
 *
 * They are settings of all databases, including those that are created later. An unappliedJobPercentage of 10 means that a commit is applied
 * with a chance of 90 %. A patch with a percentage restarts the draws, from its seed or one of the clock.
 *
 * Measured: paths, members, and that equal seeds and calls give equal visibility, on Google's legacy emulator. Ours: the
 * policies by time and by hand, which it does not have.
 */
import { type ApplyPolicy, type DatastoreError, type Engine, type IdPolicy, invalidArgument } from '@sixtables/engine'
import type { Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'

const path = '/v1/config'

/** SEQUENTIAL counts over the whole store (measured). The engine can also count by kind and parent. */
const idPolicies: Readonly<Record<IdPolicy, string>> = {
  storewide: 'SEQUENTIAL',
  sequential: 'SEQUENTIAL',
  scattered: 'SCATTERED',
}

export type ConfiguredEngine = Pick<Engine, 'configure' | 'context' | 'reseed' | 'seed' | 'settings'>

export function addConfigRoutes(router: Router, engine: ConfiguredEngine): void {
  router.add('GET', path, () => ({ json: configOf(engine) }))
  router.add('PATCH', path, ({ body }) => {
    patch(engine, bodyObject(body))
    return { json: configOf(engine) }
  })
}

/** The policies of an engine or of one of its databases. @param seed - that of the engine */
export function configOf({ settings, seed }: Pick<ConfiguredEngine, 'seed' | 'settings'>): JsonObject {
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

/** Checks the whole patch before it changes anything. */
function patch(engine: ConfiguredEngine, config: JsonObject): void {
  const { jobPolicy, idAllocationPolicy, ...others } = config
  refuseUnknown(others, 'the configuration')
  const idPolicy =
    idAllocationPolicy === undefined ? undefined : idPolicyOf(objectIn('idAllocationPolicy', idAllocationPolicy))
  const job = jobPolicy === undefined ? undefined : applyPolicyOf(objectIn('jobPolicy', jobPolicy))
  if (job?.applyPolicy.type === 'probability') engine.reseed(job.seed ?? engine.context().clock.nowMicros())
  engine.configure({
    ...(job === undefined ? {} : { applyPolicy: job.applyPolicy }),
    ...(idPolicy === undefined ? {} : { idPolicy }),
  })
}

export function idPolicyOf({ policy, ...others }: JsonObject): IdPolicy {
  refuseUnknown(others, 'idAllocationPolicy')
  for (const [ours, theirs] of Object.entries(idPolicies)) if (policy === theirs) return ours as IdPolicy
  throw wrong('idAllocationPolicy.policy', policy, 'SEQUENTIAL or SCATTERED')
}

export function applyPolicyOf(job: JsonObject): { readonly applyPolicy: ApplyPolicy; readonly seed?: bigint } {
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

export function objectIn(name: string, value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw wrong(name, value, 'an object')
}

export function refuseUnknown(others: JsonObject, where: string): void {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalidArgument(`${where} has no member "${unknown}"`)
}

export function wrong(name: string, value: unknown, right: string): DatastoreError {
  return invalidArgument(`${name} is ${value === undefined ? 'missing' : JSON.stringify(value)}; it must be ${right}`)
}
