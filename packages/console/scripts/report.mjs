/**
 * Builds the program and the style of the page that `sixtables-lab run --html` writes.
 *
 *   src/report.tsx, src/…/*.css   ─▶   ../bench/dist/web/report.js, report.css        each goes into the page as it is
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { styleOf } from './style.mjs'

const source = fileURLToPath(new URL('..', import.meta.url))

export async function bundleReport(target) {
  const bundle = await rolldown({
    input: `${source}/src/report.tsx`,
    platform: 'browser',
    logLevel: 'warn',
    tsconfig: `${source}/tsconfig.json`,
  })
  await bundle.write({
    file: `${target}report.js`,
    format: 'iife',
    codeSplitting: false,
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundle.close()
  writeFileSync(`${target}report.css`, styleOf(['styles', 'components', 'pages/labs']))
}
