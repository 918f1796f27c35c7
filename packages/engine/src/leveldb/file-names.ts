/** The names of LevelDB's files: a number of at least six digits and an extension, such as `000012.log`. */

/** @param extension - `log`, or `ldb` for a table */
export function levelFile(file: number, extension: 'log' | 'ldb'): string {
  return `${String(file).padStart(6, '0')}.${extension}`
}

/** The number of a log file; `undefined` for other files. */
export function logNumberOf(name: string): number | undefined {
  return numberIn(name, /^(\d+)\.log$/)
}

/** The number of a table; `undefined` for other files. Old versions of LevelDB called them .sst. */
export function tableNumberOf(name: string): number | undefined {
  return numberIn(name, /^(\d+)\.(?:ldb|sst)$/)
}

function numberIn(name: string, pattern: RegExp): number | undefined {
  const digits = pattern.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
