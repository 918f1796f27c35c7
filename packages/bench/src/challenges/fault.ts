/** The end of a learner's program as one sentence, and a call that the service refused it. */
import { DatastoreError } from '@sixtables/engine'

/** The program ended, threw or answered in a wrong shape: it has not passed, and this is why. */
export class ProgramFault extends Error {
  override readonly name = 'ProgramFault'
}

/** A call of the program failed with an error of the service. Under load that is a figure; elsewhere it is a fault. */
export class RefusedCall extends DatastoreError {}

/** A process that the judge ended at a chosen moment, as a crash does. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

/** Node's code for an API that the permissions of the process exclude. */
export const deniedCode = 'ERR_ACCESS_DENIED'

/** Follows the name of a call. */
export const deniedWords =
  'used what it may not: a program writes no files, starts no processes or threads, sends no signals to others, and reads its own folder alone'

export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The end of its standard error. */
  readonly errors: string
  readonly cpuSeconds: number
  readonly memoryMegabytes: number
}

/**
 * Why a process ended, in words that follow the name of a call: `like` …
 *
 * @returns a clause without a period, such as `ended the process with exit code 0`
 */
export function endInWords({ code, signal, errors, cpuSeconds, memoryMegabytes }: ProcessEnd): string {
  if (signal === 'SIGXCPU' || signal === 'SIGKILL')
    return `used more than ${cpuSeconds} s of CPU time; look for a loop that does not end`
  if (/heap out of memory|Array buffer allocation failed|bad_alloc/.test(errors))
    return `used more than ${memoryMegabytes} MB of memory`
  return plainEnd({ code, signal, errors })
}

type PlainEnd = Pick<ProcessEnd, 'code' | 'signal' | 'errors'>

function plainEnd({ code, signal, errors }: PlainEnd): string {
  if (code !== 0 && errors.includes(deniedCode)) return deniedWords
  const thrown = /^(?:Uncaught |Exception in thread \S+ )?((?:[\w.$]*(?:Error|Exception)\b|panic: ).*)$/m.exec(
    errors,
  )?.[1]
  if (code !== 0 && thrown !== undefined) {
    // Python names the innermost place last.
    const python = [...errors.matchAll(/([^/\\\s"]+\.py)", line (\d+)/g)].at(-1)
    const place =
      python === undefined ? /([^/\\\s(]+\.(?:m?js|go|java):\d+)/.exec(errors)?.[1] : `${python[1]}:${python[2]}`
    return `ended the process with ${thrown}${place === undefined ? '' : ` (${place})`}`
  }
  return signal === null ? `ended the process with exit code ${code}` : `was ended by the signal ${signal}`
}

/** The same of a command; a whole sentence where it could not be run. */
export function commandEndInWords(command: string, end: PlainEnd): string {
  // As shells have it: 127 not found, 126 not executable; 9009 of Windows.
  const said = end.errors.trim().split('\n').at(-1) ?? ''
  const missing = /(?:Cannot find package|No module named) '([^']+)'/.exec(end.errors)?.[1]
  if (missing !== undefined)
    return `The program imports ${missing}, which is not installed; the README.md of its folder says how, such as by npm install.`
  if (end.code !== 127 && end.code !== 126 && end.code !== 9009) {
    const words = plainEnd(end)
    // Without an error that has a name, the last words of the program say more.
    return words.endsWith(`exit code ${end.code}`) && said !== '' ? `${words}; it said last: ${said}` : words
  }
  return `The command ${command} cannot be run: ${said === '' ? `exit code ${end.code}` : said}.`
}
