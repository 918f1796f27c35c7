/**
 * Rule: an export that only tests use is refused, because tests of such a function prove nothing about the product.
 *
 * A function, class or constant that a file below `src/` exports must be used in its own file or imported by another one that is no test;
 * entry points of the package count. Test doubles (`src/testing/` of the engine) count as tests.
 */
import { posix } from 'node:path'
import { importsOf } from './imports.ts'
import { type Finding, isShipped, isTest, type SourceFile, withoutComments } from './repository.ts'

const exportPattern = /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let) (\w+)/gm
/** Exports whose use is not visible in imports. */
const usedOtherwise: Readonly<Record<string, string>> = {
  'packages/bench/src/cli/main.ts main': 'the command imports it by a path that it looks up',
  'packages/gateway/src/cli/main.ts main': 'the command imports it by a path that it looks up',
  'packages/gateway/src/cli/framework/errors.ts exitCodesInWords': 'a page of the reference is printed from it',
  'packages/bench/src/report/terminal.ts pageExcerpt': 'the pages of the labs are printed by it',
  'packages/site/src/ports/buffer.ts isUtf8': "the site's bundle imports it in place of Node's",
  'packages/site/src/ports/crypto.ts createHash': "the site's bundle imports it in place of Node's",
  'packages/site/src/ports/crypto.ts createHmac': "the site's bundle imports it in place of Node's",
  'packages/site/src/ports/perf-hooks.ts createHistogram': "the site's bundle imports it in place of Node's",
  'packages/site/src/ports/turns.ts setImmediate': "the site's bundle imports it in place of Node's",
}

const forTests = /^packages\/engine\/src\/testing\//

type Imported = Set<string> | 'everything'

/** The names that files other than tests import, by path of the imported file. */
function importedFrom(files: readonly SourceFile[]): ReadonlyMap<string, Imported> {
  const imported = new Map<string, Imported>()
  for (const { path, text } of files) {
    if (!/\.(tsx?|mjs)$/.test(path) || isTest(path) || forTests.test(path)) continue
    for (const { from, names } of importsOf(text)) {
      const target = posix.join(posix.dirname(path), from)
      const known = imported.get(target) ?? new Set()
      if (known === 'everything') continue
      imported.set(target, names === undefined ? 'everything' : new Set([...known, ...names]))
    }
  }
  return imported
}

/** The exports in the manifests of packages. */
function entryPoints(files: readonly SourceFile[]): ReadonlySet<string> {
  const entries = new Set<string>()
  for (const { path, text } of files) {
    if (!/^packages\/[^/]+\/package\.json$/.test(path)) continue
    for (const [, source = ''] of text.matchAll(/"sixtables-source": "([^"]+)"/g)) {
      entries.add(posix.join(posix.dirname(path), source))
    }
  }
  return entries
}

export function exportFindings(files: readonly SourceFile[]): Finding[] {
  const imported = importedFrom(files)
  const entries = entryPoints(files)
  const findings: Finding[] = []
  for (const { path, text } of files) {
    if (!isShipped(path) || forTests.test(path) || entries.has(path)) continue
    const names = imported.get(path) ?? new Set()
    if (names === 'everything') continue
    const code = withoutComments(text)
    for (const match of code.matchAll(exportPattern)) {
      const name = match[1] ?? ''
      if (names.has(name) || `${path} ${name}` in usedOtherwise) continue
      const uses = code.match(new RegExp(`(?<![\\w.#])${name}\\b`, 'g'))?.length ?? 0
      if (uses < 2) findings.push(`${path} exports ${name}, which nothing but tests uses`)
    }
  }
  return findings
}
