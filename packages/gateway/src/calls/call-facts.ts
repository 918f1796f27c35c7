/** Facts of a call of the data API that faults and the record of calls use. */
import type { Key } from '@sixtables/engine'
import type { DatabasePort } from '../engine-port.ts'
import { formatKeyPath } from '../text/key-syntax.ts'

/** RPCs of the data API, in lower camel case. */
export type DataMethod = Exclude<keyof DatabasePort, 'explainQuery' | 'explainAggregationQuery'>

export interface CallFacts {
  readonly method: DataMethod
  readonly projectId: string
  readonly databaseId: string
  /** The keys it names, or the namespace and kind of a query. Computed on first use. */
  named(): readonly Named[]
}

export interface Named {
  readonly namespaceId: string
  readonly kind: string | undefined
  /** As {@link formatKeyPath} writes it; absent for queries and incomplete keys. */
  readonly key?: string
}

export function namedOf({ partition, path }: Key): Named {
  const last = path[path.length - 1]
  const isComplete = last?.id !== undefined || last?.name !== undefined
  return {
    namespaceId: partition.namespaceId,
    kind: last?.kind,
    ...(isComplete ? { key: formatKeyPath(path) } : {}),
  }
}
