/** One process of a program, in whichever language, as the judge uses it. */
import type { Db } from './db.ts'

/** A function that a program must have, with an example of a call. */
export interface ProgramFunction {
  readonly name: string
  /** Arguments by name, in the order in which a program in JavaScript gets them; `id` and `call` are names of the line itself. */
  readonly takes: Readonly<Record<string, unknown>>
  /** `null` where the answer does not matter. */
  readonly answers: unknown
}

export interface ProgramCall {
  readonly name: string
  /** How many calls of this function there were, with this one. */
  readonly count: number
  /** How requests of the call to the store are charged. */
  readonly db: Db
  readonly args: readonly unknown[]
}

export interface ProgramProcess {
  readonly callsUnderWay: number
  /** @throws ProgramFault; RefusedCall for an error of the service; Killed */
  call(id: number, call: ProgramCall): Promise<unknown>
  /** Ends the process; its calls under way end with the error. */
  kill(error?: Error): void
  /** Ends the process if a call has waited for too long. Told now and then. */
  checkPatience(): void
}

/** A call for messages, such as `like` (its 3rd call). */
export function callInWords({ name, count }: Pick<ProgramCall, 'name' | 'count'>): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13
  const ending = isTeen ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[count % 10] ?? 'th')
  return `\`${name}\` (its ${count.toLocaleString('en-US')}${ending} call)`
}
