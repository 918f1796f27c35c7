/**
 * Who may import whom. ARCHITECTURE.md draws this order; here it is held.
 *
 * I1  A folder of the engine imports only itself and folders to its left in `engineOrder`.
 * I2  Root files of the engine are open to all its folders and import values from none of them.
 * I3  Inside a package a file imports the file it needs, never the barrel.
 * I4  Packages meet at their exports, in the direction of `packageOrder`; what is for tests stays in tests and labs.
 * I5  The gateway's handlers know no protocol.
 */
import { posix } from 'node:path'
import { type Finding, isShipped, type SourceFile, withoutComments } from './repository.ts'

/** The engine's folders, bottom first. */
export const engineOrder: readonly string[] = [
  'model',
  'encoding',
  'storage',
  'tablets',
  'tables',
  'indexes',
  'ids',
  'log',
  'history',
  'transactions',
  'planner',
  'executor',
  'metadata',
  'check',
  'transfer',
  'findings',
  'service',
  'testing',
]

/** The packages, bottom first. */
export const packageOrder: readonly string[] = ['engine', 'gateway', 'bench']

/** Contracts of two layers that all others may name in types, wherever they stand themselves. */
const openTypes = new Set(['tables/table.ts', 'context.ts'])

/** Files at the top of the engine that gather the rest for other packages. */
const barrels = new Set(['index.ts', 'testing.ts'])

interface Import {
  readonly from: string
  readonly typeOnly: boolean
}

const importPattern = /\b(import|export)\s+(type\s+)?[^'"();]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g

export function importsOf(text: string): readonly Import[] {
  return [...withoutComments(text).matchAll(importPattern)].map((match) => ({
    from: match[3] ?? match[4] ?? '',
    typeOnly: match[2] !== undefined,
  }))
}

export function importFindings(files: readonly SourceFile[]): Finding[] {
  const findings: Finding[] = []
  for (const { path, text } of files) {
    const place = /^packages\/([^/]+)\/(.*)$/.exec(path)
    if (place === null || !path.endsWith('.ts')) continue
    const [, pack = '', inside = ''] = place
    for (const one of importsOf(text)) {
      const wrong = one.from.startsWith('.')
        ? isShipped(path)
          ? wrongInside(pack, inside.replace(/^src\//, ''), one)
          : leavesPackage(inside, one.from)
        : wrongAcross(pack, path, one.from)
      if (wrong !== undefined) findings.push(`${path} imports ${one.from}: ${wrong}`)
    }
  }
  return findings
}

function leavesPackage(inside: string, from: string): string | undefined {
  return posix.join(posix.dirname(inside), from).startsWith('..') ? 'packages are imported by name' : undefined
}

/** I1, I2, I3, I5. Paths are relative to `src`. */
function wrongInside(pack: string, path: string, { from, typeOnly }: Import): string | undefined {
  const target = posix.join(posix.dirname(path), from)
  if (target.startsWith('..')) return 'packages are imported by name, and tests by nobody'
  if (barrels.has(path)) return undefined
  if (target === 'index.ts') return 'the barrel is for other packages; import the file itself'
  const [ownFolder, targetFolder] = [folderOf(path), folderOf(target)]
  if (pack === 'gateway' && ownFolder === 'handlers' && targetFolder === 'protocols') {
    return 'handlers know no protocol'
  }
  if (pack !== 'engine' || targetFolder === '' || ownFolder === targetFolder) return undefined
  if (typeOnly && (openTypes.has(target) || ownFolder === '')) return undefined
  if (ownFolder === '') return 'a root file imports types at most'
  const [own, other] = [engineOrder.indexOf(ownFolder), engineOrder.indexOf(targetFolder)]
  if (own < 0) return `the folder ${ownFolder} has no place in the order of scripts/tidy/imports.ts`
  if (other < 0) return `the folder ${targetFolder} has no place in the order of scripts/tidy/imports.ts`
  return other < own ? undefined : `${targetFolder} stands above ${ownFolder}`
}

/** I4. */
function wrongAcross(pack: string, path: string, from: string): string | undefined {
  const [, other, rest = ''] = /^@sixtables\/([^/]+)(?:\/(.*))?$/.exec(from) ?? []
  if (other === undefined) return undefined
  if (packageOrder.indexOf(other) >= packageOrder.indexOf(pack)) return `${pack} does not stand on ${other}`
  if (rest !== '' && rest !== 'testing') return 'only what a package exports can be imported'
  if (rest === 'testing' && isShipped(path) && pack !== 'bench') return 'testing aids are for tests and labs'
  return undefined
}

function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : ''
}
