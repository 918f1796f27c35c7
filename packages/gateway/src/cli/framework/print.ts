/** Answers: with `--json` as JSON, else for people, in columns, counts and plain words. */
import type { Flags, Io } from './command.ts'
import { exitCodes } from './errors.ts'

/** Prints an answer unchanged with `--json`, else in words. @returns the exit code 0 */
export function printed(flags: Flags, io: Io, answer: unknown, inWords: () => readonly string[]): number {
  if (flags['json'] === true) io.out(JSON.stringify(answer, null, 2))
  else for (const line of inWords()) io.out(line)
  return exitCodes.ok
}

/** Pads cells so that columns line up; the last column stays as it is. */
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

/** Maximum characters of a cell; longer ones end with an ellipsis. */
const cellCharactersMax = 60

/** A heading, a rule, and lines below them; control characters, line breaks included, are printed as escapes. */
export function table([heading = [], ...lines]: readonly (readonly string[])[]): string[] {
  const shown = [heading, ...lines].map((cells) => cells.map(cellOf))
  const widths = heading.map((_, i) => Math.max(...shown.map((cells) => cells[i]?.length ?? 0)))
  const rule = widths.map((width) => '-'.repeat(width))
  return columns([shown[0] ?? [], rule, ...shown.slice(1)])
}

function cellOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant
  const escaped = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => JSON.stringify(character).slice(1, -1))
  return escaped.length > cellCharactersMax ? `${escaped.slice(0, cellCharactersMax - 1)}…` : escaped
}
