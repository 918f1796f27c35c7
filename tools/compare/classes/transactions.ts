/** Classes about transactions and read options. */
import { isDeepStrictEqual } from 'node:util'
import { at, listOf, type Step } from '../case.ts'
import type { Difference } from '../difference.ts'
import type { DifferenceClass } from './class.ts'
import { before, has, isAbout, isCode, mutations, ourMessage } from './look.ts'

export const transactionClasses: readonly DifferenceClass[] = [
  {
    name: 'second-rollback',
    what: 'a second Rollback of a transaction',
    ours: 'accepted',
    legacy: 'INVALID_ARGUMENT',
    why: 'a client that repeats a call is told no error; the Firestore emulator does so',
    explains: (one) => one.step.method === 'Rollback' && isCode(one, 'OK', 'INVALID_ARGUMENT'),
  },
  {
    name: 'rollback-after-commit',
    what: 'a Rollback of a transaction that is committed',
    ours: 'INVALID_ARGUMENT',
    firestore: 'accepted',
    why: 'nothing can be undone any more; legacy says so too',
    explains: (one) =>
      one.step.method === 'Rollback' &&
      isCode(one, 'INVALID_ARGUMENT', 'OK') &&
      (one.case.row !== undefined || wasUsed(one, 'Commit')),
  },
  {
    name: 'commit-of-a-read-only-transaction',
    what: 'a Commit without mutations of a read-only transaction',
    ours: 'accepted',
    firestore: 'INVALID_ARGUMENT',
    why: 'programs end read-only transactions so, as published samples do',
    explains: (one) =>
      one.step.method === 'Commit' &&
      isCode(one, 'OK', 'INVALID_ARGUMENT') &&
      listOf(one.step.request['mutations']).length === 0,
  },
  {
    name: 'previous-transaction-ended',
    what: 'a transaction after another one was begun with it as `previous_transaction`',
    ours: 'rolled back: what uses it is INVALID_ARGUMENT, and it holds no locks',
    legacy: 'ended for Commit, open for reads',
    firestore: 'open as before, with its locks',
    why: 'the API means it for a retry of what failed',
    explains: (one) =>
      before(one).some(([{ method, request }]) => {
        const previous = at(request, ['transactionOptions', 'readWrite', 'previousTransaction'])
        if (method !== 'BeginTransaction' || previous === undefined) return false
        return one.theirs === 'ABORTED' || (one.aspect === 'code' && isDeepStrictEqual(previous, tokenOf(one)))
      }),
  },
  {
    name: 'failed-commit-ends',
    what: 'a transaction after its Commit was refused',
    ours: 'rolled back',
    legacy: 'open: another Commit of it may succeed',
    why: 'the Firestore emulator does so; a client begins anew',
    explains: (one) =>
      isCode(one, 'INVALID_ARGUMENT', ['OK', 'ABORTED', 'ALREADY_EXISTS', 'NOT_FOUND']) &&
      hadCall(one, ({ method }, i) => method === 'Commit' && one.ourAnswers[i]?.code !== 'OK'),
  },
  {
    name: 'eventual-lookup',
    what: 'a Lookup with EVENTUAL',
    ours: 'answered, and strong',
    firestore: 'INVALID_ARGUMENT',
    why: 'the API has it; the emulator says that it lacks it',
    explains: (one) =>
      isCode(one, 'OK', 'INVALID_ARGUMENT') && at(one.step.request, ['readOptions', 'readConsistency']) === 'EVENTUAL',
  },
  {
    name: 'read-time-passed-over',
    what: '`read_time`',
    ours: 'honoured in both modes; INVALID_ARGUMENT where it lies in the future',
    legacy: 'passed over',
    why: 'the API has it; the emulator is older',
    explains: (one) =>
      isCode(one, 'INVALID_ARGUMENT', 'OK') &&
      (at(one.step.request, ['readOptions', 'readTime']) !== undefined || one.case.row?.number === 155),
  },
  {
    name: 'read-time-of-the-past-hour',
    what: 'a `read_time` more than an hour ago',
    ours: 'FAILED_PRECONDITION',
    legacy: 'passed over',
    firestore: 'accepted up to seven days, though point-in-time recovery is not enabled',
    why: 'the API: the past hour, and more only with point-in-time recovery, which is not simulated',
    explains: (one) => isCode(one, 'FAILED_PRECONDITION', 'OK') && /read_time/.test(ourMessage(one)),
  },
  {
    name: 'read-masks-passed-over',
    what: '`property_mask` of reads',
    ours: 'honoured in both modes, and checked',
    legacy: 'passed over',
    why: 'the API has it; the emulator is older',
    explains: (one) =>
      at(one.step.request, ['propertyMask']) !== undefined &&
      (isAbout(one, 'entity') || isCode(one, 'INVALID_ARGUMENT', 'OK')),
  },
  {
    name: 'retry-of-what-has-ended',
    what: 'a read-only transaction that has ended, as `previous_transaction`',
    ours: 'INVALID_ARGUMENT, as one that is open',
    legacy: 'accepted: it is forgotten',
    why: 'there is nothing to retry; the Firestore emulator says so',
    explains: (one) =>
      one.step.method === 'BeginTransaction' &&
      isCode(one, 'INVALID_ARGUMENT', 'OK') &&
      isReadOnly(one) &&
      (wasUsed(one, 'Commit') || wasUsed(one, 'Rollback') || wasRetried(one)),
  },
  {
    name: 'read-only-at-one-moment',
    what: 'reads of a read-only transaction after a later write',
    ours: 'all of the moment of its first read',
    legacy: 'each entity group of the moment when it was read first',
    firestore: 'all of the moment when it was begun',
    why: 'what it reads is true together; which moment it is, is not documented',
    explains: (one) =>
      isReadOnly(one) &&
      /^(found|missing|results|entity|version of|create time of|update time of)/.test(one.aspect) &&
      before(one).some(([{ method }], i) => method === 'Commit' && i > 0),
  },
  {
    name: 'refused-before-waiting',
    what: 'a Commit that must wait for a lock, and has a mutation that the stored entities forbid',
    ours: 'NOT_FOUND or ALREADY_EXISTS at once',
    firestore: 'ABORTED after two seconds',
    why: 'the answer is known, and a retry would get it',
    explains: (one) => one.step.method === 'Commit' && isCode(one, ['NOT_FOUND', 'ALREADY_EXISTS'], 'ABORTED'),
  },
  {
    name: 'aborted-once-and-for-all',
    what: 'a transaction after a call of it was ABORTED',
    ours: 'ABORTED',
    legacy: 'after a read that was ABORTED: OK, if it has no mutations',
    firestore: 'INVALID_ARGUMENT',
    why: 'it tells a client to try the whole transaction again',
    explains: (one) =>
      isCode(one, 'ABORTED', ['INVALID_ARGUMENT', 'OK']) &&
      hadCall(one, (_, i) => one.ourAnswers[i]?.code === 'ABORTED' && one.theirAnswers[i]?.code === 'ABORTED'),
  },
  {
    name: 'delete-of-nothing',
    what: 'a delete of an entity that is not there, which another transaction has looked up',
    ours: 'OK at once',
    firestore: 'ABORTED after two seconds',
    why: 'it changes nothing that the other transaction has read',
    explains: (one) =>
      one.step.method === 'Commit' &&
      isCode(one, 'OK', 'ABORTED') &&
      mutations(one).length > 0 &&
      mutations(one).every(has('delete')) &&
      // Ours has changed no index row, so nothing was there.
      Number(at(one.ourAnswers[one.index]?.body, ['indexUpdates']) ?? 0) === 0,
  },
]

/** The transaction that a request is in. */
function tokenOf({ step: { request } }: Difference): unknown {
  return transactionOf(request) ?? at(request, ['transactionOptions', 'readWrite', 'previousTransaction'])
}

function transactionOf(request: unknown): unknown {
  return at(request, ['transaction']) ?? at(request, ['readOptions', 'transaction'])
}

/** Whether an earlier call in the same transaction fits. */
function hadCall(one: Difference, fits: (step: Step, index: number) => boolean): boolean {
  return before(one).some(([step, i]) => fits(step, i) && isDeepStrictEqual(transactionOf(step.request), tokenOf(one)))
}

function wasUsed(one: Difference, used: string): boolean {
  return hadCall(one, ({ method }) => method === used)
}

/** Whether the transaction of a request was begun read-only. */
function isReadOnly(one: Difference): boolean {
  const from = at(tokenOf(one), ['$answer', 'from'])
  const begun = typeof from === 'number' ? one.case.steps[from]?.request : undefined
  return at(begun, ['transactionOptions', 'readOnly']) !== undefined
}

/** Whether an earlier transaction was begun with it as the previous one. */
function wasRetried(one: Difference): boolean {
  return before(one).some(([{ request }]) =>
    isDeepStrictEqual(at(request, ['transactionOptions', 'readWrite', 'previousTransaction']), tokenOf(one)),
  )
}
