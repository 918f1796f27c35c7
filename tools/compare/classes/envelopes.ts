/** Classes about what stands around entities in answers: times, versions, cursors, counts. */
import { isDeepStrictEqual } from 'node:util'
import { pathCode } from '../../../packages/engine/src/encoding/key-codec.ts'
import type { PathElement } from '../../../packages/engine/src/model/key.ts'
import { scatterOf } from '../../../packages/engine/src/tables/scatter.ts'
import { type Answer, at, listOf } from '../case.ts'
import type { Leaf } from '../leaves.ts'
import { type ClassTable, has, type Look } from './look.ts'

export const envelopeClasses: ClassTable = {
  'unhandled-fault': {
    what: 'a request at which an emulator fails',
    ours: 'an answer, or INVALID_ARGUMENT with the reason',
    legacy: 'UNKNOWN or INTERNAL without a message, or no answer',
    firestore: 'the same',
    why: 'an unhandled fault is no contract',
    explains: ({ aspect, ours, theirs }) =>
      aspect === 'code' &&
      ['UNKNOWN', 'INTERNAL', 'SILENT'].includes(String(theirs)) &&
      !['UNKNOWN', 'INTERNAL', 'SILENT'].includes(String(ours)),
  },
  'no-times': {
    what: 'create, update, commit and read times',
    ours: 'set',
    legacy: 'unset',
    why: 'the API has them; the emulator is older than they are',
    explains: ({ isUnset, aspect }) => isUnset && / time( of|$)/.test(aspect),
  },
  'commit-time-of-transactions': {
    what: '`commit_time` of a non-transactional commit',
    ours: 'unset',
    firestore: 'set',
    why: 'the API sets it for transactions only, and tests of client libraries compare it',
    explains: ({ isAbout, isSet, request }) =>
      isAbout('commit time') && isSet && request['mode'] === 'NON_TRANSACTIONAL',
  },
  'one-version-a-commit': {
    what: 'versions and times of several mutations in one non-transactional commit',
    ours: 'the same for all: they are committed together',
    legacy: 'counted on from mutation to mutation, so that what one mutation got is wrong of another',
    firestore: 'the same as in legacy',
    why: 'a version grows with each change of an entity, and is promised no more (API)',
    explains: ({ isAbout, isCode, theirs, mutations, case: { steps } }) => {
      if (isAbout('versions of one commit')) return true
      const isConflict = isAbout('conflict detected') ? theirs === true : isCode(anyCode, 'FAILED_PRECONDITION')
      const isOfSeveral = ({ baseVersion, updateTime }: Leaf): boolean => {
        const from = at(baseVersion ?? updateTime, ['$answer', 'from'])
        return typeof from === 'number' && listOf(steps[from]?.request['mutations']).length > 1
      }
      return isConflict && mutations.some(isOfSeveral)
    },
  },
  'no-index-updates': {
    what: '`index_updates` of a commit',
    ours: 'counted',
    firestore: 'unset',
    why: 'the API has it',
    explains: ({ isAbout, theirs }) => isAbout('index updates') && theirs === undefined,
  },
  'scatter-of-automatic-ids': {
    what: '`index_updates` of a commit with automatic ids',
    ours: 'two rows for each entity with a scatter value, which depends on its id; with `--mode legacy` the same function as theirs',
    legacy: 'the same, of other ids',
    why: 'automatic ids differ',
    explains: (look) => look.isAbout('index updates') && moreUpdates(look) === 0,
  },
  'more-index-updates': {
    what: '`index_updates` of a commit',
    ours: 'rows of the database',
    legacy: 'also rows in composite indexes that queries of other projects made',
    why: 'projects are apart',
    explains: (look) => look.isAbout('index updates') && moreUpdates(look) > 0,
  },
  'cursor-of-lookup': {
    what: 'a cursor on results of Lookup',
    ours: 'unset',
    firestore: 'set',
    why: 'the API has cursors of query results only',
    explains: ({ isAbout, isSet }) => isAbout('cursor of found') && isSet,
  },
  'lookup-once': {
    what: 'a key that a Lookup names twice',
    ours: 'answered once',
    legacy: 'answered twice',
    why: 'the Firestore emulator does so; a client that asks by key finds it by key',
    explains: ({ isAbout, ours, theirs }) =>
      isAbout('found', 'missing') && isDeepStrictEqual(ours, [...new Set(Array.isArray(theirs) ? theirs : [])]),
  },
  'version-of-missing': {
    what: 'the version of an entity that a Lookup misses',
    ours: 'that of the read',
    firestore: 'unset, or where the entity was deleted the version of that',
    why: 'the API says that it is always set; legacy does so',
    explains: ({ isAbout }) => isAbout('version of missing'),
  },
  'versions-of-partial-results': {
    what: 'version and times of results of projections and keys-only queries',
    ours: 'unset',
    firestore: 'set',
    why: 'the API sets them for full results; an index row has none',
    explains: ({ isSet, isAbout, projected }) =>
      isSet &&
      isAbout('version of results', 'create time of results', 'update time of results') &&
      projected.length > 0,
  },
  'end-cursor-of-nothing': {
    what: '`end_cursor` of a batch without results',
    ours: 'set',
    firestore: 'unset',
    why: 'a client that pages on always has one; legacy sets it too',
    explains: ({ isAbout, isUnset, theirAnswers, index }) =>
      isAbout('end cursor') && isUnset && resultsOf(theirAnswers[index]) === 0,
  },
  'skipped-cursor': {
    what: '`skipped_cursor` after skipped results',
    ours: 'set',
    firestore: 'unset',
    why: 'the API sets it where results were skipped',
    explains: ({ isAbout, isUnset, offset }) => isAbout('skipped cursor') && isUnset && offset > 0,
  },
  'skipped-cursor-of-nothing': {
    what: '`skipped_cursor` where nothing was skipped',
    ours: 'unset',
    legacy: 'set',
    why: 'the API sets it where results were skipped',
    explains: ({ isAbout, isSet }) => isAbout('skipped cursor') && isSet,
  },
  'more-results-known': {
    what: '`more_results` of a query that is finished',
    ours: 'NO_MORE_RESULTS where there are none behind the last; with `--mode legacy` MORE_RESULTS_AFTER_LIMIT where the limit was reached',
    legacy: 'MORE_RESULTS_AFTER_LIMIT after every finished query',
    firestore: 'after a limit of 0 it depends on the filters alone',
    why: 'nothing is left to ask for; the Firestore emulator says so after all other limits',
    explains: ({ isAbout, mode, query, offset, step: { base }, ours, theirs, ourAnswers }) => {
      if (!isAbout('more results')) return false
      const limit = at(query['limit'], ['value'])
      if (mode === 'firestore') return limit === 0
      const isFromStart = query['startCursor'] === undefined && base !== undefined
      const all = resultsOf(ourAnswers[base ?? 0])
      const isTrue = query['limit'] === undefined || !isFromStart || all <= offset + Number(limit)
      return ours === 'NO_MORE_RESULTS' && theirs === 'MORE_RESULTS_AFTER_LIMIT' && isTrue
    },
  },
  'batches-of-300': {
    what: 'a query with more than 300 results',
    ours: '300 a batch, and NOT_FINISHED',
    firestore: 'all in one batch',
    why: 'production cuts so; a program that forgets NOT_FINISHED should fail before it is there',
    explains: ({ isAbout, ourAnswers, theirAnswers, index }) =>
      isAbout('results', 'more results') &&
      resultsOf(ourAnswers[index]) === 300 &&
      at(ourAnswers[index]?.body, ['batch', 'moreResults']) === 'NOT_FINISHED' &&
      resultsOf(theirAnswers[index]) > 300,
  },
  'long-offsets': {
    what: 'an offset that a batch does not get past',
    ours: '1,000 a batch, and NOT_FINISHED',
    legacy: '300 a batch, and NOT_FINISHED',
    firestore: 'any, in one batch',
    why: 'the figure of production, by Google’s own clients',
    explains: ({ isAbout, offset, mode }) =>
      isAbout('results', 'more results', 'skipped results', 'skipped cursor', 'end cursor') &&
      offset > (mode === 'legacy' ? 300 : 1_000),
  },
  'more-results-after-cursor': {
    what: '`more_results` of a query that stopped at its end cursor',
    ours: 'MORE_RESULTS_AFTER_CURSOR',
    legacy: 'MORE_RESULTS_AFTER_LIMIT',
    firestore: 'NO_MORE_RESULTS, or MORE_RESULTS_AFTER_LIMIT',
    why: 'the API has a word for it',
    explains: ({ isAbout, ours, query }) =>
      isAbout('more results') && ours === 'MORE_RESULTS_AFTER_CURSOR' && query['endCursor'] !== undefined,
  },
  'snapshot-version': {
    what: '`snapshot_version` of a batch',
    ours: 'unset; `read_time` tells the same',
    legacy: 'set on ancestor queries',
    why: 'the API has `read_time` in its place',
    explains: ({ isAbout, isSet }) => isAbout('snapshot version') && isSet,
  },
  'masks-and-transforms': {
    what: 'masks, transforms and what they leave',
    ours: 'honoured in both modes',
    legacy: 'passed over in silence: the whole entity is written as it came',
    why: 'a write that does something else than asked is no help',
    explains: ({ mutationsSoFar }) =>
      mutationsSoFar.some((one) => has('propertyMask')(one) || has('propertyTransforms')(one)),
  },
}

const anyCode: readonly string[] = ['OK', 'ALREADY_EXISTS', 'NOT_FOUND']

/** Rows with the scatter values of the entities that a commit of legacy mode gave an id: one in either property table. */
function scatterRows(answer: Answer | undefined): number {
  const given = listOf(at(answer?.body, ['mutationResults'])).map(({ key }) => listOf(at(key, ['path'])))
  const codes = given.filter((path) => path.length > 0).map((path) => pathCode(path.map(elementOf)))
  return 2 * codes.filter((code) => scatterOf(code, 'legacy') !== undefined).length
}

function elementOf({ kind, id, name }: Leaf): PathElement {
  return id === undefined ? { kind: String(kind), name: String(name) } : { kind: String(kind), id: BigInt(String(id)) }
}

/** How many more rows than ours theirs writes, apart from scatter values of automatic ids. */
function moreUpdates({ ours, theirs, ourAnswers, theirAnswers, index }: Look): number {
  const [mine, other] = [scatterRows(ourAnswers[index]), scatterRows(theirAnswers[index])]
  return Number(theirs ?? 0) - other - (Number(ours ?? 0) - mine)
}

const resultsOf = (answer: Answer | undefined): number => listOf(at(answer?.body, ['batch', 'entityResults'])).length
