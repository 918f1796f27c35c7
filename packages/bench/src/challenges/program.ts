/**
 * The learner's program as a challenge sees it: functions to call, in a process that is now and then replaced.
 *
 *   call ──▶ newest process      restart(): calls go to a new one; the old one ends when its calls under way have their answers
 *
 * - An answered call owes nothing to a process: after a restart only the store remembers it.
 * - After the first fault every call fails with it.
 */
import { inspect } from 'node:util'
import type { Random } from '@sixtables/engine/testing'
import type { Store } from '../sim/store.ts'
import { CommandInstance } from './command-instance.ts'
import type { Db } from './db.ts'
import { ProgramFault } from './fault.ts'
import { Instance } from './instance.ts'
import type { ProcessOptions, ProgramProcess, ProgramSource } from './program-process.ts'

export interface ProgramOptions extends Omit<ProcessOptions, 'store'> {
  readonly source: ProgramSource
}

const lookEveryMs = 60_000

export class Program {
  readonly #options: ProgramOptions
  readonly #store: Store
  readonly #random: Random
  /** The oldest first; the last one gets calls. */
  #instances: ProgramProcess[] = []
  readonly #callsOf = new Map<string, number>()
  #calls = 0
  #isClosed = false

  constructor(options: ProgramOptions, store: Store, random: Random) {
    this.#options = options
    this.#store = store
    this.#random = random
    this.#begin()
    void this.#look()
  }

  /** Calls a function of the program. @throws ProgramFault; RefusedCall for an error of the service; Killed */
  call(name: string, db: Db, ...args: readonly unknown[]): Promise<unknown> {
    const newest = this.#instances.at(-1)
    return this.#callOn(newest, name, db, args)
  }

  /** The same, of the oldest process that has calls under way: for what runs regularly, in one process at a time. */
  tick(name: string, db: Db, ...args: readonly unknown[]): Promise<unknown> {
    return this.#callOn(this.#instances[0], name, db, args)
  }

  /** From now on calls go to a new process. */
  restart(): void {
    this.#begin()
    this.#drain()
  }

  /** Ends the process at this moment, whatever it does, and begins another one. */
  crash(): void {
    const old = this.#instances
    this.#instances = []
    this.#begin()
    for (const instance of old) instance.kill()
  }

  close(): void {
    this.#isClosed = true
    for (const instance of this.#instances) instance.kill()
  }

  #begin(): void {
    const seed = Math.floor(this.#random.next() * 2 ** 32)
    const { source, ...rest } = this.#options
    const options = { ...rest, store: this.#store }
    this.#instances.push(
      typeof source === 'string'
        ? new Instance({ ...options, path: source, seed })
        : new CommandInstance({ ...options, ...source }),
    )
  }

  async #callOn(
    instance: ProgramProcess | undefined,
    name: string,
    db: Db,
    args: readonly unknown[],
  ): Promise<unknown> {
    const count = (this.#callsOf.get(name) ?? 0) + 1
    this.#callsOf.set(name, count)
    try {
      return await instance?.call(++this.#calls, { name, count, db, args })
    } finally {
      this.#drain()
    }
  }

  /** Ends old processes that have no call under way. */
  #drain(): void {
    this.#instances = this.#instances.filter((instance, i) => {
      const isNewest = i === this.#instances.length - 1
      if (isNewest || instance.callsUnderWay > 0) return true
      instance.kill()
      return false
    })
  }

  async #look(): Promise<void> {
    while (!this.#isClosed) {
      await this.#store.sleep(lookEveryMs)
      for (const instance of this.#instances) instance.checkPatience()
    }
  }
}

/** Checks the shape of an answer. @throws ProgramFault that says what was missing */
export function expectShape(holds: boolean, name: string, shape: string, answer: unknown): void {
  if (!holds) throw new ProgramFault(`\`${name}\` must answer ${shape}; it answered ${inShort(answer)}.`)
}

function inShort(answer: unknown): string {
  if (answer === undefined) return 'nothing'
  const words = inspect(answer, { breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 10, maxStringLength: 80 })
  return words.length > 80 ? `${words.slice(0, 80)}…` : words
}
