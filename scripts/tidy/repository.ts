/** The files of the repository for the tidy rules: those that people write, without those that tools make. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface SourceFile {
  /** Relative to the root, with slashes. */
  readonly path: string
  readonly text: string
}

/** One violation of a rule: `packages/engine/src/x.ts:12 says what is wrong`. */
export type Finding = string

const made = new Set(['node_modules', 'dist', 'gen', 'coverage'])
/** Folders beginning with a dot that people write; others belong to git, editors or package managers. */
const hidden = new Set(['.ci', '.github'])
const written = /\.(ts|tsx|mjs|js|json|yaml|yml|md|sh|html|css)$|(^|\/)(\.ci\/run|\.gitignore|\.gitattributes)$/

/**
 * Every text file that people write, sorted by path.
 *
 * @param root - ends with a slash
 */
export function readRepository(root = fileURLToPath(new URL('../..', import.meta.url))): readonly SourceFile[] {
  const files: SourceFile[] = []
  const walk = (folder: string): void => {
    for (const entry of readdirSync(root + folder, { withFileTypes: true })) {
      const path = `${folder}${entry.name}`
      if (entry.isDirectory() && isWritten(entry.name)) walk(`${path}/`)
      else if (entry.isFile() && written.test(path)) files.push({ path, text: readFileSync(root + path, 'utf8') })
    }
  }
  walk('')
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function isWritten(folder: string): boolean {
  return folder.startsWith('.') ? hidden.has(folder) : !made.has(folder)
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || /^packages\/[^/]+\/test\//.test(path)
}

/** Whether a file is a shipped source of a package: below `src/` and no test. */
export function isShipped(path: string): boolean {
  return /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) && !isTest(path)
}

/** The text with comments blanked out line by line: comments may mention things that code may not use. */
export function withoutComments(text: string): string {
  const blank = (comment: string): string => comment.replace(/[^\n]/g, ' ')
  // Strings are the first alternative, so that `//` in a string is no comment.
  return text.replace(
    /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g,
    (found: string): string => (found.startsWith('/') ? blank(found) : found),
  )
}

/**
 * A finding for each match of `pattern` (with the g flag) in `text`, with its line.
 *
 * @param say - `undefined` for a match that is none
 */
export function matches(
  path: string,
  text: string,
  pattern: RegExp,
  say: (found: string, match: RegExpExecArray) => string | undefined,
): Finding[] {
  return [...text.matchAll(pattern)].flatMap((match) => {
    const said = say(match[0].trim(), match)
    return said === undefined ? [] : `${path}:${text.slice(0, match.index).split('\n').length} ${said}`
  })
}
