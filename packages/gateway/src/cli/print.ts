/**
 * Answers for people: columns, counts and plain words.
 */

/** Lines of cells, padded so that columns line up; the last column is left as it is. */
export function columns(lines: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const cells of lines) {
    cells.slice(0, -1).forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length)
    })
  }
  return lines.map((cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** `1 row`, `2 rows`. */
export function counted(count: number, one: string, several: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`
}
