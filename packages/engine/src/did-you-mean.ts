/** "Did you mean …": the known word with the fewest typing errors, such as `project` for `porject`. */

/** The number of single-letter changes, insertions, removals and swaps of neighbours that turn `a` into `b`. */
export function typingErrors(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, at(beforeLast, j - 2) + 1)
      }
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}

const errorsMax = 3

/**
 * The nearest of `words` if it is near enough to be a typing error: at most a third of its letters wrong, and at most three;
 * or any number of letters in the wrong case. Of words with equally many errors one that begins with `word` is nearer: `stats` for
 * `stat`, rather than `start`.
 */
export function nearest(word: string, words: readonly string[]): string | undefined {
  // Each letter too many is an error: a text of megabytes is no misspelt word, and is not compared.
  const near = words.filter((candidate) => Math.abs(candidate.length - word.length) <= errorsMax)
  const sameLetters = near.find((candidate) => candidate.toLowerCase() === word.toLowerCase())
  if (sameLetters !== undefined) return sameLetters
  let best: string | undefined
  let bestErrors = errorsMax + 1
  for (const one of near) {
    const errors = typingErrors(word, one)
    const isNearer = errors < bestErrors || (errors === bestErrors && !best?.startsWith(word) && one.startsWith(word))
    if (isNearer && errors * 3 <= Math.max(one.length, 3)) {
      best = one
      bestErrors = errors
    }
  }
  return best
}
