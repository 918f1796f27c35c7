/**
 * Rules of plain words, for the sources of packages and for documents: a sentence begins with its subject.
 *
 * A text contains none of `vagueWords`: it names a client, a reader or a caller. No comment line of a source begins with one of
 * `riddles`: "Of the rows, the newest" is "The newest row".
 *
 * Code in documents is not checked, because it may quote the output of commands.
 */
import { type Finding, matches, type SourceFile } from './repository.ts'

export const vagueWords: readonly string[] = ['somebody', 'nobody', 'anybody', 'whoever']
export const riddles: readonly string[] = ['What', 'Of', 'Who', 'Whose', 'As much']

const vague = new RegExp(`\\b(?:${vagueWords.join('|')})\\b`, 'gi')
const riddle = new RegExp(`(?<=^[ \\t]*(?:/\\*\\*|\\*|//) )(?:${riddles.join('|')})(?= )`, 'gm')

export function wordFindings(files: readonly SourceFile[]): Finding[] {
  return files.flatMap(({ path, text }) => {
    if (isSource(path)) return [...vagueFindings(path, text), ...riddleFindings(path, text)]
    return isDocument(path) ? vagueFindings(path, withoutCode(text)) : []
  })
}

function vagueFindings(path: string, text: string): Finding[] {
  return matches(path, text, vague, (found) => `says "${found}": name the client, reader or caller`)
}

function riddleFindings(path: string, text: string): Finding[] {
  return matches(path, text, riddle, (found) => `has a comment that opens with "${found}": begin with a noun`)
}

function isSource(path: string): boolean {
  return /^packages\/[^/]+\/src\/.*\.ts$/.test(path)
}

function isDocument(path: string): boolean {
  return path.endsWith('.md') && /^(?:docs\/|[^/]+$)/.test(path)
}

/** The text with code blanked out line by line. */
function withoutCode(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```|`[^`\n]*`/gm, (code) => code.replace(/[^\n]/g, ' '))
}
