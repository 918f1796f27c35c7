/**
 * CHANGELOG.md, made from the change notes in .changeset, in the order of their names.
 *
 *   .changeset/<name>.md   head: package → major, minor or patch; text for users   ─▶   an entry under its kind of change
 */
import type { SourceFile } from './repository.ts'

export const changelogPath = 'CHANGELOG.md'

const headings = { major: 'Breaking', minor: 'New and changed', patch: 'Fixed' } as const

type Kind = keyof typeof headings

interface Note {
  readonly kind: Kind
  readonly packages: readonly string[]
  readonly text: string
}

/** The text of the page. @throws Error with the path of a file that is no change note */
export function changelogOf(files: readonly SourceFile[]): string {
  const notes = files
    .filter(({ path }) => path.startsWith('.changeset/') && path.endsWith('.md') && !path.endsWith('README.md'))
    .map(readNote)
  const sections = (Object.keys(headings) as Kind[]).flatMap((kind) => {
    const entries = notes.filter((note) => note.kind === kind).map(entryOf)
    return entries.length === 0 ? [] : [`### ${headings[kind]}\n\n${entries.join('\n')}`]
  })
  return `# Changelog\n\n## Not released yet\n\n${sections.join('\n\n')}\n`
}

function readNote({ path, text }: SourceFile): Note {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n+([\s\S]*?)\n*$/.exec(text) ?? []
  if (head === undefined || body === undefined || body === '') {
    throw new Error(`${path} is no change note: a head between two lines of ---, then a text (.changeset/README.md)`)
  }
  const lines = head
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /^["']@sixtables\/(\w+)["']: (major|minor|patch)$/.exec(line))
  const kinds = lines.map((line) => line?.[2])
  const kind = (['major', 'minor', 'patch'] as const).find((one) => kinds.includes(one))
  if (kind === undefined || lines.includes(null))
    throw new Error(`${path}: a line of the head is no "@sixtables/…": kind`)
  return { kind, packages: lines.map((line) => line?.[1] ?? ''), text: body }
}

function entryOf({ packages, text }: Note): string {
  const indented = text.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
  return `- ${packages.join(', ')}:\n${indented.join('\n')}`
}
