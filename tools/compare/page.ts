/** The table of docs/reference/differences.md, from the registry of classes; a test holds the page to it. */
import { classes } from './classes/index.ts'

export const marks: readonly [string, string] = ['<!-- from the code: classes -->', '<!-- end -->']

const cell = (text: string): string => text.replaceAll('|', '\\|')

export function classTable(): string {
  const rows = classes.map(({ name, what, ours, legacy = '—', firestore = '—', why }) => {
    return `| \`${name}\` | ${[what, ours, legacy, firestore, why].map(cell).join(' | ')} |`
  })
  return [
    '| class | what differs | here | legacy | FSE | why |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

/** The page with its table written anew; throws where the marks are missing. */
export function withClassTable(page: string): string {
  const [begin, end] = marks
  const from = page.indexOf(begin)
  const to = page.indexOf(end, from)
  if (from < 0 || to < 0) throw new Error(`the page has no ${begin} … ${end}`)
  return `${page.slice(0, from)}${begin}\n\n${classTable()}\n\n${page.slice(to)}`
}
