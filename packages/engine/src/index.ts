/** The exports of the engine for other packages; nothing inside the engine imports it. */

export type { CheckOptions } from './check/checker.ts'
export { type CheckReport, exportRemedy, type PendingGroup, type Problem, type ProblemKind } from './check/report.ts'
export { type Scheduler, stopwatch, systemScheduler } from './clock.ts'
export type { Ledger, RequestContext, TouchedRows } from './context.ts'
export { CountingLedger, checkAlive, RecordingLedger, requestContext, type Slice, TableLedger } from './context.ts'
export type * from './database/api.ts'
export { Database } from './database/database.ts'
export type { ExecutionStats, Explained, ExplainMetrics, ExplainOptions } from './database/explanation.ts'
export type { AllocatedIds, NextId, NextIds } from './database/id-ranges.ts'
export type { IndexJob, IndexProgress } from './database/index-builds/index-job.ts'
export type { Indexes } from './database/index-builds/indexes.ts'
export type { MissingIndexPolicy } from './database/query-indexes.ts'
export { type DatabaseSettings, type Mode, modeSettings, type TtlPolicy } from './database/settings.ts'
export {
  decodeArrayValue,
  decodeKey,
  decodeProperties,
  decodeValue,
  encodeKey,
  encodeProperties,
  encodeValue,
} from './encoding/entity-codec.ts'
export { decodeKeys, fillPartition } from './encoding/key-message.ts'
export { type PreparedEntity, prepareEntity } from './encoding/validate-entity.ts'
export { validateDatabase, validatePartition } from './encoding/validate-key.ts'
export { type Cancellable, Engine, openEngine } from './engine/engine.ts'
export type { EngineOptions, EngineTotals } from './engine/engine-options.ts'
export type { EngineSnapshot } from './engine/engine-snapshot.ts'
export type { ResetScope } from './engine/reset.ts'
export type { StoreFigures } from './engine/store-port.ts'
export type { Committed, Retry, StatusCode } from './errors.ts'
export {
  DatastoreError,
  failedPrecondition,
  invalidArgument,
  notFound,
  statusCodes,
  unimplemented,
} from './errors.ts'
export { IdAllocator, type IdAllocatorOptions, type IdCollisions, type IdPolicy } from './ids/allocator.ts'
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
export { indexYaml, parseIndexYaml } from './indexes/index-yaml.ts'
export { InvariantError, invariant, unreachable } from './invariant.ts'
export { limits } from './limits.ts'
export type { ApplyHold } from './log/apply-holds.ts'
export type { ApplyPolicy } from './log/apply-policy.ts'
export { makeFolder } from './make-folder.ts'
export { andThen, isPromise, type MaybePromise } from './maybe-promise.ts'
export type { EntityImage } from './model/entity.ts'
export {
  type CompositeIndex,
  formatIndex,
  type IndexDefinition,
  type IndexedProperty,
} from './model/index-definition.ts'
export { formatKey, type Key, type PartitionId, type PathElement } from './model/key.ts'
export { parseKeyPath, parseKindPath } from './model/key-path.ts'
export type * from './model/query.ts'
export type { Properties, Value } from './model/value.ts'
export { MovableClock } from './movable-clock.ts'
export type { CommitFeed, CommitFilter } from './observe/feed/commit-feed.ts'
export type * from './observe/feed/feed-reports.ts'
export type { CommitPreview } from './observe/feed/preview.ts'
export { type Finding, type FindingKind, type FindingPlace, findingAdvice } from './observe/findings/finding-kinds.ts'
export { Inspector } from './observe/inspect/inspector.ts'
export type * from './observe/inspect/reports.ts'
export { propertiesInWords } from './observe/inspect/row-words.ts'
export {
  type TabletSettingName,
  type TabletSettingNote,
  type TabletSettings,
  tabletDefaults,
  tabletNotes,
} from './observe/tablets/defaults.ts'
export { defaultPolicies, type TabletPolicies } from './observe/tablets/fleet.ts'
export type { HeatReader } from './observe/tablets/heat-reader.ts'
export type { SampleEvent, SampleListener } from './observe/tablets/metering.ts'
export type * from './observe/tablets/report.ts'
export { type TabletOptions, Tablets } from './observe/tablets/tablets.ts'
export { checkPartCount, countedMax, type PartLimit, partLimits } from './part-limits.ts'
export { planText } from './planner/explain.ts'
export { type Random, seededRandom } from './random.ts'
export type * from './request-trace.ts'
export type { PlanTree } from './request-trace.ts'
export { entityTables, type LedgerEntry, type RowKey, type RowOperation, type TableId, tableIds } from './row.ts'
export { giveWay, turnOfItsOwn } from './slices.ts'
export { StandingClock } from './standing-clock.ts'
export type { Durability, Kv, KvWrite, StoreState, WriteSink, WriteSource, Writes } from './storage/kv.ts'
export { StoredImage } from './tables/entities.ts'
export { decodeToken as transactionIdOf } from './transactions/transaction.ts'
export type { ExportOptions, ExportReport, TransferProgress } from './transfer/export.ts'
export { overallSuffix } from './transfer/export-metadata.ts'
export type { ImportOptions, ImportProgress, ImportReport } from './transfer/import.ts'
export { formatKeyPath } from './typed-keys.ts'
export { yamlDepthMax, yamlDocument } from './yaml-document.ts'
