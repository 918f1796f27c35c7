/** Checks of flags that several commands share. */
import { UsageError } from './errors.ts'

/** Files of results. */
export const outputs = {
  json: { type: 'string', nargs: 1, describe: 'File for the results as JSON; - for the standard output' },
  html: { type: 'string', nargs: 1, describe: 'File for an HTML page with all pictures' },
} as const

/** Refuses a flag that has no effect without `--endpoint`: on virtual time there is no duration to choose. */
export function onlyWithEndpoint(
  endpoint: string | undefined,
  flags: Readonly<Record<string, string | undefined>>,
): void {
  if (endpoint !== undefined) return
  for (const [name, value] of Object.entries(flags)) {
    if (value !== undefined) {
      throw new UsageError(`--${name} needs --endpoint: virtual time runs to the end of the load; leave out --${name}`)
    }
  }
}

/** @throws UsageError */
export function wholeNumber(flag: string, words: string, most: number): number {
  const value = Number(words)
  if (!/^\d+$/.test(words) || value > most) throw new UsageError(`${flag} is 0 to ${most}, not ${words}`)
  return value
}
