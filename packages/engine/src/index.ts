/** The exports of the engine for other packages; nothing inside the engine imports it. */

export type { CheckOptions } from './check/checker.ts'
export { type CheckReport, type PendingGroup, type Problem, type ProblemKind, sharedRemedy } from './check/report.ts'
export type { Scheduler } from './clock.ts'
export { stopwatch, systemScheduler } from './clock.ts'
export type { Ledger, LedgerEntry, RequestContext, TouchedRows } from './context.ts'
export { CountingLedger, checkAlive, RecordingLedger, requestContext, Slice, TableLedger } from './context.ts'
export {
  decodeArrayValue,
  decodeKey,
  decodeProperties,
  decodeValue,
  encodeKey,
  encodeProperties,
  encodeValue,
} from './encoding/entity-codec.ts'
export { fillPartition } from './encoding/key-message.ts'
export { decodeKeys } from './encoding/key-run.ts'
export { type PreparedEntity, prepareEntity } from './encoding/validate-entity.ts'
export { validateDatabase, validatePartition } from './encoding/validate-key.ts'
export type { Committed, Retry, StatusCode } from './errors.ts'
export { DatastoreError, failedPrecondition, invalidArgument, statusCodes, unimplemented } from './errors.ts'
export { findingAdvice } from './findings/finding-kinds.ts'
export { IdAllocator, type IdAllocatorOptions, type IdCollisions, type IdPolicy } from './ids/allocator.ts'
export { formatIdScope, type IdScope, parseIdScope } from './ids/id-scope.ts'
export { KeyPermutation, type KeyPermutationOptions } from './ids/key-permutation.ts'
export type { AllocatedRange, IdRange, KeyRangeState } from './ids/key-range-state.ts'
export {
  counterOf,
  type IdSpace,
  scatteredIdMax,
  scatteredIdMin,
  scatterId,
  sequentialIdMax,
  spaceOf,
} from './ids/scatter.ts'
export type { CataloguedIndex, IndexState } from './indexes/catalogue.ts'
export { plainDefinition } from './indexes/definition.ts'
export { indexYaml, parseIndexYaml } from './indexes/index-yaml.ts'
export { InvariantError, invariant, unreachable } from './invariant.ts'
export { limits } from './limits.ts'
export type { ApplyHold } from './log/apply-holds.ts'
export type { ApplyPolicy } from './log/apply-policy.ts'
export type { MaybePromise } from './maybe-promise.ts'
export { andThen, isPromise } from './maybe-promise.ts'
export type { EntityImage } from './model/entity.ts'
export {
  type CompositeIndex,
  formatIndex,
  type IndexDefinition,
  type IndexedProperty,
} from './model/index-definition.ts'
export type { Key, PartitionId, PathElement } from './model/key.ts'
export { formatKey, isCompleteKey } from './model/key.ts'
export { formatKeyPath, parseKeyPath, parseKindPath } from './model/key-path.ts'
export type {
  DistanceMeasure,
  Filter,
  MoreResults,
  NearestQuery,
  PropertyOperator,
  PropertyOrder,
  Query,
  ResultType,
} from './model/query.ts'
export type { Properties, Value } from './model/value.ts'
export { MovableClock } from './movable-clock.ts'
export { checkPartCount, type PartLimit, partLimits } from './part-limits.ts'
export type { PlanTree } from './plan-tree.ts'
export { planText } from './planner/explain.ts'
export { type Random, seededRandom } from './random.ts'
export type { LockWait, RequestTrace, RowTally } from './request-trace.ts'
export { entityTables, type RowKey, type RowOperation, type TableId, tableIds } from './row.ts'
export type {
  Aggregation,
  AggregationBatch,
  CommitRequest,
  CommitResult,
  ConflictCheck,
  FoundEntity,
  LookupRequest,
  LookupResult,
  Mutation,
  MutationResult,
  PropertyTransform,
  QueryBatch,
  QueryResult,
  ReadConsistency,
  ReadOptions,
  RunAggregationQueryRequest,
  RunQueryRequest,
  TransactionOptions,
} from './service/api.ts'
export type { CommitFeed, CommitFilter } from './service/commit-feed.ts'
export { Database } from './service/database.ts'
export { Engine, openEngine } from './service/engine.ts'
export type { EngineOptions, EngineTotals } from './service/engine-options.ts'
export type { EngineSnapshot } from './service/engine-snapshot.ts'
export type { ExecutionStats, Explained, ExplainMetrics, ExplainOptions } from './service/explain.ts'
export type { ApplyReport, CommitReport, ReloadReport, RowChangeReport, StoreEvent } from './service/feed-reports.ts'
export type { AllocatedIds, NextId, NextIds } from './service/id-ranges.ts'
export type { IndexJob, IndexProgress } from './service/index-job.ts'
export type { Indexes } from './service/indexes.ts'
export { Inspector } from './service/inspector.ts'
export type { CommitPreview } from './service/preview.ts'
export type { MissingIndexPolicy } from './service/query-indexes.ts'
export type {
  AppliedReport,
  LogRecordReport,
  LogReport,
  PendingRecordReport,
  PendingReport,
  ReleaseReport,
  RowReport,
  RowsReport,
  TableReport,
  TabletBoundary,
  VersionReport,
  VersionsReport,
} from './service/reports.ts'
export type { ResetScope } from './service/reset.ts'
export { propertiesInWords } from './service/row-words.ts'
export { type DatabaseSettings, type Mode, modeSettings } from './service/settings.ts'
export type { Cancellable } from './service/transfer.ts'
export type { TtlPolicy } from './service/ttl.ts'
export type { SharedFigures } from './shared/shared-databases.ts'
export { giveWay } from './slices.ts'
export { StandingClock } from './standing-clock.ts'
export type { Durability, Kv, KvWrite, StoreState, WriteSink, WriteSource, Writes } from './storage/kv.ts'
export {
  type Cell,
  type CellChange,
  type Cells,
  checkRowKey,
  clockDifferenceMicrosMax,
  type Family,
  families,
  newestIs,
  OutcomeUnknown,
  type Row,
  type RowChange,
  type RowCondition,
  type RowScan,
  type RowStore,
  rowStoreClosed,
  type StoreCall,
  type Wanted,
  type WantedCells,
} from './storage/rows.ts'
export { StoredImage } from './tables/entities.ts'
export {
  type TabletSettingName,
  type TabletSettingNote,
  type TabletSettings,
  tabletDefaults,
  tabletNotes,
} from './tablets/defaults.ts'
export { defaultPolicies, type TabletPolicies } from './tablets/fleet.ts'
export { heatMeasures } from './tablets/heat-range.ts'
export type { HeatReader } from './tablets/heat-reader.ts'
export type { SampleEvent, SampleListener } from './tablets/metering.ts'
export type {
  Finding,
  FindingKind,
  FindingPlace,
  GroupReport,
  HeatBound,
  HeatCellReport,
  HeatColumnReport,
  HeatOptions,
  HeatRecordingReport,
  HeatReport,
  HeatRow,
  HeatTabletReport,
  RequestsReport,
  ServerReport,
  SplitRefusal,
  TableLoadReport,
  TabletEvent,
  TabletEventKind,
  TabletReport,
  TabletsReport,
} from './tablets/report.ts'
export { type TabletOptions, Tablets } from './tablets/tablets.ts'
export { decodeToken as transactionIdOf } from './transactions/transaction.ts'
export type { ExportOptions, ExportReport, TransferProgress } from './transfer/export.ts'
export { overallSuffix } from './transfer/export-metadata.ts'
export type { ImportOptions, ImportProgress, ImportReport } from './transfer/import.ts'
