/** Facts of a call of the data API, for faults, the log and recordings; and details of one that observers ask for. */

import {
  type Aggregation,
  decodeKey,
  formatKeyPath,
  type Key,
  type LockWait,
  type Mutation,
  type PlanTree,
  type Query,
  type RequestTrace,
  type RowTally,
  TableLedger,
} from '@sixtables/engine'
import type { DatabaseName } from '../convert/parameters.ts'
import { contentOf, fieldsOf } from '../convert/wire-fields.ts'
import type { DataMethod } from '../methods.ts'

/** The parts of a request that say which data it reads and writes. */
export interface Asked {
  readonly keys?: readonly Key[]
  readonly mutations?: readonly Mutation[]
  readonly query?: Query
  readonly aggregations?: readonly Aggregation[]
  readonly transaction?: Uint8Array | undefined
}

/** The parts of an answer to which later calls refer. */
export interface Given {
  readonly transaction?: Uint8Array | undefined
  /** Keys with allocated ids, in the order of the request's keys or mutations. */
  readonly keys?: readonly (Key | undefined)[]
}

export class CallFacts implements DatabaseName {
  readonly method: DataMethod
  readonly projectId: string
  readonly databaseId: string
  readonly asked: Asked
  given: Given | undefined = undefined

  constructor(method: DataMethod, { projectId, databaseId }: DatabaseName, asked: Asked) {
    this.method = method
    this.projectId = projectId
    this.databaseId = databaseId
    this.asked = asked
  }

  *keys(): Generator<Key> {
    const { keys = [], mutations = [] } = this.asked
    yield* keys
    for (const mutation of mutations) yield keyOfMutation(mutation, this)
  }

  /** The keys of the request, or the namespace and kind of a query. Computed at each call. */
  named(): readonly Named[] {
    const { query } = this.asked
    if (query !== undefined) return [{ namespaceId: query.partition.namespaceId, kind: query.kind }]
    return [...this.keys()].map(namedOf)
  }
}

export interface Named {
  readonly namespaceId: string
  readonly kind: string | undefined
  /** In the form of {@link formatKeyPath}; absent for queries and incomplete keys. */
  readonly key?: string
}

function namedOf({ partition, path }: Key): Named {
  const last = path[path.length - 1]
  const isComplete = last?.id !== undefined || last?.name !== undefined
  return {
    namespaceId: partition.namespaceId,
    kind: last?.kind,
    ...(isComplete ? { key: formatKeyPath(path) } : {}),
  }
}

/** The key of a mutation; its path is empty if the entity has no key, or none that decodes. */
export function keyOfMutation(mutation: Mutation, scope: DatabaseName): Key {
  return mutation.operation === 'delete' ? mutation.key : keyOfEntity(mutation.entity, scope)
}

/** The key of an entity, its field 1. The engine refuses an entity without a key, or with one that does not decode. */
function keyOfEntity(entity: Uint8Array, { projectId, databaseId }: DatabaseName): Key {
  const scope = { projectId, databaseId }
  const none: Key = { partition: { ...scope, namespaceId: '' }, path: [] }
  try {
    for (const { number, bytes } of fieldsOf(entity)) if (number === 1) return decodeKey(contentOf(bytes), scope)
    return none
  } catch {
    return none
  }
}

/** A wait of a call; its times are on the clock of the call's start. */
export interface TracedWait extends LockWait {
  readonly fromMs: number
  toMs: number | undefined
}

/** Maximum number of waits: a call waits again after each commit that was ahead of it. */
const waitsMax = 20

/**
 * Details of one call for observers: rows by table, query plan, waits for other transactions, and the messages. The engine fills them in while
 * the call runs; watchedHandlers() adds the messages for all protocols.
 */
export class CallTrace implements RequestTrace {
  readonly ledger: TableLedger = new TableLedger()
  plan: (() => PlanTree) | undefined
  /** Rows that its commit writes in the tables, immediately or when it is applied. */
  applied: RowTally | undefined
  abortedBy: readonly number[] | undefined
  readonly waited: TracedWait[] = []
  /** The messages, if an observer asks for them: views of the call's buffers. */
  request: Uint8Array | undefined
  answer: Uint8Array | undefined
  readonly keepsMessages: boolean

  constructor(keepsMessages: boolean) {
    this.keepsMessages = keepsMessages
  }

  planned(tree: () => PlanTree): void {
    this.plan = tree
  }

  committed(rows: RowTally): void {
    this.applied = rows
  }

  waits(wait: LockWait): () => void {
    if (this.waited.length >= waitsMax) return () => {}
    const traced: TracedWait = { ...wait, fromMs: performance.now(), toMs: undefined }
    this.waited.push(traced)
    return () => {
      traced.toMs = performance.now()
    }
  }

  aborted(by: readonly number[]): void {
    this.abortedBy = by
  }

  get rowsApplied(): number {
    if (this.applied === undefined) return 0
    let rows = 0
    for (const { written, deleted } of Object.values(this.applied)) rows += written + deleted
    return rows
  }
}
