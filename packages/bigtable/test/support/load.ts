/**
 * The clients of a run: those of the crash harness, which end with their gateway, and those of a bank, which connect anew. All connect
 * through the round robin.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Ledger, moveUntilDeath, tallyKeys } from '../../../gateway/test/support/ledger-load.ts'
import { type Host, openWire, type Wire, type WireAnswer } from '../../../gateway/test/support/wires.ts'
import { ask, History, sharedKeys, writeUntilDeath } from '../../../gateway/test/support/write-load.ts'
import { Bank, bankUntil } from './bank.ts'
import type { Pace } from './pace.ts'

const writersAtOnce = 6
const moversAtOnce = 3
const bankClients = 4
/** A commit that has waited longer is one at a gateway that was stopped before. */
const freshMs = 1_000
/** Of each call of the bank's clients. */
const deadlineMs = 5_000

/** A wire that repeats what a busy machine was too slow for, but for commits. */
export async function openPatientWire(at: Host): Promise<Wire> {
  const wire = await openWire('gRPC', at)
  return {
    ...wire,
    send: async (project, method, request) => {
      for (;;) {
        const answer = await wire.send(project, method, request)
        if (answer.code !== 'UNAVAILABLE' || method === 'Commit') return answer
      }
    },
  }
}

export interface TimedRead {
  readonly what: string
  readonly ms: number
}

/** All that the clients of one table were told. */
export class Told {
  readonly history: History = new History()
  readonly ledger: Ledger = new Ledger()
  readonly bank: Bank = new Bank()
  /** Writers have numbers below this. */
  writers = 0
  /** Commits whose answers never came. */
  unanswered = 0
  /** When each commit that is not answered yet was sent. */
  readonly #sentMs = new Set<{ readonly at: number }>()

  /** Commits that were sent a moment ago and are not answered. */
  get underWay(): number {
    const oldest = performance.now() - freshMs
    return [...this.#sentMs].filter(({ at }) => at > oldest).length
  }

  /** Sends a commit. */
  async counted(send: () => Promise<WireAnswer>): Promise<WireAnswer> {
    const sent = { at: performance.now() }
    this.#sentMs.add(sent)
    this.unanswered++
    try {
      const answer = await send()
      if (answer.code === 'OK' || answer.code === 'ABORTED') this.unanswered--
      return answer
    } finally {
      this.#sentMs.delete(sent)
    }
  }

  get acknowledged(): number {
    return this.history.acknowledgedCount + this.ledger.acknowledgedCount + this.bank.acknowledgedCount
  }

  get aborted(): number {
    return this.ledger.abortedCount + this.bank.abortedCount
  }

  /** Strong reads of what the clients write, at the same time; and how long each took. */
  async readAll(wire: Wire): Promise<readonly TimedRead[]> {
    const reads: readonly (readonly [string, () => Promise<unknown>])[] = [
      ...this.bank.strongReads(wire),
      ['the lookup of shared entities', () => ask(wire, 'Lookup', { keys: [...sharedKeys, ...tallyKeys] })],
    ]
    const timed = async ([what, read]: (typeof reads)[number]): Promise<TimedRead> => {
      const begunMs = performance.now()
      await read()
      return { what, ms: performance.now() - begunMs }
    }
    return await Promise.all(reads.map(timed))
  }
}

export class Load {
  readonly #at: Host
  readonly #told: Told
  readonly #pace: Pace
  readonly #pauseMs: number
  readonly #chance: () => number
  readonly #work = new Set<Promise<void>>()
  #writers = 0
  #movers = 0
  #bankers = 0
  #isStopped = false
  #failure: unknown
  /** Each writer has a number of its own: what became of the writes of one that ended is not known yet. */
  #nextWriter = 0

  /** @param pauseMs - of a client before each call, in the mean */
  constructor(
    at: Host,
    { told, pace }: { readonly told: Told; readonly pace: Pace },
    pauseMs: number,
    chance: () => number,
  ) {
    this.#at = at
    this.#told = told
    this.#pace = pace
    this.#pauseMs = pauseMs
    this.#chance = chance
  }

  /** Begins as many clients as have ended. */
  async fill(): Promise<void> {
    const { history, ledger, bank } = this.#told
    for (; this.#writers < writersAtOnce; this.#writers++) {
      const wire = await this.#open()
      const writer = this.#nextWriter++
      this.#told.writers = Math.max(this.#told.writers, this.#nextWriter)
      this.#begin(writeUntilDeath(wire, history, writer), () => {
        wire.close()
        this.#writers--
      })
    }
    for (; this.#movers < moversAtOnce; this.#movers++) {
      const wire = await this.#open()
      this.#begin(moveUntilDeath(wire, ledger, this.#movers), () => {
        wire.close()
        this.#movers--
      })
    }
    for (; this.#bankers < bankClients; this.#bankers++) {
      const options = { open: () => this.#open(deadlineMs), chance: this.#chance }
      this.#begin(
        bankUntil(() => this.#isStopped, bank, options),
        () => this.#bankers--,
      )
    }
  }

  /** Waits until so many more commits are acknowledged. */
  async untilMore(commits: number): Promise<void> {
    const goal = this.#told.acknowledged + commits
    await this.#until(() => this.#told.acknowledged >= goal, `row of ${commits} commits`)
  }

  /** Waits until so many commits are not answered. */
  async untilUnderWay(commits: number): Promise<void> {
    await this.#until(() => this.#told.underWay >= commits, `moment with ${commits} commits under way`)
  }

  async #until(isThere: () => boolean, what: string): Promise<void> {
    await this.#pace.until(() => this.#failure !== undefined || isThere(), what)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Waits for the calls under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#pace.within('end of the calls under way', Promise.all(this.#work))
    if (this.#failure !== undefined) throw this.#failure
  }

  #begin(work: Promise<void>, end: () => void): void {
    const ended = work
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => {
        end()
        this.#work.delete(ended)
      })
    this.#work.add(ended)
  }

  /** A wire whose answers are those that the clients know: of a server that is there, or gone. */
  async #open(deadline?: number): Promise<Wire> {
    const wire = await openWire('gRPC', this.#at, deadline)
    return {
      ...wire,
      send: async (project, method, request) => {
        if (this.#pauseMs > 0) await sleep(2 * this.#pauseMs * this.#chance())
        if (this.#isStopped) throw gone()
        const send = (): Promise<WireAnswer> => wire.send(project, method, request)
        const answer = await (method === 'Commit' ? this.#told.counted(send) : send())
        const { code, message } = answer
        if (!withoutAnswer.includes(code)) return answer
        // It may stand or not, as after a death.
        if (method !== 'Commit' || code !== 'UNAVAILABLE' || message.includes('not known')) throw gone()
        // Bigtable answered too late, for one that was stopped meanwhile; nothing of it may ever be there.
        return { ...answer, code: 'ABORTED' }
      },
    }
  }
}

const withoutAnswer: readonly string[] = ['DEADLINE_EXCEEDED', 'CANCELLED', 'UNAVAILABLE']
const gone = (): Error => Object.assign(new Error('there was no answer'), { code: 'ECONNRESET' })
