/**
 * Joins the compiled files of the command, so that it starts sooner (docs/decisions/0013-bundle.md). Builds the workers in which a page judges programs, as the site has them (packages/site/scripts/bundle.mjs), and the page of results, which is
 * drawn by parts of the console (packages/console/scripts/report.mjs):
 *
 *   dist/cli/main.js, and all that it imports   ─▶   dist/bundle/main.js, dist/bundle/<part>.js …
 *   site/src/judge.ts, site/src/program.js   ─▶   dist/web/judge.js, dist/web/program.js
 *   console/src/report.tsx                   ─▶   dist/web/report.js, dist/web/report.css
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleReport } from '../../console/scripts/report.mjs'
import { bundleCommand } from '../../gateway/scripts/bundle-command.mjs'
import { bundled } from '../../site/scripts/bundle.mjs'

const target = fileURLToPath(new URL('../dist/web/', import.meta.url))
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const output = { entryFileNames: '[name].js', codeSplitting: false }
for (const input of [{ program: 'program.js' }, { judge: 'judge.ts' }]) {
  const chunks = await bundled(input, output, { programFile: '"program.js"' })
  for (const { fileName, code } of chunks) writeFileSync(target + fileName, code)
}
await bundleReport(target)
await bundleCommand(new URL('../dist/', import.meta.url))
