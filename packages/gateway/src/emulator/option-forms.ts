/**
 * The forms of values that flags of the command line and options of startEmulator() share, so that both refuse the same ones. A number may be
 * given by its digits: `--port 8081`, `port: process.env.PORT`.
 */
import type { ApplyPolicy } from '@sixtables/engine'
import { standsAtOf } from '../controls/time-in-words.ts'

export interface Form<T> {
  /** Follows the name: `must be a whole number from 0 to 65535`. */
  readonly words: string
  /** @returns `undefined` for a value of another form */
  readonly read: (value: unknown) => T | undefined
}

export function choiceOf<const T extends string>(choices: readonly T[]): Form<T> {
  return { words: `is one of ${choices.join(', ')}`, read: (value) => choices.find((choice) => choice === value) }
}

export function wholeUpTo(greatest: number, least = 0): Form<number> {
  return {
    words: `must be a whole number from ${least} to ${greatest}`,
    read: (value) => {
      const number = /^\d{1,15}$/.test(String(value)) ? Number(value) : Number.NaN
      return number >= least && number <= greatest ? number : undefined
    },
  }
}

export const modeForm: Form<'firestore' | 'legacy'> = choiceOf(['firestore', 'legacy'])
export const indexesForm: Form<'auto' | 'require'> = choiceOf(['auto', 'require'])
export const idCollisionsForm: Form<'next' | 'fail'> = choiceOf(['next', 'fail'])
export const durabilityForm: Form<'process' | 'power'> = choiceOf(['process', 'power'])
export const seedForm: Form<number> = wholeUpTo(0xffff_ffff)
/** Milliseconds until a commit is applied: up to a day. */
const delayForm = wholeUpTo(86_400_000)
export const portForm: Form<number> = wholeUpTo(65_535)
export const projectForm: Form<string> = {
  words: 'is a project id, such as "demo"',
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
}

export const optionsForm: Form<object> = {
  words: 'takes an object of options, such as { port: 8081 }',
  read: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined),
}

/** Milliseconds since the epoch. */
export const clockForm: Form<number> = {
  words: 'is a time with its zone, from 1970 on, such as 2030-01-01T00:00:00Z',
  read: (value) => (typeof value === 'string' || value instanceof Date ? standsAtOf(value) : undefined),
}

/** The chance that a commit is applied at once. */
export const chanceForm: Form<number> = {
  words: 'must be a number from 0 to 1',
  read(value) {
    const isNumber = typeof value === 'number' || (typeof value === 'string' && /^(\d+\.?\d*|\.\d+)$/.test(value))
    return isNumber && Number(value) >= 0 && Number(value) <= 1 ? Number(value) : undefined
  },
}

export const applyForm: Form<ApplyPolicy> = {
  words:
    'is an object such as { type: "manual" }; types are immediate, manual, probability with a chance from 0 to 1, and time with ' +
    'a delayMs from 0 to 86400000',
  read(value) {
    const policy = value as ApplyPolicy
    switch (policy?.type) {
      case 'immediate':
      case 'manual':
        return policy
      case 'probability':
        return chanceForm.read(policy.chance) === undefined ? undefined : policy
      case 'time':
        return policy.delayMs === undefined || delayForm.read(policy.delayMs) !== undefined ? policy : undefined
      default:
        return undefined
    }
  },
}
