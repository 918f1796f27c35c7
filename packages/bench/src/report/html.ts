/**
 * Results as one self-contained page: data, styles, chart library (uPlot) and drawing code are inside it.
 *
 * H1  The page loads nothing, neither files nor addresses.                    test/page.test.ts
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inWords } from '../lab.ts'
import type { LabResult } from '../runner.ts'
import { drawable } from './drawable.ts'

export function htmlReport(results: readonly LabResult[]): string {
  const { resolve } = createRequire(import.meta.url)
  const file = (path: string | URL): string => readFileSync(path, 'utf8')
  const own = (name: string): string => file(new URL(`../../page/${name}`, import.meta.url))
  const title = results.length === 1 ? `${results[0]?.lab}: ${results[0]?.title}` : `${results.length} labs`
  const data = results.map(drawable)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
${file(resolve('uplot/dist/uPlot.min.css'))}
${own('page.css')}
</style>
</head>
<body>
<main></main>
<script type="application/json" id="results">${inScript(JSON.stringify(data))}</script>
<script>
${inScript(file(resolve('uplot/dist/uPlot.iife.min.js')))}
</script>
<script>
const inWords = ${inWords}
${own('pictures.js')}
${own('page.js')}
</script>
</body>
</html>
`
}

function escaped(words: string): string {
  return words.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
}

/** Escapes `<` in data of a script element, so that a text such as `</script>` does not end it. */
function inScript(words: string): string {
  return words.replaceAll('</', '<\\/').replaceAll('<!--', '\\u003c!--')
}
