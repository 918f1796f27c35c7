import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { posix } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isDeep } from './scripts/deep.ts'

/**
 * Set by `npm test`, which has built the packages: tests then get them compiled. Node loads these by itself, and they take a quarter less
 * CPU time than Vite's form of the sources.
 */
const isCompiled = process.env['SIXTABLES_COMPILED'] !== undefined

// Tests import packages by name and must see sources, never a stale build: hence the export condition. `import` must not
// stand here: Node would get it for require() too, and CommonJS packages then find ES modules (protobufjs loses `long`).
const conditions = isCompiled ? ['node'] : ['sixtables-source', 'node']

/** Short files that take long. By itself Vitest begins with large files, and these would keep one core alone busy at the end. */
const longest = /bench\/test\/|console\/test\/|contract\/(overload|faults|ids-sigkill|crash-reset|kills)\./

/** Counts calls of functions by a look at all code that its worker has loaded: at first that is little. */
const first = /repeated-fields\./

/** These tests get the sources: they spy on functions of modules or load one twice. Node allows neither with modules that it loads itself. */
const onSources = /engine\/src\/errors\.test\.|protocols\/(json-large|json-codec|http-json)\.test\./

/** Gives tests and their helpers the compiled form of each source that they import. */
const compiled: Plugin = {
  name: 'compiled',
  enforce: 'pre',
  resolveId(source, importer = '') {
    if (!source.startsWith('.') || !/\.test\.ts$|\/test\//.test(importer) || onSources.test(importer)) return undefined
    const file = posix.join(posix.dirname(importer), source)
    const path = file.replace(/(\/packages\/\w+)\/src\/(.*)\.[jt]s$/, '$1/dist/$2.js')
    return path !== file && existsSync(path) ? path : undefined
  },
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number =>
      first.test(moduleId) ? 0 : longest.test(moduleId) ? 1 : 2
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

/** The seed of a deep run, which tests with chance begin from; it is printed, and the same number draws the same again. */
const seed = process.env['SIXTABLES_SEED'] ?? String(Date.now() % 1_000_000)
if (isDeep) {
  process.env['SIXTABLES_SEED'] = seed
  process.stderr.write(`SIXTABLES_SEED=${seed} draws the same again\n`)
}

export default defineConfig({
  plugins: isCompiled ? [compiled] : [],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Of any folder: with `--dir` the pattern is read from there.
    include: ['**/*.test.ts'],
    pool: 'forks',
    server: { deps: { external: isCompiled ? [/\/packages\/\w+\/dist\//] : [] } },
    // A worker loads a module once, not once for each of 400 files, which took a quarter of a run. So a file leaves nothing behind:
    // what it listens to, spies on and stubs ends with it.
    isolate: false,
    setupFiles: ['scripts/test-env.ts'],
    restoreMocks: true,
    unstubGlobals: true,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    // Two more than there are cores: a third of the time tests wait for servers and browsers. By itself Vitest leaves a core out.
    maxWorkers: availableParallelism() + 2,
    // For a test that hangs. One that takes as long on a machine with other work to do has not failed; see also
    // packages/gateway/test/support/patience.ts.
    testTimeout: isDeep ? 86_400_000 : 300_000,
    hookTimeout: 300_000,
    // Only a test that fails polls to the end.
    expect: { poll: { timeout: 120_000 } },
  },
})
