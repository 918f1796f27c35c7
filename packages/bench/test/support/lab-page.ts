/**
 * The parts of docs/labs/<name>.md that a run prints:
 *
 *   ```text run=<arm,arm>    the figures of all arms, and what these arms drew, followed by the verdicts folded
 *
 * All else is written by hand; the lab takes its texts from there (scripts/generate.mjs).
 */
import { plainText } from '../../src/report/ink.ts'
import { pageExcerpt, verdictExcerpt } from '../../src/report/terminal.ts'
import type { LabResult } from '../../src/runner.ts'

/** Blocks ` ```text run=<arm,arm> ` and the folded verdicts behind the first of them, as a run prints them. */
export function withRuns(text: string, result: LabResult): string {
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
