/** Classes about what stands around entities in answers: times, versions, cursors, counts. */
import { isDeepStrictEqual } from 'node:util'
import { pathCode } from '../../../packages/engine/src/encoding/key-codec.ts'
import type { PathElement } from '../../../packages/engine/src/model/key.ts'
import { scatterOf } from '../../../packages/engine/src/tables/scatter.ts'
import { type Answer, at, listOf } from '../case.ts'
import type { Difference } from '../difference.ts'
import type { Leaf } from '../leaves.ts'
import type { DifferenceClass } from './class.ts'
import { isAbout, isCode, isSet, isUnset, mutations, mutationsSoFar, query } from './look.ts'

export const envelopeClasses: readonly DifferenceClass[] = [
  {
    name: 'unhandled-fault',
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
  {
    name: 'no-times',
    what: 'create, update, commit and read times',
    ours: 'set',
    legacy: 'unset',
    why: 'the API has them; the emulator is older than they are',
    explains: (one) => isUnset(one) && / time( of|$)/.test(one.aspect),
  },
  {
    name: 'commit-time-of-transactions',
    what: '`commit_time` of a non-transactional commit',
    ours: 'unset',
    firestore: 'set',
    why: 'the API sets it for transactions only, and tests of client libraries compare it',
    explains: (one) => isAbout(one, 'commit time') && isSet(one) && one.step.request['mode'] === 'NON_TRANSACTIONAL',
  },
  {
    name: 'one-version-a-commit',
    what: 'versions and times of several mutations in one non-transactional commit',
    ours: 'the same for all: they are committed together',
    legacy: 'counted on from mutation to mutation, so that what one mutation got is wrong of another',
    firestore: 'the same as in legacy',
    why: 'a version grows with each change of an entity, and is promised no more (API)',
    explains: (one) => {
      if (isAbout(one, 'versions of one commit')) return true
      const isConflict = isAbout(one, 'conflict detected')
        ? one.theirs === true
        : isCode(one, anyCode, 'FAILED_PRECONDITION')
      const isOfSeveral = ({ baseVersion, updateTime }: Leaf): boolean => {
        const from = at(baseVersion ?? updateTime, ['$answer', 'from'])
        return typeof from === 'number' && listOf(one.case.steps[from]?.request['mutations']).length > 1
      }
      return isConflict && mutations(one).some(isOfSeveral)
    },
  },
  {
    name: 'no-index-updates',
    what: '`index_updates` of a commit',
    ours: 'counted',
    firestore: 'unset',
    why: 'the API has it',
    explains: (one) => isAbout(one, 'index updates') && one.theirs === undefined,
  },
  {
    name: 'scatter-of-automatic-ids',
    what: '`index_updates` of a commit with automatic ids',
    ours: 'two rows for each entity with a scatter value, which depends on its id; with `--mode legacy` the same function as theirs',
    legacy: 'the same, of other ids',
    why: 'automatic ids differ',
    explains: (one) => isAbout(one, 'index updates') && moreUpdates(one) === 0,
  },
  {
    name: 'more-index-updates',
    what: '`index_updates` of a commit',
    ours: 'rows of the database',
    legacy: 'also rows in composite indexes that queries of other projects made',
    why: 'projects are apart',
    explains: (one) => isAbout(one, 'index updates') && moreUpdates(one) > 0,
  },
  {
    name: 'cursor-of-lookup',
    what: 'a cursor on results of Lookup',
    ours: 'unset',
    firestore: 'set',
    why: 'the API has cursors of query results only',
    explains: (one) => isAbout(one, 'cursor of found') && isSet(one),
  },
  {
    name: 'lookup-once',
    what: 'a key that a Lookup names twice',
    ours: 'answered once',
    legacy: 'answered twice',
    why: 'the Firestore emulator does so; a client that asks by key finds it by key',
    explains: (one) => {
      const theirs = Array.isArray(one.theirs) ? one.theirs : []
      return isAbout(one, 'found', 'missing') && isDeepStrictEqual(one.ours, [...new Set(theirs)])
    },
  },
  {
    name: 'version-of-missing',
    what: 'the version of an entity that a Lookup misses',
    ours: 'that of the read',
    firestore: 'unset, or where the entity was deleted the version of that',
    why: 'the API says that it is always set; legacy does so',
    explains: (one) => isAbout(one, 'version of missing'),
  },
  {
    name: 'versions-of-partial-results',
    what: 'version and times of results of projections and keys-only queries',
    ours: 'unset',
    firestore: 'set',
    why: 'the API sets them for full results; an index row has none',
    explains: (one) =>
      isSet(one) &&
      isAbout(one, 'version of results', 'create time of results', 'update time of results') &&
      listOf(query(one)['projection']).length > 0,
  },
  {
    name: 'end-cursor-of-nothing',
    what: '`end_cursor` of a batch without results',
    ours: 'set',
    firestore: 'unset',
    why: 'a client that pages on always has one; legacy sets it too',
    explains: (one) =>
      isAbout(one, 'end cursor') &&
      isUnset(one) &&
      listOf(at(one.theirAnswers[one.index]?.body, ['batch', 'entityResults'])).length === 0,
  },
  {
    name: 'skipped-cursor',
    what: '`skipped_cursor` after skipped results',
    ours: 'set',
    firestore: 'unset',
    why: 'the API sets it where results were skipped',
    explains: (one) => isAbout(one, 'skipped cursor') && isUnset(one) && Number(query(one)['offset'] ?? 0) > 0,
  },
  {
    name: 'skipped-cursor-of-nothing',
    what: '`skipped_cursor` where nothing was skipped',
    ours: 'unset',
    legacy: 'set',
    why: 'the API sets it where results were skipped',
    explains: (one) => isAbout(one, 'skipped cursor') && isSet(one),
  },
  {
    name: 'more-results-known',
    what: '`more_results` of a query that is finished',
    ours: 'NO_MORE_RESULTS where there are none behind the last; with `--mode legacy` MORE_RESULTS_AFTER_LIMIT where the limit was reached',
    legacy: 'MORE_RESULTS_AFTER_LIMIT after every finished query',
    firestore: 'after a limit of 0 it depends on the filters alone',
    why: 'nothing is left to ask for; the Firestore emulator says so after all other limits',
    explains: (one) => {
      if (!isAbout(one, 'more results')) return false
      const [limit, offset] = [query(one)['limit'], Number(query(one)['offset'] ?? 0)]
      const isFromStart = query(one)['startCursor'] === undefined && one.step.base !== undefined
      const all = listOf(at(one.ourAnswers[one.step.base ?? 0]?.body, ['batch', 'entityResults'])).length
      const isTrue = limit === undefined || !isFromStart || all <= offset + Number(at(limit, ['value']))
      if (one.mode === 'firestore' && at(limit, ['value']) === 0) return true
      return (
        one.ours === 'NO_MORE_RESULTS' && one.theirs === 'MORE_RESULTS_AFTER_LIMIT' && isTrue && one.mode === 'legacy'
      )
    },
  },
  {
    name: 'batches-of-300',
    what: 'a query with more than 300 results',
    ours: '300 a batch, and NOT_FINISHED',
    firestore: 'all in one batch',
    why: 'production cuts so; a program that forgets NOT_FINISHED should fail before it is there',
    explains: (one) =>
      isAbout(one, 'results', 'more results') &&
      resultsOf(one.ourAnswers[one.index]) === 300 &&
      at(one.ourAnswers[one.index]?.body, ['batch', 'moreResults']) === 'NOT_FINISHED' &&
      resultsOf(one.theirAnswers[one.index]) > 300,
  },
  {
    name: 'long-offsets',
    what: 'an offset that a batch does not get past',
    ours: '1,000 a batch, and NOT_FINISHED',
    legacy: '300 a batch, and NOT_FINISHED',
    firestore: 'any, in one batch',
    why: 'the figure of production, by Google’s own clients',
    explains: (one) =>
      isAbout(one, 'results', 'more results', 'skipped results', 'skipped cursor', 'end cursor') &&
      Number(query(one)['offset'] ?? 0) > (one.mode === 'legacy' ? 300 : 1_000),
  },
  {
    name: 'more-results-after-cursor',
    what: '`more_results` of a query that stopped at its end cursor',
    ours: 'MORE_RESULTS_AFTER_CURSOR',
    legacy: 'MORE_RESULTS_AFTER_LIMIT',
    firestore: 'NO_MORE_RESULTS, or MORE_RESULTS_AFTER_LIMIT',
    why: 'the API has a word for it',
    explains: (one) =>
      isAbout(one, 'more results') && one.ours === 'MORE_RESULTS_AFTER_CURSOR' && query(one)['endCursor'] !== undefined,
  },
  {
    name: 'snapshot-version',
    what: '`snapshot_version` of a batch',
    ours: 'unset; `read_time` tells the same',
    legacy: 'set on ancestor queries',
    why: 'the API has `read_time` in its place',
    explains: (one) => isAbout(one, 'snapshot version') && isSet(one),
  },
  {
    name: 'masks-and-transforms',
    what: 'masks, transforms and what they leave',
    ours: 'honoured in both modes',
    legacy: 'passed over in silence: the whole entity is written as it came',
    why: 'a write that does something else than asked is no help',
    explains: (one) =>
      mutationsSoFar(one).some(
        (mutation) => mutation['propertyMask'] !== undefined || mutation['propertyTransforms'] !== undefined,
      ),
  },
]

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
function moreUpdates({ ours, theirs, ourAnswers, theirAnswers, index }: Difference): number {
  const [mine, other] = [scatterRows(ourAnswers[index]), scatterRows(theirAnswers[index])]
  return Number(theirs ?? 0) - other - (Number(ours ?? 0) - mine)
}

const resultsOf = (answer: Answer | undefined): number => listOf(at(answer?.body, ['batch', 'entityResults'])).length
