/** Checks of flags that several commands share. */
import { UsageError } from './errors.ts'

export const outputs = {
  json: { type: 'string', nargs: 1, describe: 'File for the results as JSON; - for the standard output' },
  html: { type: 'string', nargs: 1, describe: 'File for an HTML page with all pictures' },
} as const

/** Refuses a flag that has no effect without `--endpoint`: on virtual time there is no duration to choose. */
export function onlyWithEndpoint(
  endpoint: string | undefined,
  flags: Readonly<Record<string, number | undefined>>,
): void {
  if (endpoint !== undefined) return
  for (const [name, value] of Object.entries(flags)) {
    if (value !== undefined) {
      throw new UsageError(`--${name} needs --endpoint: virtual time runs to the end of the load; leave out --${name}`)
    }
  }
}

/** Lets a command be the one that runs. */
export type Choose = (command: () => number | Promise<number>) => void

interface WholeNumber {
  readonly type: 'string'
  readonly coerce: (words: string) => number
}

/** A flag whose value is a whole number, at most `most`. */
export function wholeNumber<Option extends object>(flag: string, most: number, option: Option): WholeNumber & Option {
  const coerce = (words: string): number => {
    if (!/^\d+$/.test(words) || Number(words) > most) throw new UsageError(`${flag} is 0 to ${most}, not ${words}`)
    return Number(words)
  }
  return { type: 'string', coerce, ...option }
}

const secondsMax = 86_400

export const secondsFlag = (describe: string): WholeNumber & { readonly describe: string } =>
  wholeNumber('--seconds', secondsMax, { describe })

export const seedFlag = (describe: string): WholeNumber & { readonly describe: string; readonly default: string } =>
  wholeNumber('--seed', 0xffff_ffff, { describe, default: '1' })
