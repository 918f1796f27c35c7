/**
 * The kinds of a database, and how many entities each has.
 *
 * The cost of a count follows what is counted, so by itself a page counts a kind up to {@link countMax}: `1,000+` stands for more.
 */
import type { DatabasesReport } from '@sixtables/gateway/browser'
import { counted } from '../model/numbers.ts'
import type { DatabaseName, EntityScope } from '../model/scope.ts'
import { countUpTo, wholeKind } from '../model/statements.ts'
import { keyPages, readCount, readPage } from './datastore.ts'
import { type CallOptions, getJson } from './http.ts'

export const countMax = 1000
export const listedMax = 2000
/** Kinds with figures in one answer. */
export const kindsMax = 100
/** Namespaces that are looked through for small kinds. */
const namespacesMax = 20

/** Names of a metadata kind, such as `__kind__`; the default namespace has an id, and is empty. */
export async function namesOf(scope: EntityScope, kind: string, options: CallOptions): Promise<readonly string[]> {
  const names: string[] = []
  for await (const keys of keyPages(scope, wholeKind(kind), options)) {
    names.push(...keys.map(({ path }) => path.at(-1)?.name ?? ''))
    if (names.length >= listedMax) break
  }
  return names
}

/** At most one more than {@link countMax}, which stands for any larger number. */
export async function countOfKind(scope: EntityScope, kind: string, options: CallOptions): Promise<number> {
  return await readCount(scope, countUpTo(kind, countMax + 1), options)
}

export function countInWords(count: number): string {
  return count > countMax ? `${counted(countMax)}+` : counted(count)
}

export interface KindCount {
  readonly kind: string
  readonly entities: number
  readonly entityBytes?: number
  readonly indexRows?: number
  readonly indexBytes?: number
}

export interface KindCounts {
  readonly kinds: readonly KindCount[]
  readonly isWhole: boolean
}

/** All figures, by the statistics that the server puts together from a walk over all entities. */
export async function countAll(scope: EntityScope, options: CallOptions): Promise<KindCounts> {
  const request = { start: undefined, end: undefined, limit: kindsMax, before: 0 }
  const { rows } = await readPage(scope, wholeKind('__Stat_Kind__'), request, options)
  const kinds = rows.map(({ entity: { properties = {} } }): KindCount => {
    const number = (name: string): number => Number(properties[name]?.integerValue ?? 0)
    return {
      kind: properties['kind_name']?.stringValue ?? '',
      entities: number('count'),
      entityBytes: number('entity_bytes'),
      indexRows: number('builtin_index_count') + number('composite_index_count'),
      indexBytes: number('builtin_index_bytes') + number('composite_index_bytes'),
    }
  })
  return { kinds, isWhole: true }
}

/** All figures where no kind is large; else each kind up to {@link countMax}. The answer costs the same under any load. */
export async function countSmall(scope: EntityScope, options: CallOptions): Promise<KindCounts> {
  const namespaces = await namesOf(scope, '__namespace__', options)
  const counts = new Map<string, number>()
  for (const namespace of namespaces.slice(0, namespacesMax)) {
    const inside = { ...scope, namespace }
    const kinds = (await namesOf(inside, '__kind__', options)).filter((kind) => !/^__.*__$/.test(kind))
    for (const kind of kinds.slice(0, kindsMax)) {
      const before = counts.get(kind) ?? 0
      const more = before <= countMax ? await countOfKind(inside, kind, options) : 0
      counts.set(kind, before + more)
    }
  }
  const isSmall = namespaces.length <= namespacesMax && [...counts.values()].every((count) => count <= countMax)
  if (isSmall) return countAll(scope, options)
  return { kinds: [...counts].map(([kind, entities]) => ({ kind, entities })), isWhole: false }
}

export const databasesPath = '/emulator/inspect/databases'

export async function readDatabases(path: string, options?: CallOptions): Promise<readonly DatabaseName[]> {
  const databases: DatabaseName[] = []
  for (let query = ''; ; ) {
    const page = await getJson<DatabasesReport>(`${path}${query}`, options)
    databases.push(...page.databases)
    if (page.next === undefined) return databases
    query = `?${new URLSearchParams({ after: page.next })}`
  }
}
