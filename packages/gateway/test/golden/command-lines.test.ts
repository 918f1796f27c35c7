/** Every command line that the documents show is one that the program takes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from '../../src/cli/framework/parser.ts'
import { plainFlag } from '../../src/cli/framework/words.ts'
import { program } from '../../src/cli/registry.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

function pages(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return pages(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

/** Lines of shell blocks, and code in text, that begin with the program's name. */
function commandLines(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```(?:sh|console)?\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  )
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  return [...blocks, ...inline]
    .map((line) => /^(?:eval "\$\(|\$ )?(?:npx )?sixtables(?= |\)|$)(.*)$/.exec(line.trim())?.[1])
    .filter((rest) => rest !== undefined)
    .map((rest) =>
      rest
        .trim()
        .replace(/(^|\s)\s*#.*$|\s{2,}.*$/, '')
        // A pipe or a redirection, but not within quotes.
        .replace(/^((?:'[^']*'|"[^"]*"|[^'"])*?)\s[|>&].*$/, '$1')
        .replace(/\)"$/, '')
        .trim(),
    )
}

/** As a shell takes a line apart, as far as the documents go. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/(['"])(.*?)\1/g, '$2'))
}

/** Not a command line but a name, such as `sixtables import`, or a pattern with …, <…> or [...]; or flags stand in a variable of the shell. */
function isPattern(line: string): boolean {
  return /…|<|\[|\||\$[A-Z]|^(inspect|ids|indexes|faults|clock|bigtable)( [a-z]+)?$|^(export|import|seed|gql|put|record)$/.test(
    line,
  )
}

const lines = [
  join(root, 'README.md'),
  join(root, 'ARCHITECTURE.md'),
  join(root, 'CONTRIBUTING.md'),
  ...pages(join(root, 'docs')),
]
  .flatMap((path) => commandLines(readFileSync(path, 'utf8')).map((line) => [relative(root, path), line] as const))
  .filter(([, line]) => !isPattern(line))

describe('a command line of the documents', () => {
  test('is looked for in a good many places', () => {
    expect(lines.length).toBeGreaterThan(60)
  })

  test.each([...new Set(lines.map(([path, line]) => `${path}: sixtables ${line}`))])('%s', async (shown) => {
    const line = shown.slice(shown.indexOf(': sixtables ') + ': sixtables '.length)
    await expect(parse(words(line).map(plainFlag), program, '0.0.0')).resolves.toBeDefined()
  })
})
