/**
 * A history of one writer and many readers of two entities that every commit changes together. A correct strong read is never
 * torn (it has both values of one commit), and never old:
 *
 *   writer   1 1 ── 2 2 ── 3 3 ── 4 4 …                the value of both, in one commit
 *   read     began when 2 was acknowledged, ended when 4 was begun: both are 2, or both 3, or both 4
 */

/** The values of both entities; empty if the read must be tried again. */
export type PairRead = () => Promise<readonly number[]>

export interface PairClient {
  /** Sets both entities, in one commit. Resolves when it is acknowledged. */
  commit(value: number): Promise<void>
  readonly reads: Readonly<Record<string, PairRead>>
  /** Yields to the other calls, which would get no turn on a store that answers at once. */
  turn(): Promise<void>
}

export interface PairHistory {
  /** Torn and old reads, in words. */
  readonly faults: readonly string[]
  /** The number of answered reads, by name. */
  readonly answered: Readonly<Record<string, number>>
}

/** Runs `commits` commits one after the other, and all reads repeatedly at the same time. */
export async function pairHistory({ commit, reads, turn }: PairClient, commits: number): Promise<PairHistory> {
  const faults: string[] = []
  const answered: Record<string, number> = {}
  let begun = 1
  let acknowledged = 1
  await commit(1)
  const writer = async (): Promise<void> => {
    for (let value = 2; value <= commits; value++) {
      begun = value
      await commit(value)
      acknowledged = value
      await turn()
    }
  }
  let isOver = false
  const reader = async (name: string, read: PairRead): Promise<void> => {
    answered[name] = 0
    // A read that always collided with the writer is answered after the last commit.
    while (!isOver || answered[name] === 0) {
      const isAlone = isOver
      const oldest = acknowledged
      const values = await read()
      if (values.length === 0 && isAlone) {
        faults.push(`${name} was refused after the last commit`)
        break
      }
      if (values.length > 0) {
        answered[name] = (answered[name] ?? 0) + 1
        const [a, b] = values as [number, number]
        const isWhole = values.length === 2 && a === b && oldest <= a && a <= begun
        if (!isWhole) faults.push(`${name} gave ${values.join(' and ')} between ${oldest} and ${begun}`)
      }
      await turn()
    }
  }
  const reading = Promise.all(Object.entries(reads).map(([name, read]) => reader(name, read)))
  await Promise.race([writer(), reading])
  isOver = true
  await reading
  return { faults, answered }
}
