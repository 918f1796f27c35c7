/** Outcomes of the calls of a replay by method, kind and code. A played call may represent many, and is counted as many. */
import { DatastoreError } from '@sixtables/engine'
import { isTransient } from '../sim/client.ts'
import type { RecordedCall } from './read-recording.ts'

interface Tally {
  calls: number
  /** Refused calls by code and cause. */
  readonly refused: Map<string, number>
}

export class CallOutcomes {
  readonly #tallies = new Map<string, Tally>()
  /** Failed calls by message, for reasons other than load. */
  readonly #failures = new Map<string, number>()

  /**
   * Runs a call and counts its outcome. A refusal because of load is thrown on; other errors do not end the replay.
   *
   * @param weight - number of calls that this one represents
   */
  async noted(call: RecordedCall, weight: number, work: () => Promise<void>): Promise<void> {
    const tally = this.#tallyOf(call)
    tally.calls += weight
    try {
      await work()
    } catch (error) {
      if (!(error instanceof DatastoreError)) throw error
      if (isTransient(error)) {
        const words = `${error.code}${causes[error.code] ?? ''}`
        tally.refused.set(words, (tally.refused.get(words) ?? 0) + weight)
        throw error
      }
      const words = `${error.code}: ${error.message}`
      if (this.#failures.has(words) || this.#failures.size < failuresMax) {
        this.#failures.set(words, (this.#failures.get(words) ?? 0) + 1)
      }
    }
  }

  #tallyOf({ method, keys, mutations, query }: RecordedCall): Tally {
    const kind = query === undefined ? (mutations[0]?.key ?? keys[0])?.path.at(-1)?.kind : query.kind
    const name = `${method} ${kind ?? 'of any kind'}`
    const known = this.#tallies.get(name)
    // A recording may have many kinds; the later ones share one tally.
    const kept = known === undefined && this.#tallies.size >= talliesMax ? 'others' : name
    const tally = this.#tallies.get(kept) ?? { calls: 0, refused: new Map() }
    this.#tallies.set(kept, tally)
    return tally
  }

  refusedLines(): readonly string[] {
    const rows = [...this.#tallies].flatMap(([name, { calls, refused }]) =>
      [...refused].map(([words, count]) => ({ name, words, count, calls })),
    )
    if (rows.length === 0) return ['none']
    const widest = (of: (row: (typeof rows)[number]) => string): number =>
      Math.max(...rows.map((row) => of(row).length))
    const nameWidth = widest(({ name }) => name)
    const countWidth = widest(({ count }) => inWords(count))
    const allWidth = widest(({ calls }) => inWords(calls))
    return rows
      .sort((a, b) => b.count - a.count)
      .map(({ name, words, count, calls }) => {
        const share = `(${Math.round((100 * count) / calls)} %)`.padStart('(100 %)'.length)
        const of = `${inWords(count).padStart(countWidth)} of ${inWords(calls).padStart(allWidth)}`
        return `${name.padEnd(nameWidth)}   ${of}   ${share}   ${words}`
      })
  }

  failedLines(): readonly string[] {
    return [...this.#failures].map(([words, count]) => `${count} × ${words}`)
  }
}

const failuresMax = 5
const talliesMax = 100

const causes: Readonly<Record<string, string>> = {
  RESOURCE_EXHAUSTED: ': the server of a tablet had more to do than it can',
  UNAVAILABLE: ': a tablet was being moved',
  ABORTED: ': another write of the entity group was under way',
}

function inWords(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}
