/**
 * Rules for the laws that files state in their heads.
 *
 *   packages/engine/src/log/commit-log.ts    " * L1  …"   the law; its full name is commit-log/L1
 *   in the same file                         L1           its short name
 *   in any other file                        commit-log/L1
 *
 * A law is stated once in its file. If two files with laws have the same name, the full name also has the folder: executor/window/W1. A short
 * name may be used only in the file of its law, and a full name must belong to a law. A test that a comment names must exist.
 */
import { type Finding, matches, type SourceFile } from './repository.ts'

const lawPattern = /^ \* {1,2}([A-Z]{1,2}\d{1,2}[a-z]?) {2,}\S/gm
const shortPattern =
  /(?:(?<![\w/`'".$%#-])|(?<=['`])(?=[A-Z]{1,2}\d{1,2}[a-z]?[,:] ))([A-Z]{1,2}\d{1,2}[a-z]?)(?![\w/%.-]*\w)/g
const fullPattern = /(?<![\w/.-])((?:[a-z][\w.-]*\/)+)([A-Z]{1,2}\d{1,2}[a-z]?)(?!\w)/g
const testPattern = /(?<![\w/.-])((?:[\w.*-]+\/)*[\w.*-]+\.test\.ts)\b/g

/** The laws of each file that has any, by its path. */
export type Laws = ReadonlyMap<string, ReadonlySet<string>>

/** Tests name laws but do not state any. */
function statesLaws(path: string): boolean {
  return path.endsWith('.ts') && !path.endsWith('.test.ts')
}

export function lawsOf(files: readonly SourceFile[]): Laws {
  const laws = new Map<string, ReadonlySet<string>>()
  for (const { path, text } of files) {
    if (!statesLaws(path)) continue
    const own = new Set(statedIn(text))
    if (own.size > 0) laws.set(path, own)
  }
  return laws
}

function statedIn(text: string): readonly string[] {
  return Array.from(text.matchAll(lawPattern), ([, law = '']) => law)
}

/** The part of full names before the slash, by file. */
export function lawPrefixes(laws: Laws): ReadonlyMap<string, string> {
  const byName = new Map<string, string[]>()
  for (const path of laws.keys()) {
    const name = path.slice(path.lastIndexOf('/') + 1, -'.ts'.length)
    byName.set(name, [...(byName.get(name) ?? []), path])
  }
  const prefixes = new Map<string, string>()
  for (const [name, paths] of byName) {
    for (const path of paths) prefixes.set(path, paths.length === 1 ? name : `${path.split('/').at(-2)}/${name}`)
  }
  return prefixes
}

export function lawFindings(files: readonly SourceFile[]): Finding[] {
  const laws = lawsOf(files)
  const prefixes = lawPrefixes(laws)
  const fullNames = new Set<string>()
  const shortNames = new Set([...laws.values()].flatMap((own) => [...own]))
  const findings: Finding[] = []
  for (const [path, own] of laws) {
    for (const law of own) {
      const name = `${prefixes.get(path)}/${law}`
      if (fullNames.has(name))
        findings.push(`${path}: ${name} is the name of another law, too; rename the file or the law`)
      fullNames.add(name)
    }
  }
  for (const file of files) {
    // The rules' own files and tests contain examples of laws and tests that do not exist.
    if (file.path.startsWith('scripts/tidy/')) continue
    if (/^(packages\/[^/]+\/(src|test)|tools)\//.test(file.path)) {
      findings.push(...statedTwice(file), ...shortFindings(file, laws.get(file.path), shortNames))
    }
    findings.push(...fullFindings(file, fullNames), ...testFindings(file, files))
  }
  return findings
}

function statedTwice({ path, text }: SourceFile): Finding[] {
  if (!statesLaws(path)) return []
  const stated = statedIn(text)
  return stated.filter((law, i) => stated.indexOf(law) < i).map((law) => `${path} states ${law} twice`)
}

function shortFindings(
  { path, text }: SourceFile,
  own: ReadonlySet<string> | undefined,
  known: ReadonlySet<string>,
): Finding[] {
  if (!path.endsWith('.ts')) return []
  return matches(path, text, shortPattern, (_, [, law = '']) =>
    known.has(law) && !own?.has(law)
      ? `names the law ${law}, which this file does not state: write file-of-the-law/${law}`
      : undefined,
  )
}

function fullFindings({ path, text }: SourceFile, fullNames: ReadonlySet<string>): Finding[] {
  return matches(path, text, fullPattern, (name) =>
    fullNames.has(name) ? undefined : `names the law ${name}, which no file states`,
  )
}

function testFindings({ path, text }: SourceFile, files: readonly SourceFile[]): Finding[] {
  if (!path.endsWith('.ts')) return []
  return matches(path, text, testPattern, (name) => {
    const pattern = new RegExp(`(^|/)${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
    return files.some((other) => pattern.test(other.path)) ? undefined : `names the test ${name}, which is not there`
  })
}
