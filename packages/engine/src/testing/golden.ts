/**
 * Golden scripts: commands and the output of the program, in one readable file.
 *
 *   # a comment; the first line of a file says what it shows
 *   command
 *   command; command
 *   ---
 *   output
 *   (blank line)
 *   next commands …
 *
 * GOLDEN=rewrite in the environment writes the current outputs into the files; review the diff.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface GoldenBlock {
  /** Comment lines above the commands, unchanged. */
  readonly comments: readonly string[]
  readonly commands: readonly string[]
  readonly expected: string
}

function parseGolden(text: string): readonly GoldenBlock[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) => {
      const [head = '', ...output] = block.split(/^---$/m)
      const lines = head.split('\n').filter(Boolean)
      const comments = lines.filter((line) => line.startsWith('#'))
      const commands = lines.filter((line) => !line.startsWith('#'))
      if (output.length === 0 && commands.length > 0) {
        throw new Error(`golden script: no --- after: ${commands.join('; ')}`)
      }
      return { comments, commands, expected: output.join('---').slice(1) }
    })
}

function formatGolden(blocks: readonly GoldenBlock[]): string {
  const paragraphs = blocks.map(({ comments, commands, expected }) =>
    commands.length === 0 ? comments.join('\n') : [...comments, ...commands, '---', expected].join('\n'),
  )
  return `${paragraphs.join('\n\n')}\n`
}

export function goldenScripts(dir: string): readonly string[] {
  return readdirSync(dir)
    .filter((name) => !name.endsWith('.ts'))
    .sort()
}

/** Splits a line at semicolons outside of quotes. */
function splitCommands(line: string): readonly string[] {
  return (line.match(/(?:"(?:[^"\\]|\\.)*"|[^;"])+/g) ?? []).map((command) => command.trim()).filter(Boolean)
}

/** Runs a script. @param run - executes a command and returns its lines, or the message of its error. @returns the text, and it with actual outputs */
export async function runGolden(
  dir: string,
  name: string,
  run: (command: string) => Promise<readonly string[]>,
): Promise<{ readonly expected: string; readonly actual: string }> {
  const file = join(dir, name)
  const expected = readFileSync(file, 'utf8')
  const blocks: GoldenBlock[] = []
  for (const block of parseGolden(expected)) {
    const printed: string[] = []
    // A blank line ends a block, so blank lines of an output are left out.
    for (const command of block.commands.flatMap(splitCommands)) {
      for (const text of await run(command)) printed.push(...text.split('\n').filter((line) => line.trim() !== ''))
    }
    blocks.push({
      ...block,
      expected: printed.length === 0 && block.commands.length > 0 ? '(none)' : printed.join('\n'),
    })
  }
  const actual = formatGolden(blocks)
  if (process.env['GOLDEN'] !== 'rewrite' || actual === expected) return { expected, actual }
  writeFileSync(file, actual)
  return { expected: actual, actual }
}
