/**
 * Every limit of the product, with its unit in its name.
 *
 * Values are production's documented ones. A count that production no longer limits is not limited here either, except in
 * legacy mode. `limitNotes` names the limited quantity and the source of the figure; limits.test.ts compares the page
 * docs/reference/limits.md with this file.
 *
 * Sources: *documented* = Google's public page of quotas and limits; *proto* = comments of google.datastore.v1; *measured* =
 * a run against Google's emulators; *ours* = chosen here, because the figure or its counting is not public.
 */
import { invariant } from './invariant.ts'

export const limits = {
  entityBytesMax: 1_048_572,
  unindexedValueBytesMax: 1_048_487,
  indexedValueBytesMax: 1_500,
  keyBytesMax: 6_144,
  pathElementsMax: 100,
  kindBytesMax: 1_500,
  nameBytesMax: 1_500,
  propertyNameBytesMax: 1_500,
  partitionPartCharactersMax: 100,
  embeddedEntityDepthMax: 20,
  indexEntriesMax: 20_000,
  compositeIndexRowsBytesMax: 2_097_152,
  compositeIndexPropertiesMax: 100,
  propertyTransformsMax: 500,
  requestBytesMax: 10_485_760,
  lookupKeysMax: 1_000,
  legacyTransactionEntityGroupsMax: 25,
  transactionReadBytesMax: 67_108_864,
  transactionIdleMsMax: 60_000,
  transactionTotalMsMax: 270_000,
  queryComponentsMax: 100,
  disjunctionsMax: 30,
  inValuesMax: 30,
  notInValuesMax: 10,
  inequalityPropertiesMax: 10,
  aggregationsMax: 5,
  projectDatabasesMax: 100,
  vectorDimensionsMax: 2_048,
  nearestResultsMax: 100,
} as const

export type LimitName = keyof typeof limits

export interface LimitNote {
  /** The limited quantity, as a noun phrase. */
  readonly what: string
  /** The source of the figure, and how it is counted if that is not obvious. */
  readonly source: string
}

export const limitNotes: Readonly<Record<LimitName, LimitNote>> = {
  entityBytesMax: {
    what: 'an entity',
    source: 'documented (1 MiB - 4 bytes); counted as the serialized Entity message, key included (ours)',
  },
  unindexedValueBytesMax: {
    what: 'a string or blob that is excluded from indexes',
    source: 'documented (1 MiB - 89 bytes), measured; the proto still says 1,000,000',
  },
  indexedValueBytesMax: {
    what: 'an indexed string (as UTF-8) or blob, and one that a filter compares with',
    source: 'documented, proto, measured',
  },
  keyBytesMax: {
    what: 'a key',
    source: 'documented; counted as namespace, kinds and names as UTF-8, and 8 bytes for an id (ours)',
  },
  pathElementsMax: { what: 'elements of a key path', source: 'documented, proto, measured' },
  kindBytesMax: { what: 'a kind, as UTF-8', source: 'documented, proto, measured' },
  nameBytesMax: { what: 'the name in a path element, as UTF-8', source: 'documented, proto, measured' },
  propertyNameBytesMax: { what: 'a property name, as UTF-8', source: 'documented, proto, measured' },
  partitionPartCharactersMax: {
    what: 'a project id, database id or namespace',
    source: 'proto; measured for namespaces',
  },
  embeddedEntityDepthMax: { what: 'levels of entities embedded in an entity', source: 'documented, measured' },
  indexEntriesMax: {
    what: 'index entries of an entity: distinct pairs of property and value',
    source: 'documented, measured; that equal values count once is ours',
  },
  compositeIndexRowsBytesMax: { what: 'all composite index rows of an entity', source: 'documented' },
  compositeIndexPropertiesMax: {
    what: 'properties of a composite index, and properties that a query projects or is distinct on',
    source: 'proto (admin); of queries ours: no index can serve more',
  },
  propertyTransformsMax: {
    what: 'property transforms on an entity in a commit; each element of an array transform counts',
    source: 'documented',
  },
  requestBytesMax: { what: 'a request, and a transaction', source: 'documented; the emulators stop at 4 MiB' },
  lookupKeysMax: {
    what: 'keys of a Lookup',
    source: 'documented, and refused by production; the emulators have no such limit',
  },
  legacyTransactionEntityGroupsMax: {
    what: 'entity groups of a transaction in legacy mode',
    source: 'documented, measured; no such limit in Firestore mode',
  },
  transactionReadBytesMax: {
    what: 'keys and key ranges that a read-write transaction has read',
    source:
      'ours: more rows than a request of 10 MiB can name; counted as bytes of the row keys, and 128 for each row or range',
  },
  transactionIdleMsMax: { what: 'idle time of a transaction', source: 'documented, measured' },
  transactionTotalMsMax: { what: 'total time of a transaction', source: 'documented, measured' },
  queryComponentsMax: { what: 'filters, orders and ancestor of a query together', source: 'measured' },
  disjunctionsMax: { what: 'disjunctions of a query in normal form', source: 'documented, measured' },
  inValuesMax: { what: 'values of an IN', source: 'measured' },
  notInValuesMax: { what: 'values of a NOT_IN', source: 'measured' },
  inequalityPropertiesMax: {
    what: 'properties of a query with inequality filters, NOT_EQUAL and NOT_IN, `__key__` among them',
    source: 'documented, measured',
  },
  aggregationsMax: { what: 'aggregations of a query', source: 'documented, measured' },
  projectDatabasesMax: { what: 'databases of a project', source: 'documented' },
  vectorDimensionsMax: { what: 'dimensions of a vector', source: 'documented, proto' },
  nearestResultsMax: { what: 'results of find_nearest', source: 'proto, measured; Firestore in native mode has 1,000' },
}

// Relations between limits: after a change of one figure the others must still make sense.
invariant(limits.unindexedValueBytesMax < limits.entityBytesMax, 'the largest value fits in an entity')
invariant(limits.indexedValueBytesMax < limits.unindexedValueBytesMax, 'an indexed value is the shorter kind')
invariant(limits.kindBytesMax + limits.nameBytesMax < limits.keyBytesMax, 'the longest path element fits in a key')
invariant(limits.keyBytesMax < limits.entityBytesMax, 'the largest key fits in an entity')
invariant(
  limits.pathElementsMax * 9 < limits.keyBytesMax,
  'the deepest path of one-letter kinds with ids fits in a key',
)
invariant(limits.entityBytesMax < limits.requestBytesMax, 'the largest entity fits in a request')
invariant(limits.requestBytesMax < limits.transactionReadBytesMax, 'a transaction may read more than it may write')
invariant(limits.transactionIdleMsMax < limits.transactionTotalMsMax, 'an idle transaction ends before an old one')
invariant(limits.notInValuesMax <= limits.inValuesMax, 'a NOT_IN is no wider than an IN')
invariant(limits.inValuesMax <= limits.disjunctionsMax, 'one IN fits in the disjunctions of a query')
invariant(limits.inequalityPropertiesMax <= limits.queryComponentsMax, 'an inequality on each property fits in a query')
invariant(limits.disjunctionsMax <= limits.queryComponentsMax, 'an OR of single filters fits in a query')
