/** The bundle of a command, for `bundle` scripts of packages (docs/decisions/0013-bundle.md). */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/**
 * Node warns of `new Buffer()` outside node_modules, where a bundle in a clone is; with arrays and texts `Buffer.from` is the same.
 * The terminal's library has it.
 */
const withoutDeprecatedBuffer = {
  name: 'without-deprecated-buffer',
  transform: (code) => (code.includes('new Buffer(') ? code.replaceAll('new Buffer(', 'Buffer.from(') : undefined),
}

/**
 * Bundles `cli/main.js` into `bundle/main.js`, and each program of a thread into a file of its name.
 *
 * @param dist - URL of a package's folder of compiled files
 * @param threads - paths of the programs of threads there, without `.js`
 */
export async function bundleCommand(dist, threads = []) {
  const at = (path) => fileURLToPath(new URL(path, dist))
  rmSync(at('bundle'), { recursive: true, force: true })
  const bundle = await rolldown({
    input: Object.fromEntries(
      [['main', 'cli/main'], ...threads.map((one) => [one, one])].map(([name, file]) => [name, at(`${file}.js`)]),
    ),
    platform: 'node',
    external: ['level'],
    logLevel: 'warn',
    plugins: [withoutDeprecatedBuffer],
  })
  await bundle.write({
    dir: at('bundle'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // Without comments and blanks there is less to read; names stay, for stack traces.
    minify: { mangle: false, compress: false },
  })
  await bundle.close()
}
