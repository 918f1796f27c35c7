/**
 * Which version, time and id of one server stands for which of the other one.
 *
 * V1  Pairs are one to one: two that are equal in one server are equal in the other.
 * V2  Versions and times keep their order: what is later in one server is later in the other.
 * V3  Where theirs gives each mutation of a commit a version and ours all of them one, theirs count as one.
 */
export class Correspondence {
  readonly versions: Pairs = new Pairs()
  readonly times: Pairs = new Pairs()
  readonly #ids = new Map<string, string>()

  /** Whether these two ids stand for each other. */
  ids(ours: string, theirs: string): boolean {
    return this.#ids.get(ours) === theirs
  }

  /** Both were given for one key; false when either was given before. */
  given(ours: string, theirs: string): boolean {
    if (this.#ids.has(ours) || [...this.#ids.values()].includes(theirs)) return this.ids(ours, theirs)
    this.#ids.set(ours, theirs)
    return true
  }
}

class Pairs {
  readonly #pairs: (readonly [bigint, bigint])[] = []
  readonly #folded = new Map<bigint, bigint>()

  /** From now on these of theirs are the first of them. */
  fold(theirs: readonly bigint[]): void {
    const unseen = theirs.filter((one) => !this.#pairs.some(([, other]) => other === one))
    for (const one of unseen) this.#folded.set(one, unseen[0] ?? one)
  }

  /** In words what ours and theirs tell of this pair, where that is not the same; else `undefined`. */
  meet(ours: bigint, unfolded: bigint): readonly [string, string] | undefined {
    const theirs = this.#folded.get(unfolded) ?? unfolded
    for (const [i, [a, b]] of this.#pairs.entries()) {
      const [mine, other] = [order(ours, a), order(theirs, b)]
      if (mine !== other) return [`${mine} the ${i + 1}. seen`, `${other} the ${i + 1}. seen`]
    }
    if (!this.#pairs.some(([a]) => a === ours)) this.#pairs.push([ours, theirs])
    return undefined
  }
}

function order(a: bigint, b: bigint): string {
  return a === b ? 'equal to' : a < b ? 'before' : 'after'
}
