/**
 * The part of an engine that the gateway uses, by the types of the engine's own classes. Tests of the protocols pass a small double with
 * these methods.
 */
import type { Database, Engine } from '@sixtables/engine'

export type DatabasePort = Pick<
  Database,
  | 'lookup'
  | 'runQuery'
  | 'explainQuery'
  | 'runAggregationQuery'
  | 'explainAggregationQuery'
  | 'beginTransaction'
  | 'commit'
  | 'rollback'
  | 'allocateIds'
  | 'reserveIds'
>

export interface EnginePort {
  /** An empty `databaseId` is the default database. */
  database(projectId: string, databaseId: string): DatabasePort
  /** A context with the clock for every call. */
  context(): ReturnType<Engine['context']>
  reset(scope: ResetScope): Promise<void>
  /** Absent if the store cannot fail. */
  readonly store?: Pick<Engine['store'], 'failure' | 'onFailure'>
}

export type ResetScope = NonNullable<Parameters<Engine['reset']>[0]>
