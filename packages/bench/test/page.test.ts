import { readFileSync } from 'node:fs'
import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { writePath } from '../src/labs/write-path.ts'
import { htmlReport } from '../src/report/html.ts'
import { runLab } from '../src/runner.ts'

describe('the page of a result', () => {
  it('loads nothing (html/H1)', async () => {
    const page = htmlReport([await runLab(writePath, { seed: 1 })])
    // Addresses may stand in a licence's comment; nothing may fetch one.
    expect(page).not.toMatch(/<(?:script|img|link|iframe)[^>]*(?:src|href)=/)
    expect(page).not.toMatch(/@import|url\(|fetch\(|XMLHttpRequest/)
  })

  it('runs scripts that a browser can read', async () => {
    const page = htmlReport([await runLab(writePath, { seed: 1 })])
    const scripts = [...page.matchAll(/<script>\n([\s\S]*?)<\/script>/g)].map(([, script = '']) => script)
    expect(scripts).toHaveLength(1)
    for (const script of scripts) expect(() => new Script(script)).not.toThrow()
  })

  it('asks for a prediction before it tells the verdicts', async () => {
    const source = readFileSync(new URL('../../console/src/report.tsx', import.meta.url), 'utf8')
    const places = ['lab-question', '<textarea', '<ResultView', '<Verdicts result={result} />'].map((part) =>
      source.indexOf(part),
    )
    expect(places.every((place, i) => place > (places[i - 1] ?? 0))).toBe(true)
  })

  it('carries the results, whatever they say', async () => {
    const result = await runLab(writePath, { seed: 1 })
    const nasty = '</script><script>alert(1)</script><!-- '
    const page = htmlReport([{ ...result, question: nasty }])
    const data = /<script type="application\/json" id="results">(.*?)<\/script>/s.exec(page)?.[1] ?? ''
    expect(data).not.toContain('<!--')
    expect((JSON.parse(data) as { question: string }[])[0]?.question).toBe(nasty)
  })
})
