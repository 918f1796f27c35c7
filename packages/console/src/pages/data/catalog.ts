/**
 * The databases, namespaces and kinds that there are, kept up to date by commits.
 *
 * A kind is counted up to `countMax` entities: the cost of a count follows what is counted.
 *
 * The kinds are those of the scope: of another scope there are none until they are read.
 *
 * CT2  At rest each count is of the newest entities, also of a kind whose counting was cut short by a later commit.
 */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import type { CallOptions } from '../../api/http.ts'
import { countOfKind, databasesPath, listedMax, namesOf, readDatabases } from '../../api/kinds.ts'
import type { DatabaseName, EntityScope } from '../../model/scope.ts'
import { useChanges } from './commits.ts'

/** Kinds that are counted at most. */
const countedMax = 100

export interface Catalog {
  readonly isLoaded: boolean
  readonly databases: readonly DatabaseName[]
  /** The default namespace is empty. */
  readonly namespaces: readonly string[]
  readonly kinds: readonly string[]
  readonly hasMoreKinds: boolean
  /** By kind; `countMax` stands for more. */
  readonly counts: ReadonlyMap<string, number>
  readonly error: Error | undefined
}

/** Before the kinds of a scope are read. */
const unread = { isLoaded: false, kinds: [], hasMoreKinds: false, counts: new Map(), error: undefined }
const nothing: Catalog = { ...unread, databases: [], namespaces: [] }

export function useCatalog({ project, database, namespace }: EntityScope): Catalog {
  const scopeName = JSON.stringify([project, database, namespace])
  const [latest, setLatest] = useState({ of: scopeName, catalog: nothing })
  const setCatalog = (catalog: Catalog): void => setLatest({ of: scopeName, catalog })
  const catalog = latest.of === scopeName ? latest.catalog : { ...latest.catalog, ...unread }
  const current = epoch.value
  const loading = useRef<AbortController | undefined>(undefined)
  const known = useRef(catalog)
  known.current = catalog
  /** Kinds whose counts are of the newest entities (CT2). */
  const counted = useRef(new Set<string>())
  const load = useCallback(
    async (isStale: (kind: string) => boolean): Promise<void> => {
      counted.current = new Set([...counted.current].filter((kind) => !isStale(kind)))
      loading.current?.abort()
      const abort = new AbortController()
      loading.current = abort
      try {
        const scope = { project, database, namespace }
        const names = await namesIn(scope, abort)
        const counts = new Map([...known.current.counts].filter(([kind]) => names.kinds.includes(kind)))
        setCatalog({ ...names, counts, isLoaded: true, error: undefined })
        for (const kind of names.kinds.slice(0, countedMax)) {
          if (counts.has(kind) && counted.current.has(kind)) continue
          counts.set(kind, await countOfKind(scope, kind, abort))
          counted.current.add(kind)
          setCatalog({ ...names, counts: new Map(counts), isLoaded: true, error: undefined })
        }
      } catch (error) {
        if (!abort.signal.aborted) setCatalog({ ...known.current, isLoaded: true, error: error as Error })
      }
    },
    [project, database, namespace],
  )
  useEffect(() => {
    setCatalog({ ...known.current, ...unread })
    void load(() => true)
    return () => loading.current?.abort()
  }, [load, current])
  useChanges(project, database, (changed) => void load((kind) => changed(namespace, kind)))
  return catalog
}

type Names = Pick<Catalog, 'databases' | 'namespaces' | 'kinds' | 'hasMoreKinds'>

async function namesIn(scope: EntityScope, options: CallOptions): Promise<Names> {
  const databases = await readDatabases(databasesPath, options)
  if (scope.project === '') return { databases, namespaces: [], kinds: [], hasMoreKinds: false }
  const [namespaces, kinds] = await Promise.all([
    namesOf(scope, '__namespace__', options),
    namesOf(scope, '__kind__', options),
  ])
  const own = kinds.filter((kind) => !kind.startsWith('__'))
  return { databases, namespaces, kinds: own, hasMoreKinds: kinds.length >= listedMax }
}
