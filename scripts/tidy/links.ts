/** The rule for links in documents: none is broken. */
import { posix } from 'node:path'
import { type Finding, matches, type SourceFile } from './repository.ts'

/** Broken links in Markdown files, to files and folders of the repository and to headings in them. */
export function linkFindings(files: readonly SourceFile[], exists: (path: string) => boolean): Finding[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) => {
      const prose = text.replace(/```[\s\S]*?```|`[^`\n]*`/g, (block) => block.replace(/[^\n]/g, ' '))
      return matches(path, prose, /\]\((?!https?:|mailto:)[^()\s]+\)/g, (found) => found).filter((finding) => {
        const link = finding.slice(finding.indexOf('](') + 2, -1)
        const [file = '', heading] = link.split('#')
        const target = file === '' ? path : posix.join(posix.dirname(path), file)
        if (!exists(target)) return true
        const there = texts.get(target)
        return heading !== undefined && there !== undefined && !headings(there).includes(heading)
      })
    })
    .map((finding) => `${finding} leads nowhere`)
}

/** The anchors of a page's headings on GitHub. */
function headings(text: string): readonly string[] {
  return [...text.matchAll(/^#+ +(.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
