/**
 * The exports for a package that keeps the rows of an engine in a store of its own: the port (engine/store-port.ts), and the
 * parts that its commits and reads are made of.
 */

export { groupsOf } from './database/groups.ts'
export type { IndexedDatabase } from './database/index-builds/index-job.ts'
export type { IndexWork } from './database/index-builds/index-work.ts'
export { failedIndex } from './database/index-builds/indexes.ts'
export type {
  NamedTransaction,
  Read,
  Reading,
  ReadingDatabase,
  ReadResult,
  TransactionVerbs,
} from './database/store-verbs.ts'
export { byteString, bytesOf, hexOf, prefixEnd, sameBytes } from './encoding/bytes.ts'
export { databaseCode, decodePath, keyCodesOfPath, pathEnd } from './encoding/key-codec.ts'
export { decodeUint64, encodeUint64 } from './encoding/ordered.ts'
export { prettyPath } from './encoding/pretty.ts'
export { rangesOf, refuseHalfScope, scopeCode } from './engine/reset.ts'
export type { PlaceSource, PortParts, StoreAdapter, StoreCall, StoreFigures, StorePort } from './engine/store-port.ts'
export { contention, groupFull } from './errors.ts'
export { fnv } from './fnv.ts'
export { getOrInsert } from './get-or-insert.ts'
export { refuseForgotten, refuseFuture } from './history/past-view.ts'
export { checkCompositeRows } from './indexes/row-limit.ts'
export type { CommittedReader } from './log/log-database.ts'
export { decodeLogRecord, encodeLogRecord, headIn, type LogRecord, type LogRecordHead } from './log/log-record.ts'
export { indexUpdatesOf, recordsOf } from './log/new-records.ts'
export { RecordWrites } from './log/record-writes.ts'
export type { StoredRecord } from './observe/inspect/inspector.ts'
export { forEachInSlices, nextTurn, whileWanted } from './slices.ts'
export { BTree } from './storage/btree.ts'
export { TreeScan } from './storage/btree-scan.ts'
export {
  type KeyRange,
  type KvReader,
  type KvRow,
  type KvScan,
  type RowKey,
  type RowKv,
  type ScanOptions,
  workOf,
} from './storage/kv.ts'
export type { Mechanism } from './switched-off.ts'
export { decodeImage, entityRowKey, entityRowKeyOf, entityRowOf, parseEntityRowKey } from './tables/entities.ts'
export { compositeIndexRange } from './tables/entities-by-composite-property.ts'
export {
  codesOfEntityRow,
  type EntityDelta,
  EntityRows,
  handRows,
  type IndexRules,
  RowProducer,
  tableOfRow,
} from './tables/entity-rows.ts'
export { walkKind } from './tables/kind-walk.ts'
export { type GroupCode, groupOf, logRowKey, parseLogRowKey } from './tables/log-rows.ts'
export { parseMetadataRowKey, topicRowKey, transactionTopic, wholeStore } from './tables/metadata-rows.ts'
export { isOf, prefixRange, rowAfter, rowsOf } from './tables/rows.ts'
export { KvTableView, type TableView } from './tables/table.ts'
export type { CommitInput, Committed } from './transactions/commit-input.ts'
export { evaluateMutations } from './transactions/mutations.ts'
export { ReadSet, TrackedView } from './transactions/read-set.ts'
export { type ReadScope, refuseGlobal } from './transactions/read-views.ts'
export {
  type TransactionDatabase,
  type TransactionSettings,
  tooManyGroups,
  totalMicrosMax,
} from './transactions/transaction.ts'
export type { BeginOptions } from './transactions/transaction-registry.ts'
