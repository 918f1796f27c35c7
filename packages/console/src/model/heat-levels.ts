/**
 * Brackets of the key axis: runs of rows with the same database, namespace and kind.
 *
 * L1  Brackets of one level lie side by side over all rows, and a level never joins what the one before it parts.   heat-tablets.test.ts
 */
export const levelNames = ['database', 'namespace', 'kind'] as const

export interface Bracket {
  /** Empty where it is not known. */
  readonly label: string
  readonly fromRow: number
  readonly toRow: number
}

/**
 * @param levelsAt - levels of the bound at which a row begins; behind the last row those of the open end, which has none
 * @returns the brackets of each level
 */
export function bracketsOf(
  rows: number,
  levelsAt: (row: number) => readonly string[],
): readonly (readonly Bracket[])[] {
  const all: { label: string; fromRow: number; toRow: number }[][] = levelNames.map(() => [])
  const paths: string[] = []
  for (let row = 0; row < rows; row++) {
    // The row before the first bound is taken for one of what follows it.
    const levels = levelsAt(row).length === 0 ? levelsAt(row + 1) : levelsAt(row)
    const known = levels.length < 4 ? [] : levels
    for (const [level] of levelNames.entries()) {
      const path = JSON.stringify(known.slice(0, level + 1))
      const brackets = all[level] as { label: string; fromRow: number; toRow: number }[]
      const current = brackets.at(-1)
      if (current !== undefined && paths[level] === path) current.toRow = row + 1
      else brackets.push({ label: labelOf(known, level), fromRow: row, toRow: row + 1 })
      paths[level] = path
    }
  }
  return all
}

function labelOf(levels: readonly string[], level: number): string {
  if (levels.length === 0) return ''
  return level === 1 && levels[1] === '' ? 'default namespace' : (levels[level] ?? '')
}
