/**
 * Rules for imports, whose order ARCHITECTURE.md draws.
 *
 * - A folder of the engine or the gateway imports only itself and folders before it in `folderOrder`: `log` may import `tables`, not the
 *   other way round. Root files may be imported by all folders of their package, and import values from none.
 * - Inside a package a file imports the file it needs, never the barrel.
 * - Packages import each other's exports in the direction of `packageOrder`; exports for tests only in tests and labs. A test may import
 *   tests of a package below its own, such as a contract suite, by their path.
 * - A command of the command line imports no other command, and a page of the console no other page.
 * - Only `tables`, folders below it, and `on-demand`, which makes rows, make and parse row keys: no other file imports `rowKeyParts`.
 * - The console calls the server over HTTP: of other packages it imports types, and the names of the gateway's `browser.ts`.
 */
import { posix } from 'node:path'
import { type Finding, isShipped, type SourceFile, withoutComments } from './repository.ts'

/** The folders of a package, bottom first. A subfolder that is named here is a folder of its own. */
const folderOrder: Readonly<Record<string, readonly string[]>> = {
  engine: [
    'model',
    'encoding',
    'leveldb',
    'storage',
    'tables',
    'on-demand',
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
    'database/index-builds',
    'database',
    'observe/tablets',
    'observe/findings',
    'observe/inspect',
    'observe/feed',
    'engine',
    'testing',
  ],
  bigtable: ['gen', 'row-store', 'client', 'rows', 'gateways'],
  gateway: [
    'gen',
    'convert',
    'gql',
    'fixtures',
    'calls',
    'controls',
    'handlers',
    'protocols',
    'console',
    'admin',
    'labs',
    'emulator',
    'testing',
    'cli/framework',
    'cli/target',
    'cli/commands',
    'cli/page',
    'cli/commands/start',
    'cli',
  ],
  console: ['model', 'api', 'components', 'pages', 'app'],
}

/** The packages, bottom first. */
const packageOrder: readonly string[] = ['engine', 'gateway', 'bigtable', 'bench', 'console', 'site']

/** Contracts whose types every folder may import. */
const openTypes = new Set(['tables/table.ts', 'context.ts'])

/** The parts of row keys: whole files, or names of others. */
const rowKeyParts: Readonly<Record<string, readonly string[] | 'all'>> = {
  'encoding/keyspace.ts': 'all',
  'encoding/key-codec.ts': ['decodeKeyCode', 'decodePartition', 'keyRow', 'skipPartition'],
  'encoding/row-reader.ts': 'all',
}
const rowKeyFolders = [
  'on-demand',
  ...(folderOrder['engine'] ?? []).slice(0, (folderOrder['engine'] ?? []).indexOf('tables') + 1),
]

/** Exports of packages for other packages, by the files at their top. */
const exported = ['index', 'testing', 'browser', 'exchange', 'tasks', 'store', 'gateways']
/** Files that put a package together: these, and those at the top of the console. */
const barrels = new Set([...exported.map((name) => `${name}.ts`), 'main.tsx', 'report.tsx', 'course.d.ts'])
/** Exports by a name of their own. */
const paths = ['', ...exported.slice(1), 'did-you-mean', 'typed-keys']

/** Parts that know nothing of each other. */
const apart = [
  ['command', /^cli\/commands\/([^/]+)\//],
  ['page', /^pages\/([^/]+)/],
] as const

interface Import {
  readonly from: string
  /** Absent: everything. */
  readonly names: readonly string[] | undefined
  readonly typeOnly: boolean
}

const importPattern = /\b(import|export)\s+(type\s+)?[^'"();]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g

export function importsOf(text: string): readonly Import[] {
  return [...withoutComments(text).matchAll(importPattern)].map((match) => {
    const [all, , type, from, plain = ''] = match
    // A module that is imported for its effects alone gives no names.
    const list = /{([^}]*)}/.exec(all)?.[1] ?? (/^import\s*'/.test(all) ? '' : undefined)
    const names = list?.split(',').map((name) => /^\s*(?:type\s+)?(\w*)/.exec(name)?.[1] ?? '')
    return { from: from ?? plain, names, typeOnly: type !== undefined }
  })
}

export function importFindings(files: readonly SourceFile[]): Finding[] {
  const findings: Finding[] = []
  for (const { path, text } of files) {
    const place = /^packages\/([^/]+)\/(.*)$/.exec(path)
    if (place === null || !/\.tsx?$/.test(path)) continue
    const [, pack = '', inside = ''] = place
    for (const one of importsOf(text)) {
      const wrong = !one.from.startsWith('.')
        ? wrongAcross(pack, path, one)
        : isShipped(path)
          ? wrongInside(pack, inside.replace(/^src\//, ''), one)
          : leavesPackage(pack, inside, one.from)
      if (wrong !== undefined) findings.push(`${path} imports ${one.from}: ${wrong}`)
    }
  }
  return findings
}

/** How far tests go, for those of all packages. */
const sizes = '../../scripts/deep.ts'

function leavesPackage(pack: string, inside: string, from: string): string | undefined {
  const target = posix.join(posix.dirname(inside), from)
  if (!target.startsWith('..') || target === sizes) return undefined
  const other = /^\.\.\/([^/]+)\/test\//.exec(target)?.[1] ?? pack
  return packageOrder.indexOf(other) < packageOrder.indexOf(pack) ? undefined : 'packages are imported by name'
}

/** The fault of an import within a package. Paths are relative to `src`. */
function wrongInside(pack: string, path: string, { from, names, typeOnly }: Import): string | undefined {
  const target = posix.join(posix.dirname(path), from)
  if (target.startsWith('..')) return 'packages are imported by name, and tests not at all'
  if (barrels.has(path)) return undefined
  if (target === 'index.ts') return 'the barrel is for other packages; import the file itself'
  const order = folderOrder[pack]
  if (order === undefined) return undefined
  for (const [what, pattern] of apart) {
    const [own, other] = [path, target].map((one) => pattern.exec(one)?.[1])
    if (own !== undefined && other !== undefined && own !== other) return `a ${what} imports no other ${what}`
  }
  const [ownFolder, targetFolder] = [folderOf(path, order), folderOf(target, order)]
  if (pack === 'engine' && !rowKeyFolders.includes(ownFolder)) {
    const parts = rowKeyParts[target] ?? []
    if (parts === 'all' || names?.some((name) => parts.includes(name))) return 'row keys are the matter of tables'
  }
  if (targetFolder === '' || ownFolder === targetFolder) return undefined
  if (typeOnly && ((pack === 'engine' && openTypes.has(target)) || ownFolder === '')) return undefined
  if (ownFolder === '') return 'a root file imports types at most'
  const unknown = [ownFolder, targetFolder].find((folder) => !order.includes(folder))
  if (unknown !== undefined) return `the folder ${unknown} has no place in the order of scripts/tidy/imports.ts`
  return order.indexOf(targetFolder) < order.indexOf(ownFolder)
    ? undefined
    : `${targetFolder} stands above ${ownFolder}`
}

/** The fault of an import from another package. */
function wrongAcross(pack: string, path: string, { from, typeOnly }: Import): string | undefined {
  const [, other, rest = ''] = /^@sixtables\/([^/]+)(?:\/(.*))?$/.exec(from) ?? []
  if (other === undefined) return undefined
  if (packageOrder.indexOf(other) >= packageOrder.indexOf(pack)) return `${pack} does not stand on ${other}`
  if (!paths.includes(rest)) return 'only what a package exports can be imported'
  if (!isShipped(path)) return undefined
  if (rest === 'testing' && pack !== 'bench') return 'testing aids are for tests and labs'
  const isCalled = pack !== 'console' || typeOnly || from === '@sixtables/gateway/browser'
  return isCalled ? undefined : 'the console speaks to the server over HTTP alone'
}

/** The folder's name in the order, or else the first part of the path; empty for root files. */
function folderOf(path: string, order: readonly string[]): string {
  const parts = path.split('/').slice(0, -1)
  const inner = [3, 2].map((length) => parts.slice(0, length).join('/')).find((folder) => order.includes(folder))
  return inner ?? parts[0] ?? ''
}
