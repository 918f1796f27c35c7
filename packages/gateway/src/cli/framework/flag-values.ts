/** Values of flags for commands: of several the last is used, and a wrong one is a UsageError. */
import { choiceOf, type Form, wholeUpTo } from '../../emulator/option-forms.ts'
import type { Flags } from './command.ts'
import { UsageError } from './errors.ts'

export function last(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : value
}

/** The last value of a flag. @throws UsageError if it is empty */
export function text(flags: Flags, name: string): string | undefined {
  const value = last(flags[name])
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw new UsageError(`--${name} needs a value`)
}

/** All values of a flag. @throws UsageError if one is empty */
export function list(flags: Flags, name: string): readonly string[] {
  const value = flags[name] ?? []
  const values = Array.isArray(value) ? value : [value]
  return values.map((one) => {
    if (typeof one === 'string' && one !== '') return one
    throw new UsageError(`--${name} needs a value`)
  })
}

/** @throws UsageError for a value of another form */
export function formed<T>(flags: Flags, name: string, { words, read }: Form<T>): T | undefined {
  const value = text(flags, name)
  const found = value === undefined ? undefined : read(value)
  if (value === undefined || found !== undefined) return found
  throw new UsageError(`--${name} ${words}; got "${value}"`)
}

export function oneOf<const T extends string>(flags: Flags, name: string, choices: readonly T[]): T | undefined {
  return formed(flags, name, choiceOf(choices))
}

/** @throws UsageError for a value that does not have the form, which `is` describes: `a whole number` */
export function written(flags: Flags, name: string, form: RegExp, is: string): string | undefined {
  const value = text(flags, name)
  if (value === undefined || form.test(value)) return value
  throw new UsageError(`--${name} is ${is}; got "${value}"`)
}

/** @throws UsageError for a value that is no whole number from `least` to `greatest` */
export function wholeNumber(flags: Flags, name: string, greatest: number, least = 0): number | undefined {
  return formed(flags, name, wholeUpTo(greatest, least))
}
