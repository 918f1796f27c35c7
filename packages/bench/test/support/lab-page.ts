/**
 * The parts of docs/labs/<name>.md that the lab itself says, so that page and program never differ:
 *
 *   # <name>: <title>        **Question.**  **Predict.**        ## Exercises   ## Today   ## Sources
 *   ```text run=<arm,arm>    the figures of all arms, and what these arms drew, followed by the verdicts folded
 *
 * All else (theory, how to run it, how to read the picture) is written by hand and stays as it is.
 */
import type { Lab } from '../../src/lab.ts'
import { plainText } from '../../src/report/ink.ts'
import { pageExcerpt, verdictExcerpt } from '../../src/report/terminal.ts'
import type { LabResult } from '../../src/runner.ts'

const columnsMax = 140

/** @throws when the page lacks a part that is to be replaced */
export function labPage(page: string, lab: Lab, result: LabResult): string {
  return withRuns(withWords(page, lab), result)
}

/** All but the printed blocks. @throws when the page lacks a part that is to be replaced */
export function withWords(page: string, lab: Lab): string {
  let text = replaced(page, /^# .*$/m, `# ${lab.name}: ${lab.title}`, 'title')
  text = replaced(
    text,
    /^\*\*Question\.\*\*[\s\S]*?(?=\n\n)/m,
    wrapped(`**Question.** ${lab.question}`),
    '**Question.**',
  )
  text = replaced(text, /^\*\*Predict\.\*\*[\s\S]*?(?=\n\n)/m, wrapped(`**Predict.** ${lab.predict}`), '**Predict.**')
  text = section(text, 'Exercises', lab.exercises.map(exercise).join('\n'))
  text = section(text, 'Today', wrapped(lab.today))
  return section(text, 'Sources', lab.sources.map((source) => wrapped(source, '- ', '  ')).join('\n'))
}

/** A page to begin with: the parts above in their order, and the idea as its theory. */
export function newLabPage(lab: Lab): string {
  const run = `\`\`\`sh\nnpx sixtables-lab run ${lab.name}\n\`\`\`\n\n\`\`\`text run=${lab.arms[0]?.name}\n\`\`\``
  const parts = ['# ', '**Question.**', '**Predict.**', `## Theory\n\n${wrapped(lab.idea)}`, `## Run it\n\n${run}`]
  return `${[...parts, '## Read the picture', '## Exercises', '## Today', '## Sources'].join('\n\n')}\n`
}

function exercise({ ask, answer }: Lab['exercises'][number], i: number): string {
  const head = wrapped(ask, `${i + 1}. `, '   ')
  return `${head}\n\n   <details><summary>Answer</summary>\n\n${wrapped(answer, '   ', '   ')}\n\n   </details>\n`
}

function section(text: string, name: string, body: string): string {
  const pattern = new RegExp(`^## ${name}\\n[\\s\\S]*?(?=^## |(?![\\s\\S]))`, 'm')
  const after = (pattern.exec(text)?.index ?? 0) + (pattern.exec(text)?.[0].length ?? 0)
  return replaced(text, pattern, `## ${name}\n\n${body.trimEnd()}\n${after < text.length ? '\n' : ''}`, `## ${name}`)
}

/** Blocks ` ```text run=<arm,arm> ` and the folded verdicts behind the first of them, as a run prints them. */
function withRuns(text: string, result: LabResult): string {
  const fence = /(```text run=(\S*)\n)[\s\S]*?```(\n\n<details>\n<summary>The verdicts<\/summary>[\s\S]*?<\/details>)?/g
  const verdicts = printed(verdictExcerpt(result))
  const folded = `\n\n<details>\n<summary>The verdicts</summary>\n\n\`\`\`text\n${verdicts}\n\`\`\`\n\n</details>`
  let runs = 0
  const done = text.replace(fence, (_, head: string, arms: string) => {
    const excerpt = printed(pageExcerpt(result, arms.split(',')))
    return `${head}${excerpt}\n\`\`\`${runs++ === 0 ? folded : ''}`
  })
  if (runs === 0) throw new Error(`the page of ${result.lab} has no block \`\`\`text run=<arm,arm>`)
  return done
}

function printed(lines: ReturnType<typeof pageExcerpt>): string {
  const text = lines.map(plainText).join('\n')
  return text.replace(/^\n+|\n+$/g, '')
}

function replaced(text: string, pattern: RegExp, by: string, part: string): string {
  if (!pattern.test(text)) throw new Error(`the page lacks its part "${part}"`)
  return text.replace(pattern, () => by)
}

/** Lines of at most so many columns; code and links stay in one piece. */
function wrapped(words: string, first = '', rest = ''): string {
  const pieces = words.match(/(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+/g) ?? []
  const lines: string[] = []
  let line = first
  for (const piece of pieces) {
    const isEmpty = line === first || line === rest
    // A piece that would begin a list or a heading stays on its line.
    if (!isEmpty && line.length + 1 + piece.length > columnsMax && !/^(?:[-+*#>]+|\d+[.)])$/.test(piece)) {
      lines.push(line)
      line = rest + piece
    } else line += isEmpty && line.length === (lines.length === 0 ? first : rest).length ? piece : ` ${piece}`
  }
  return [...lines, line].join('\n')
}
