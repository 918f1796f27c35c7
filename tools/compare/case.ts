/**
 * A case: requests that are sent, one after the other, to two servers with nothing in them.
 *
 *   { steps: [ Commit {…}, RunQuery {…}, RunQuery { query: { startCursor: from step 1 } } ] }
 *
 * C1  A case is plain data: it prints, it shrinks, and it is sent as often as wanted. What only an answer can tell (a cursor,
 *     a transaction, a version) stands in it as a reference to that answer.
 * C2  A case has a project of its own each time it is sent, so that it meets nothing of another one.
 *
 * Ours.
 */
import type { MethodName } from '../../packages/gateway/src/methods.ts'
import type { Row } from '../../packages/gateway/test/contract/errors/row.ts'
import type { Plain } from '../../packages/gateway/test/support/published-protos.ts'
import type { Emulator } from '../google-emulators.ts'

/** Our mode, and with it the emulator that ours is held against. */
export type Mode = Emulator

export const modes: readonly Mode[] = ['firestore', 'legacy']

export interface Step {
  readonly method: MethodName
  readonly request: Plain
  /** Of a query: the step that asks the same without limit, offset and cursors. */
  readonly base?: number
}

export interface Case {
  readonly steps: readonly Step[]
  /** Of the table of errors: makes the request of the one step, and what must be there before it. */
  readonly row?: Row
}

/** Stands in a request for what lies at `path` in the answer to step `from`. */
export interface Reference {
  readonly from: number
  readonly path: readonly (string | number)[]
}

export const answerOf = (from: number, ...path: (string | number)[]): Plain => ({ $answer: { from, path } })

export interface Answer {
  /** A name of google.rpc.Code; SILENT when nothing came in time, UNSAID when the request could not be made. */
  readonly code: string
  readonly message: string
  /** The answer message; empty after an error. */
  readonly body: Plain
}

/** The request with each reference replaced; `undefined` where an answer lacks what is asked for. */
export function resolve(request: Plain, answers: readonly Answer[]): Plain | undefined {
  let isWhole = true
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (!isPlain(value)) return value
    const reference = value['$answer'] as Reference | undefined
    if (reference === undefined)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
    const found = at(answers[reference.from]?.body, reference.path)
    if (found === undefined) isWhole = false
    return found
  }
  const whole = walk(request) as Plain
  return isWhole ? whole : undefined
}

/** What lies at a path of member names and places. */
export function at(value: unknown, path: readonly (string | number)[]): unknown {
  let one = value
  for (const name of path) {
    if (Array.isArray(one)) one = one.at(Number(name))
    else if (isPlain(one)) one = one[name]
    else return undefined
  }
  return one
}

export function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}

export function listOf(value: unknown): readonly Plain[] {
  return Array.isArray(value) ? value : []
}
