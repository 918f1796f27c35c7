/**
 * Builds the console, the page that the emulator serves at /console/, into files with hashed names.
 *
 *   index.html, src/main.tsx, src/…/*.css   ─▶   ../gateway/dist/web/index.html, …/<name>-<hash>.{js,css}
 *
 * Files lie flat: each is one part of a path, and links between them are relative. Sheets are joined (style.mjs).
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { course } from './course.mjs'
import { styleOf } from './style.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const source = at('..')
const target = at('../../gateway/dist/web')

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const bundle = await rolldown({
  input: `${source}/src/main.tsx`,
  platform: 'browser',
  logLevel: 'warn',
  tsconfig: `${source}/tsconfig.json`,
  plugins: [course],
  // The browsers that docs/console.md names; the lib of tsconfig.json has what they bring.
  transform: { target: ['chrome123', 'firefox121', 'safari17.5'] },
})
const { output } = await bundle.write({
  dir: target,
  format: 'esm',
  entryFileNames: '[name]-[hash].js',
  chunkFileNames: '[name]-[hash].js',
  minify: true,
  // A file of a few hundred bytes compresses badly: what several pages share comes in one.
  codeSplitting: { groups: [{ name: 'shared', test: /console[\\/]src[\\/]/, minShareCount: 2, maxModuleSize: 3_000 }] },
  // Notes for bundlers have no reader behind this one; licences stay.
  comments: { legal: true, annotation: false, jsdoc: false },
})
await bundle.close()

const style = styleOf(['styles', 'components', 'pages'])
const styleName = `style-${createHash('sha256').update(style).digest('hex').slice(0, 8)}.css`
writeFileSync(`${target}/${styleName}`, style)

const main = output.find((part) => part.type === 'chunk' && part.isEntry)
const preload = main.imports.map((name) => `<link rel="modulepreload" href="${name}">`).join('\n    ')
const page = readFileSync(`${source}/index.html`, 'utf8')
  .replace('%STYLE%', styleName)
  .replace('%MAIN%', main.fileName)
  .replace('%PRELOAD%', preload)
writeFileSync(`${target}/index.html`, page)
