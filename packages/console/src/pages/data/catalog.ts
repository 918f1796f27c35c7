/**
 * The databases, namespaces and kinds that there are, and counts of kinds, kept up to date by commits.
 *
 * CT2  At rest each count is of the newest entities, also of a kind that was counted while a later commit came.
 */
import { useEffect } from 'preact/hooks'
import { countOfKind, databasesPath, listedMax, namesOf, readDatabases } from '../../api/kinds.ts'
import { useLoaded } from '../../components/use-server.ts'
import type { EntityScope } from '../../model/scope.ts'
import { type Changed, useChanges } from './commits.ts'

export type Catalog = ReturnType<typeof useCatalog>

export function useCatalog({ project, database, namespace }: EntityScope) {
  const scope = { project, database, namespace }
  const named = (...names: readonly string[]) => (project === '' ? undefined : JSON.stringify(names))
  const databases = useLoaded(databasesPath, { read: readDatabases })
  const namespaces = useLoaded(named(project, database), {
    read: (_, options) => namesOf(scope, '__namespace__', options),
  })
  const kinds = useLoaded(named(project, database, namespace), {
    read: async (_, options) => {
      const all = await namesOf(scope, '__kind__', options)
      return { own: all.filter((kind) => !kind.startsWith('__')), hasMore: all.length >= listedMax }
    },
  })
  useChanges(project, database, () => {
    for (const { reload } of [databases, namespaces, kinds]) reload()
  })
  const error = databases.error ?? namespaces.error ?? kinds.error
  return {
    isLoaded: error !== undefined || (project === '' ? databases : kinds).value !== undefined,
    databases: databases.value ?? [],
    namespaces: namespaces.value ?? [],
    kinds: kinds.value?.own ?? [],
    hasMoreKinds: kinds.value?.hasMore === true,
    error,
  }
}

/** The number of entities of a kind, as in countOfKind. @param changed - the latest changes: they may be of the kind */
export function useCount({ project, database, namespace }: EntityScope, kind: string, changed: Changed | undefined) {
  const { value, error, reload } = useLoaded(JSON.stringify([project, database, namespace, kind]), {
    read: (_, options) => inTurn(() => countOfKind({ project, database, namespace }, kind, options)),
  })
  useEffect(() => {
    if (changed?.(namespace, kind) === true) reload()
  }, [changed])
  return { value, error }
}

/** A browser keeps six connections to a server: a query must not wait until a hundred kinds are counted. */
let freeTurns = 2
const waiting: (() => void)[] = []

async function inTurn<T>(count: () => Promise<T>): Promise<T> {
  if (freeTurns > 0) freeTurns--
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await count()
  } finally {
    const next = waiting.shift()
    if (next === undefined) freeTurns++
    else next()
  }
}
