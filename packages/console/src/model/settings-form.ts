/**
 * The settings of a database as texts of a form, and the patch that a changed form asks for.
 *
 * A patch names the settings that were changed, and no others: a mode brings presets of its own.
 */
import type { TtlPolicy } from '@sixtables/engine'

/** As `GET …/settings` answers; docs/reference/http.md has the members. */
export interface Settings {
  readonly mode: string
  readonly concurrencyMode: string
  readonly jobPolicy: JobPolicy
  readonly idAllocationPolicy: { readonly policy: string }
  readonly indexes: string
  readonly idCollisions: string
  readonly lockTimeoutMs: number
  readonly entityGroupsMax: number | null
  readonly ttl: readonly TtlPolicy[]
}

interface JobPolicy {
  readonly forceStrongConsistency?: true
  readonly manualJobPolicy?: true
  readonly timeJobPolicy?: { readonly delayMs?: number }
  readonly probabilityJobPolicy?: { readonly randomSeed?: string; readonly unappliedJobPercentage?: number }
}

/** Members of the apply policy, with their words. */
export const applyChoices = [
  ['forceStrongConsistency', 'immediate'],
  ['timeJobPolicy', 'delayed'],
  ['probabilityJobPolicy', 'by chance'],
  ['manualJobPolicy', 'by hand'],
] as const

export type SettingsForm = Readonly<ReturnType<typeof formOf>>

export function formOf({ jobPolicy, idAllocationPolicy, lockTimeoutMs, entityGroupsMax, ...plain }: Settings) {
  return {
    ...plain,
    apply: Object.keys(jobPolicy)[0] ?? 'forceStrongConsistency',
    /** Empty for random delays. */
    delayMs: String(jobPolicy.timeJobPolicy?.delayMs ?? ''),
    unappliedPercentage: String(jobPolicy.probabilityJobPolicy?.unappliedJobPercentage ?? 10),
    randomSeed: jobPolicy.probabilityJobPolicy?.randomSeed ?? '',
    ids: idAllocationPolicy.policy,
    lockTimeoutMs: String(lockTimeoutMs),
    /** Empty for no limit. */
    entityGroupsMax: String(entityGroupsMax ?? ''),
  }
}

/** The members of the settings that the form has otherwise; empty when nothing was changed. */
export function patchOf(before: Settings, form: SettingsForm): Readonly<Record<string, unknown>> {
  const [old, now] = [membersOf(formOf(before)), membersOf(form)]
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  )
}

/** The changes without those that were sent. What was changed again meanwhile stays. */
export function changesAfter(
  changes: Partial<SettingsForm>,
  sent: Readonly<Record<string, unknown>>,
): Partial<SettingsForm> {
  return Object.fromEntries(Object.entries(changes).filter(([name, value]) => value !== sent[name]))
}

function membersOf(form: SettingsForm): Readonly<Record<string, unknown>> {
  return {
    mode: form.mode,
    concurrencyMode: form.concurrencyMode,
    jobPolicy: jobPolicyOf(form),
    idAllocationPolicy: { policy: form.ids },
    indexes: form.indexes,
    idCollisions: form.idCollisions,
    lockTimeoutMs: numberOf(form.lockTimeoutMs),
    entityGroupsMax: form.entityGroupsMax === '' ? null : numberOf(form.entityGroupsMax),
    ttl: form.ttl.filter(({ kind, property }) => kind !== '' || property !== ''),
  }
}

export function jobPolicyOf({ apply, delayMs, unappliedPercentage, randomSeed }: SettingsForm): JobPolicy {
  if (apply === 'timeJobPolicy') return { timeJobPolicy: delayMs === '' ? {} : { delayMs: Number(delayMs) } }
  if (apply !== 'probabilityJobPolicy') return { [apply]: true }
  const unappliedJobPercentage = Number(unappliedPercentage)
  return { probabilityJobPolicy: { ...(randomSeed === '' ? {} : { randomSeed }), unappliedJobPercentage } }
}

/** A text that is no number is for the server to refuse. */
function numberOf(text: string): number | string {
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
}
