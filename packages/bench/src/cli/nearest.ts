/** "Did you mean …": the known word that is the fewest typing errors away. */

/** How many single-letter changes, insertions and removals turn `a` into `b`. */
export function typingErrors(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const kept = (last[j] ?? 0) + (letter === other ? 0 : 1)
      row.push(Math.min(kept, (last[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    last = row
  }
  return last.at(-1) ?? a.length
}

export function nearest(word: string, words: readonly string[]): string | undefined {
  const ranked = words.map((one) => ({ one, errors: typingErrors(word.toLowerCase(), one.toLowerCase()) }))
  ranked.sort((a, b) => a.errors - b.errors)
  return ranked[0]?.one
}
