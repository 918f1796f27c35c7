/** The apply policy of a database as texts of a form, in both directions. */

/** As `GET …/settings` answers; exactly one member. */
export interface JobPolicy {
  readonly forceStrongConsistency?: true
  readonly manualJobPolicy?: true
  readonly timeJobPolicy?: { readonly delayMs?: number }
  readonly probabilityJobPolicy?: { readonly randomSeed?: string; readonly unappliedJobPercentage?: number }
}

export interface JobPolicyForm {
  /** Name of the member. */
  readonly apply: string
  /** With `timeJobPolicy`; empty for random delays. */
  readonly delayMs: string
  /** With `probabilityJobPolicy`. */
  readonly unappliedPercentage: string
  readonly randomSeed: string
}

export const applyChoices = [
  ['forceStrongConsistency', 'immediate'],
  ['timeJobPolicy', 'delayed'],
  ['probabilityJobPolicy', 'by chance'],
  ['manualJobPolicy', 'by hand'],
] as const

export function jobPolicyForm(policy: JobPolicy): JobPolicyForm {
  return {
    apply: Object.keys(policy)[0] ?? 'forceStrongConsistency',
    delayMs: String(policy.timeJobPolicy?.delayMs ?? ''),
    unappliedPercentage: String(policy.probabilityJobPolicy?.unappliedJobPercentage ?? 10),
    randomSeed: policy.probabilityJobPolicy?.randomSeed ?? '',
  }
}

export function jobPolicyOf({ apply, delayMs, unappliedPercentage, randomSeed }: JobPolicyForm): JobPolicy {
  switch (apply) {
    case 'timeJobPolicy':
      return { timeJobPolicy: delayMs === '' ? {} : { delayMs: Number(delayMs) } }
    case 'probabilityJobPolicy': {
      const unappliedJobPercentage = Number(unappliedPercentage)
      return { probabilityJobPolicy: { ...(randomSeed === '' ? {} : { randomSeed }), unappliedJobPercentage } }
    }
    case 'manualJobPolicy':
      return { manualJobPolicy: true }
    default:
      return { forceStrongConsistency: true }
  }
}
