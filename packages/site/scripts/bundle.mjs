/**
 * Builds the site: static files for any web server, below any path (docs/architecture/site.md).
 *
 *   src/page/*, src/worker.ts, src/relay.ts        ─▶   site/index.html, start-<hash>.js, worker-<hash>.js, relay.js
 *   the console as the gateway's package has it    ─▶   site/console/
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const source = at('../src/')

/** Modules of Node in the path of a store in memory, and their ports. */
const ports = {
  'node:buffer': 'buffer',
  'node:crypto': 'crypto',
  'node:events': 'events',
  'node:perf_hooks': 'perf-hooks',
}

/** Parts that are loaded for stores and files on a disk alone: here there are none, and loading one fails. */
const leftOut = /engine[\\/]src[\\/](storage[\\/]data-folder|indexes[\\/]index-file|transfer[\\/](export|import))\.ts$/

/** Texts in place of files; and no challenges, as these execute programs. */
const madeUp = {
  'bench/src/replay/recordings.ts': () => {
    const names = ['hot-key', 'cured']
    const texts = names.map((name) => [name, readFileSync(at(`../../bench/recordings/${name}.jsonl`), 'utf8')])
    return `const texts = ${JSON.stringify(Object.fromEntries(texts))}\nexport const recordingOf = (name) => texts[name]`
  },
  'bench/src/challenges/catalogue.ts': () => 'export const challenges = []',
}

const memoryOnly = {
  name: 'memory-only',
  load: (id) => {
    if (leftOut.test(id)) return "throw new Error('a browser has no files')"
    const path = id.replaceAll('\\', '/')
    return Object.entries(madeUp).find(([name]) => path.endsWith(`packages/${name}`))?.[1]()
  },
}

/**
 * Bundles a program of the site.
 *
 * @param input - below `src`
 * @param output - options for its files
 * @param define - values of names
 * @returns the chunks, the first of which is the entry; and the modules that they would need from elsewhere
 */
export async function bundled(input, output = {}, define = {}) {
  const bundle = await rolldown({
    input: source + input,
    platform: 'browser',
    resolve: {
      alias: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `${source}ports/${port}.ts`])),
      conditionNames: ['sixtables-source', 'browser', 'import', 'default'],
    },
    transform: {
      define,
      inject: {
        Buffer: [`${source}ports/buffer.ts`, 'Buffer'],
        setImmediate: [`${source}ports/turns.ts`, 'setImmediate'],
      },
    },
    plugins: [memoryOnly],
    // An import that stays is among `missing`; another one was part of what is left out.
    onLog: (level, log, next) => {
      if (log.code !== 'UNRESOLVED_IMPORT') next(level, log)
    },
  })
  const { output: chunks } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    ...output,
  })
  await bundle.close()
  const made = new Set(chunks.map(({ fileName }) => fileName))
  const needed = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
  return { chunks, missing: needed.filter((name) => !made.has(name)) }
}

/** Builds the whole site into a folder, which is emptied. */
export async function buildSite(target = at('../../../site/')) {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const write = ({ chunks, missing }) => {
    if (missing.length > 0) throw new Error(`a browser has no ${missing.join(', ')}`)
    for (const { fileName, code } of chunks) writeFileSync(`${target}/${fileName}`, code)
    return chunks[0].fileName
  }
  const labs = write(await bundled('labs.ts'))
  const worker = write(await bundled('worker.ts', {}, { labsFile: JSON.stringify(labs) }))
  write(await bundled('relay.ts', { format: 'iife', entryFileNames: 'relay.js' }))
  const start = write(await bundled('page/start.ts'))
  const boot = write(await bundled('page/boot.ts'))
  const page = readFileSync(`${source}page/index.html`, 'utf8')
  const policy =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'"
  const made = page.replace('%POLICY%', policy).replaceAll('%WORKER%', worker).replace('%START%', start)
  writeFileSync(`${target}/index.html`, made)
  cpSync(`${source}page/start.css`, `${target}/start.css`)
  const web = at('../../gateway/dist/web/')
  cpSync(web, `${target}/console`, { recursive: true })
  // The console's own program begins after the page can be answered.
  const consolePage = readFileSync(`${web}/index.html`, 'utf8')
    .replace(
      /<script type="module" src="([^"]+)"><\/script>/,
      `<script type="module" src="../${boot}" data-worker="${worker}" data-main="console/$1"></script>`,
    )
    .replace(
      '<meta charset="utf-8">',
      `<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
    )
  writeFileSync(`${target}/console/index.html`, consolePage)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildSite(process.argv[2])
