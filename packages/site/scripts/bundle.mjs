/**
 * Builds the site: static files for any web server, below any path (docs/architecture/site.md).
 *
 *   src/page/*, src/worker.ts                      ─▶   site/index.html, start-<hash>.js, worker-<hash>.js, …
 *   the console as the gateway's package has it    ─▶   site/console/
 *   src/offline.ts, a list of all these            ─▶   site/offline.js
 */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { styleOf } from '../../console/scripts/style.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const source = at('../src/')

/** Modules of Node in the path of a store in memory, and their ports. */
const ports = {
  'node:buffer': 'buffer',
  'node:crypto': 'crypto',
  'node:perf_hooks': 'perf-hooks',
  'node:util': 'util',
}

/** The names that the engine and commands import of other modules of Node. A browser has no limit on listeners to lift. */
const small = {
  'node:events': 'export const setMaxListeners = () => {}',
  'node:os': "export const homedir = () => '/'",
  'node:path': 'export const resolve = (...parts) => parts.at(-1), join = resolve',
  'node:timers/promises': 'export const setTimeout = (ms) => new Promise((done) => globalThis.setTimeout(done, ms))',
}

/** The form of yargs for browsers would load these two packages from a public address. */
const fromElsewhere = {
  'https://unpkg.com/cliui@8.0.1/index.mjs': 'cliui',
  'https://unpkg.com/yargs-parser@21.1.1/browser.js': 'yargs-parser/browser',
}

/** Parts for stores, files and terminals of a machine: here there are none, and using one fails. */
const leftOut = new RegExp(
  [
    'engine/src/(make-folder|storage/data-folder|indexes/index-file|transfer/(export|import))',
    'gateway/src/(emulator/server-file|cli/(target/open-store|commands/gql/prompt))',
    'gateway/src/cli/commands/(bigtable|completion|console|env|health|record|requests|reset|seed|top/top|transfer)',
  ]
    .map((path) => `packages/${path}\\.ts$`)
    .join('|'),
)

/** The names that a module exports, each of which fails when it is called. */
function failing(path) {
  const names = readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)
  const none = "const none = function () { throw new Error('a browser has no files') }"
  return [none, ...Array.from(names, ([, name]) => `export { none as ${name} }`)].join('\n')
}

/** Texts in place of files, workers in place of processes, no commands of other languages, and no threads beside the server's own. */
const madeUp = {
  'gateway/src/protocols/json-threads.ts': () => 'export const convertInThread = undefined',
  'bench/src/replay/recordings.ts': () => {
    const texts = textsOf(['hot-key', 'cured'], (name) => `recordings/${name}.jsonl`)
    return `const texts = ${texts}\nexport const recordingOf = (name) => texts[name]`
  },
  'bench/src/challenges/given.ts': () => {
    const names = readdirSync(at('../../bench/challenges/'))
    const [programs, given] = ['solution.mjs', 'given.jsonl'].map((file) =>
      textsOf(names, (name) => `challenges/${name}/${file}`),
    )
    return `const [programs, given] = [${programs}, ${given}]
      export const givenProgram = (name) => programs[name]
      export const keptGiven = (name) => JSON.parse(given[name])`
  },
  'bench/src/challenges/program-host.ts': () => `export * from ${JSON.stringify(`${source}program-host.js`)}`,
  'bench/src/challenges/command-instance.ts': () =>
    `export class CommandInstance { constructor() { throw new Error('a browser has no commands') } }`,
}

function textsOf(names, pathOf) {
  const texts = names.map((name) => [name, readFileSync(at(`../../bench/${pathOf(name)}`), 'utf8')])
  return JSON.stringify(Object.fromEntries(texts))
}

const memoryOnly = {
  name: 'memory-only',
  resolveId(id, importer) {
    if (Object.hasOwn(small, id)) return `small:${id}`
    return Object.hasOwn(fromElsewhere, id) ? this.resolve(fromElsewhere[id], importer) : undefined
  },
  load: (id) => {
    if (id.startsWith('small:')) return small[id.slice('small:'.length)]
    const path = id.replaceAll('\\', '/')
    if (leftOut.test(path)) return failing(id)
    return Object.entries(madeUp).find(([name]) => path.endsWith(`packages/${name}`))?.[1]()
  },
}

/**
 * Bundles programs of the site: files below `src`, by the names of their chunks. `define` has values of names.
 *
 * @throws Error if they need modules that a browser does not have
 */
export async function bundled(input, output = {}, define = {}) {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, source + file])),
    platform: 'browser',
    resolve: {
      alias: {
        ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `${source}ports/${port}.ts`])),
        yargs: 'yargs/browser',
      },
      conditionNames: ['sixtables-source', 'browser', 'import', 'default'],
    },
    transform: {
      define: { 'process.stdout.columns': '100', 'window.setTimeout': 'setTimeout', ...define },
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
    codeSplitting: {
      groups: [
        { name: 'page', test: /[\\/](tab|port-client)\.ts$/, priority: 1 },
        // With all that it imports: thirty small files take three times as long from a server that is far away.
        { name: 'engine', test: /[\\/]site[\\/]src[\\/]worker\.ts$/ },
      ],
    },
    comments: { legal: true, annotation: false, jsdoc: false },
    ...output,
  })
  await bundle.close()
  const made = new Set(chunks.map(({ fileName }) => fileName))
  const needed = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
  const missing = needed.filter((name) => !made.has(name))
  if (missing.length > 0) throw new Error(`a browser has no ${missing.join(', ')}`)
  return chunks
}

function write(chunks, target) {
  for (const { fileName, code } of chunks) writeFileSync(`${target}/${fileName}`, code)
}

/** Builds the whole site into a folder, which is emptied. */
export async function buildSite(target = at('../../../site/')) {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const [program] = await bundled({ program: 'program.js' })
  write([program], target)
  const define = { programFile: JSON.stringify(program.fileName) }
  const chunks = await bundled({ worker: 'worker.ts', start: 'page/start.ts', boot: 'page/boot.ts' }, {}, define)
  write(chunks, target)
  const entryOf = (entry) => chunks.find(({ isEntry, name }) => isEntry && name === entry)
  // The module of the worker is in the file of the engine, and its own file imports that alone.
  const [start, [worker]] = [entryOf('start'), entryOf('worker').imports]
  const page = readFileSync(`${source}page/index.html`, 'utf8')
  const policy =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'"
  const preload = start.imports.map((name) => `<link rel="modulepreload" href="${name}">`).join('')
  const made = page
    .replace('%POLICY%', policy)
    .replace('%PRELOAD%', preload)
    .replace('%WORKER%', worker)
    .replace('%START%', start.fileName)
  writeFileSync(`${target}/index.html`, made)
  writeFileSync(`${target}/start.css`, styleOf(['styles']) + readFileSync(`${source}page/start.css`, 'utf8'))
  const web = at('../../gateway/dist/web/')
  cpSync(web, `${target}/console`, { recursive: true })
  // The console's own program begins after the page can be answered.
  const consolePage = readFileSync(`${web}/index.html`, 'utf8')
    .replace(
      /<script type="module" src="([^"]+)"><\/script>/,
      `<script type="module" src="../${entryOf('boot').fileName}" data-worker="${worker}" data-main="console/$1"></script>`,
    )
    .replace(
      '<meta charset="utf-8">',
      `<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
    )
  writeFileSync(`${target}/console/index.html`, consolePage)
  await writeOffline(target)
}

/** Writes the service worker with the list of the files that are there now: a version of the site. */
export async function writeOffline(target) {
  const own = 'offline.js'
  const names = readdirSync(target, { recursive: true }).map((name) => name.replaceAll('\\', '/'))
  const files = names.filter((name) => name !== own && statSync(`${target}/${name}`).isFile()).sort()
  const digestOf = (data) => `sha256-${createHash('sha256').update(data).digest('base64')}`
  const list = JSON.stringify(
    Object.fromEntries(files.map((name) => [name, digestOf(readFileSync(`${target}/${name}`))])),
  )
  const define = { siteFiles: list, siteVersion: JSON.stringify(digestOf(list)) }
  write(
    await bundled({ offline: 'offline.ts' }, { format: 'iife', entryFileNames: own, codeSplitting: false }, define),
    target,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildSite(process.argv[2])
