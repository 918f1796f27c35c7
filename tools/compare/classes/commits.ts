/** Classes about writes. */
import { listOf } from '../case.ts'
import type { Leaf } from '../leaves.ts'
import { type ClassTable, has, holds, isIncomplete } from './look.ts'

export const commitClasses: ClassTable = {
  'conflict-unnoticed': {
    what: 'a `base_version` or `update_time` that differs, with SERVER_VALUE',
    ours: 'no effect, and `conflict_detected`',
    firestore: 'written all the same where the stored entity is another one than expected, without a word',
    why: 'the API says that the stored entity stays and the conflict is told; legacy does so',
    explains: ({ isAbout, ours, mutations, before, ourAnswers, theirAnswers }) => {
      if (isAbout('conflict detected')) return ours === true && mutations.some(expects)
      const isAfterFailure = before.some(
        ({ request }, i) =>
          listOf(request['mutations']).some(expects) && ourAnswers[i]?.code !== 'OK' && theirAnswers[i]?.code !== 'OK',
      )
      return isAfterFailure && isAbout('found', 'missing', 'entity')
    },
  },
  'transforms-unchecked': {
    what: 'transforms of reserved names; masks and transforms beside what they cannot go with',
    ours: 'INVALID_ARGUMENT',
    firestore: 'accepted',
    why: 'no client could write such a property (API)',
    explains: ({ weRefuse, mutations }) => weRefuse && mutations.some(has('propertyTransforms')),
  },
  'refused-before-anything-else': {
    what: 'a commit that is wrong in itself, and has a mutation that the stored entities forbid',
    ours: 'INVALID_ARGUMENT, and nothing is written',
    legacy: 'the first that it meets',
    firestore: 'the first that it meets; what stands before a bad transform stays written',
    why: 'a request is judged before it is carried out',
    explains: ({ isCode, mutations, request }) =>
      isCode('INVALID_ARGUMENT', ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION']) &&
      (mutations.length > 1 || mutations.some(has('propertyTransforms')) || request['transaction'] !== undefined),
  },
  'written-before-a-refusal': {
    what: 'what a non-transactional commit leaves that is refused for one of its mutations',
    ours: 'nothing where it is INVALID_ARGUMENT; else what stands before that mutation, in one version',
    legacy: 'what stands before that mutation, in versions of their own',
    firestore: 'the same',
    why: 'a request is judged before it is carried out; else it is as with the emulators',
    explains: ({ before, ourAnswers, theirAnswers, isAbout, aspect }) => {
      const codes = before.flatMap(({ request }, i) => {
        const isOfSeveral = request['mode'] === 'NON_TRANSACTIONAL' && listOf(request['mutations']).length > 1
        const code = ourAnswers[i]?.code
        return isOfSeveral && code !== 'OK' && code === theirAnswers[i]?.code ? [code] : []
      })
      if (isAbout('code', 'found', 'missing', 'entity', 'index updates', 'conflict detected'))
        return codes.includes('INVALID_ARGUMENT')
      return /version|time/.test(aspect) && codes.length > 0
    },
  },
  'transform-results-beside-an-id': {
    what: 'results of transforms on an entity that gets an automatic id',
    ours: 'given',
    firestore: 'left out',
    why: 'the API has one for each transform',
    explains: ({ isAbout, theirs, mutations }) =>
      isAbout('transform results') && theirs === undefined && holds(mutations, isIncomplete),
  },
  'base-version-to-come': {
    what: 'a `base_version` above the stored one, with FAIL',
    ours: 'FAILED_PRECONDITION',
    firestore: 'INVALID_ARGUMENT',
    why: 'it is a conflict like any other; legacy says so',
    explains: ({ isCode, mutations }) =>
      isCode('FAILED_PRECONDITION', 'INVALID_ARGUMENT') &&
      mutations.some((m) => m['conflictResolutionStrategy'] === 'FAIL' && has('baseVersion')(m)),
  },
}

function expects(mutation: Leaf): boolean {
  return has('baseVersion')(mutation) || has('updateTime')(mutation)
}
