/**
 * Results as one self-contained page: data, style and program (packages/console/src/report.tsx, as the build has put it into `dist/web`) are inside it.
 *
 * H1  The page loads nothing, neither files nor addresses.                    test/page.test.ts
 */
import { readFileSync } from 'node:fs'
import type { LabResult } from '../runner.ts'
import { drawable } from './comparison.ts'

export function htmlReport(results: readonly LabResult[]): string {
  const built = (name: string): string => readFileSync(new URL(`../../dist/web/${name}`, import.meta.url), 'utf8')
  const title = results.length === 1 ? `${results[0]?.lab}: ${results[0]?.title}` : `${results.length} labs`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
${built('report.css')}
</style>
</head>
<body class="labs report">
<main></main>
<script type="application/json" id="results">${inScript(JSON.stringify(results.map(drawable)))}</script>
<script>
${inScript(built('report.js'))}
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
