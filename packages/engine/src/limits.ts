/**
 * Every limit of the product, with its unit in its name: production's documented figures. A count that production no longer limits
 * is not limited here either, except in legacy mode. docs/reference/limits.md says what each limits and where its figure is from;
 * limits.test.ts compares the figures.
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
  vectorDimensionsMax: 2_048,
  nearestResultsMax: 100,
} as const

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
