/** Classes about writes. */
import type { DifferenceClass } from './class.ts'
import { has, holds, isAbout, isCode, isIncomplete, mutations, mutationsSoFar } from './look.ts'

export const commitClasses: readonly DifferenceClass[] = [
  {
    name: 'conflict-unnoticed',
    modes: ['firestore'],
    what: 'a `base_version` or `update_time` that differs, with SERVER_VALUE',
    ours: 'no effect, and `conflict_detected`',
    firestore: 'written all the same where the stored entity is another one than expected, without a word',
    why: 'the API says that the stored entity stays and the conflict is told; legacy does so',
    explains: (one) =>
      isAbout(one, 'conflict detected') &&
      one.ours === true &&
      mutations(one).some((m) => has('baseVersion')(m) || has('updateTime')(m)),
  },
  {
    name: 'transforms-unchecked',
    modes: ['firestore'],
    what: 'transforms of reserved names; masks and transforms beside what they cannot go with',
    ours: 'INVALID_ARGUMENT',
    firestore: 'accepted',
    why: 'nobody could write such a property (API)',
    explains: (one) => isCode(one, 'INVALID_ARGUMENT', 'OK') && mutations(one).some(has('propertyTransforms')),
  },
  {
    name: 'refused-before-anything-else',
    modes: ['firestore', 'legacy'],
    what: 'a commit with a mutation that is wrong in itself, and one that the stored entities forbid',
    ours: 'INVALID_ARGUMENT, and nothing is written',
    legacy: 'the first that it meets',
    firestore: 'the first that it meets; what stands before a bad transform stays written',
    why: 'a request is judged before it is carried out',
    explains: (one) =>
      isCode(one, 'INVALID_ARGUMENT', ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION']) &&
      (mutations(one).length > 1 || mutations(one).some(has('propertyTransforms'))),
  },
  {
    name: 'written-before-a-refusal',
    modes: ['firestore'],
    what: 'a non-transactional commit that is INVALID_ARGUMENT for a transform',
    ours: 'nothing is written',
    firestore: 'the mutations before it stay written',
    why: 'a request is judged before it is carried out',
    explains: (one) =>
      isAbout(one, 'found', 'missing', 'entity', 'version of found') &&
      one.case.steps.some(
        ({ request }, i) =>
          one.ourAnswers[i]?.code === 'INVALID_ARGUMENT' &&
          one.theirAnswers[i]?.code === 'INVALID_ARGUMENT' &&
          request['mode'] === 'NON_TRANSACTIONAL' &&
          JSON.stringify(request).includes('propertyTransforms'),
      ) &&
      mutationsSoFar(one).length > 1,
  },
  {
    name: 'transform-results-beside-an-id',
    modes: ['firestore'],
    what: 'results of transforms on an entity that gets an automatic id',
    ours: 'given',
    firestore: 'left out',
    why: 'the API has one for each transform',
    explains: (one) =>
      isAbout(one, 'transform results') &&
      one.theirs === undefined &&
      mutations(one).some((mutation) => holds(mutation, isIncomplete)),
  },
]
