/**
 * Joins what `tsc` made of the command line, the server and the engine into few files, so that the command starts sooner
 * (docs/decisions/0013-bundle.md). What a plain start does not need stays in files of its own, imported when it is used.
 *
 *   dist/cli/main.js, and all that it imports   ─▶   dist/bundle/main.js, dist/bundle/<part>.js …
 *   dist/protocols/json-thread.js               ─▶   dist/bundle/protocols/json-thread.js; so each program of a thread (src/threads.ts)
 *
 * LevelDB stays outside: its binary lies beside its JavaScript.
 */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Node warns of `new Buffer()` outside node_modules, where a bundle in a clone is; with arrays and texts `Buffer.from` is the same.
 * The terminal's library has it.
 */
const withoutDeprecatedBuffer = {
  name: 'without-deprecated-buffer',
  transform: (code) => (code.includes('new Buffer(') ? code.replaceAll('new Buffer(', 'Buffer.from(') : undefined),
}

rmSync(at('../dist/bundle'), { recursive: true, force: true })
const threads = ['protocols/json-thread', 'cli/page/page-thread', 'admin/emulator/fixture-thread']
const bundle = await rolldown({
  input: Object.fromEntries(
    [['main', 'cli/main'], ...threads.map((one) => [one, one])].map(([name, file]) => [name, at(`../dist/${file}.js`)]),
  ),
  platform: 'node',
  external: ['level'],
  logLevel: 'warn',
  plugins: [withoutDeprecatedBuffer],
})
await bundle.write({
  dir: at('../dist/bundle'),
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  // Without comments and blanks there is less to read; names stay, for stack traces.
  minify: { mangle: false, compress: false },
})
await bundle.close()
