/**
 * What a workload is, and the kind that workloads read.
 *
 *   T10000   10,000 tasks
 */

import type { Caller, ContentType } from './caller.ts'
import { nameOf } from './messages.ts'

export interface Workload {
  readonly title: string
  /** Whether the kind of 10,000 tasks must be there. */
  readonly reads: boolean
  readonly streams: number
  /** Over HTTP/1.1, with bodies of this type. */
  readonly http?: ContentType
  /** @throws when an answer is not what it must be */
  check(caller: Caller): Promise<void>
  operation(caller: Caller, i: number): Promise<unknown>
}

export const hotSize = 10_000

export function kindOf(size: number): string {
  return `T${size}`
}

export const hot: string = kindOf(hotSize)

/** The name of one of so many tasks: spread, the same at each run. */
export function pick(i: number, size: number): string {
  return nameOf((Math.imul(i + 1, 0x9e3779b1) >>> 0) % size)
}

/** @throws when a sample of the answers is not what it must be */
export function must(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`a sample answer is wrong: ${what}`)
}
