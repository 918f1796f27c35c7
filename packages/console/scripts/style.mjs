/** The style sheets of the console as one: that of uPlot first, then all of the given folders of `src` in the order of their paths, and the traits. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { traits } from '../src/styles/traits.mjs'

const source = fileURLToPath(new URL('../src', import.meta.url))
const plotSheet = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css'))

/** Comments and indentation are for authors. */
const withoutComments = (sheet) =>
  sheet
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')

export function styleOf(folders) {
  const sheets = folders.flatMap((folder) =>
    readdirSync(`${source}/${folder}`, { recursive: true })
      .filter((path) => path.endsWith('.css'))
      .sort()
      .map((path) => `${source}/${folder}/${path}`),
  )
  return [...[plotSheet, ...sheets].map((path) => readFileSync(path, 'utf8')), traits].map(withoutComments).join('\n')
}
