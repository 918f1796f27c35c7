/**
 * docs/best-practices.md: each rule has a lab and the verdict of it that shows the rule, or the reason why an emulator cannot show it, and
 * names only findings that the engine reports.
 */
import { readFileSync } from 'node:fs'
import { findingAdvice } from '@sixtables/engine'
import { describe, expect, it } from 'vitest'
import { labs } from '../src/labs/catalogue.ts'

interface Rule {
  readonly rule: string
  readonly lab: string
  readonly finding: string
  readonly today: string
}

const page = readFileSync(new URL('../../../docs/best-practices.md', import.meta.url), 'utf8')
const rules = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| rule') && !line.startsWith('| ---'))
  .map((line): Rule => {
    const [rule = '', lab = '', finding = '', today = '', ...more] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim())
    if (more.length > 0) throw new Error(`more than four columns: ${line}`)
    return { rule, lab, finding, today }
  })
const labNames = labs.map(({ name }) => name)
const verdictsOf = new Map(labs.map(({ name, expectations }) => [name, expectations.map(({ says }) => says)]))
const findings = Object.keys(findingAdvice)

describe('docs/best-practices.md', () => {
  it('has each rule once, and not fewer than the sixty of the source', () => {
    expect(rules.length).toBeGreaterThanOrEqual(60)
    expect(new Set(rules.map(({ rule }) => rule)).size).toBe(rules.length)
  })

  it.each(rules)('$rule', ({ lab, finding, today }) => {
    const named = [...lab.matchAll(/\[([a-z0-9-]+)\]\(labs\/([a-z0-9-]+)\.md(?: "([^"]+)")?\)/g)]
    const isReason = /^— [A-Z].{20,}\.$/.test(lab)
    for (const [, words = '', file, verdict] of named) {
      expect(words).toBe(file)
      expect(labNames).toContain(words)
      if (!isReason) expect(verdictsOf.get(words)).toContain(verdict)
    }
    expect(named.length > 0 || isReason, 'a lab, or a reason').toBe(true)
    if (finding !== '') expect(findings).toContain(finding.replaceAll('`', ''))
    expect(['yes', 'less', 'legacy']).toContain(today)
  })

  it('names every finding', () => {
    expect(findings.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('names every lab that shows a rule of the source', () => {
    const named = new Set([...page.matchAll(/\(labs\/([a-z0-9-]+)\.md(?: "[^"]+")?\)/g)].map(([, name]) => name))
    // These explain a mechanism, or play a recording; the source has no rule for them.
    const others = ['list-removal', 'list-compaction', 'list-of-lists', 'gateways', 'replay']
    expect(labNames.filter((name) => !named.has(name) && !others.includes(name))).toEqual([])
  })
})
