/**
 * The settings of a database as texts of a form, and the patch that a changed form asks for.
 *
 * A patch names the settings that were changed, and no others: a mode brings presets of its own.
 */
import type { TtlPolicy } from '@sixtables/engine'
import { type JobPolicy, type JobPolicyForm, jobPolicyForm, jobPolicyOf } from '../../model/job-policy.ts'

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

type Plain = Pick<Settings, 'mode' | 'concurrencyMode' | 'indexes' | 'idCollisions' | 'ttl'>

export interface SettingsForm extends JobPolicyForm, Plain {
  readonly ids: string
  readonly lockTimeoutMs: string
  /** Empty for no limit. */
  readonly entityGroupsMax: string
}

export function formOf(settings: Settings): SettingsForm {
  return {
    mode: settings.mode,
    concurrencyMode: settings.concurrencyMode,
    ...jobPolicyForm(settings.jobPolicy),
    ids: settings.idAllocationPolicy.policy,
    indexes: settings.indexes,
    idCollisions: settings.idCollisions,
    lockTimeoutMs: String(settings.lockTimeoutMs),
    entityGroupsMax: settings.entityGroupsMax === null ? '' : String(settings.entityGroupsMax),
    ttl: settings.ttl,
  }
}

/** The members of the settings that the form has otherwise; empty when nothing was changed. */
export function patchOf(before: Settings, form: SettingsForm): Readonly<Record<string, unknown>> {
  const [old, now] = [membersOf(formOf(before)), membersOf(form)]
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame(value, old[name])))
}

/** The changes without those that were sent. What was changed again meanwhile stays. */
export function changesAfter(
  changes: Partial<SettingsForm>,
  sent: Readonly<Record<string, unknown>>,
): Partial<SettingsForm> {
  return Object.fromEntries(Object.entries(changes).filter(([name, value]) => value !== sent[name]))
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

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

/** A text that is no number is for the server to refuse. */
function numberOf(text: string): number | string {
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
}
