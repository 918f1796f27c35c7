/**
 * The part of an engine that the gateway uses, taken from the engine's own classes: tests of the protocols pass a small double with
 * just these methods.
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
  /** A context whose clock is used for every call. */
  context(): ReturnType<Engine['context']>
  reset(scope: ResetScope): Promise<void>
  /** Absent = it never fails. */
  readonly store?: Pick<Engine['store'], 'failure' | 'onFailure'>
}

export type ResetScope = NonNullable<Parameters<Engine['reset']>[0]>
