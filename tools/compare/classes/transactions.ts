/** Classes about transactions and read options. */
import { isDeepStrictEqual } from 'node:util'
import { at, type Step } from '../case.ts'
import { type ClassTable, has, type Look } from './look.ts'

export const transactionClasses: ClassTable = {
  'second-rollback': {
    what: 'a second Rollback of a transaction',
    ours: 'accepted',
    legacy: 'INVALID_ARGUMENT',
    why: 'a client that repeats a call is told no error; the Firestore emulator does so',
    explains: ({ method, theyRefuse }) => method === 'Rollback' && theyRefuse,
  },
  'rollback-after-commit': {
    what: 'a Rollback of a transaction that is committed',
    ours: 'INVALID_ARGUMENT',
    firestore: 'accepted',
    why: 'nothing can be undone any more; legacy says so too',
    explains: (look) =>
      look.method === 'Rollback' && look.weRefuse && (look.case.row !== undefined || wasUsed(look, 'Commit')),
  },
  'commit-of-a-read-only-transaction': {
    what: 'a Commit without mutations of a read-only transaction',
    ours: 'accepted',
    firestore: 'INVALID_ARGUMENT',
    why: 'programs end read-only transactions so, as published samples do',
    explains: ({ method, theyRefuse, mutations }) => method === 'Commit' && theyRefuse && mutations.length === 0,
  },
  'previous-transaction-ended': {
    what: 'a transaction after another one was begun with it as `previous_transaction`',
    ours: 'rolled back: what uses it is INVALID_ARGUMENT, and it holds no locks',
    legacy: 'ended for Commit, open for reads',
    firestore: 'open as before, with its locks',
    why: 'the API means it for a retry of what failed',
    explains: ({ before, theirs, aspect, request: asked }) =>
      before.some(({ method, request }) => {
        const previous = previousOf(request)
        if (method !== 'BeginTransaction' || previous === undefined) return false
        return theirs === 'ABORTED' || (aspect === 'code' && isDeepStrictEqual(previous, tokenOf(asked)))
      }),
  },
  'failed-commit-ends': {
    what: 'a transaction after its Commit was refused',
    ours: 'rolled back',
    legacy: 'open: another Commit of it may succeed',
    why: 'the Firestore emulator does so; a client begins anew',
    explains: (look) =>
      look.isCode('INVALID_ARGUMENT', ['OK', 'ABORTED', 'ALREADY_EXISTS', 'NOT_FOUND']) &&
      hadCall(look, ({ method }, i) => method === 'Commit' && look.ourAnswers[i]?.code !== 'OK'),
  },
  'eventual-lookup': {
    what: 'a Lookup with EVENTUAL',
    ours: 'answered, and strong',
    firestore: 'INVALID_ARGUMENT',
    why: 'the API has it; the emulator says that it lacks it',
    explains: ({ theyRefuse, request }) => theyRefuse && at(request, ['readOptions', 'readConsistency']) === 'EVENTUAL',
  },
  'read-time-passed-over': {
    what: '`read_time`',
    ours: 'honoured in both modes; INVALID_ARGUMENT where it lies in the future',
    legacy: 'passed over',
    why: 'the API has it; the emulator is older',
    explains: ({ weRefuse, request, case: { row } }) =>
      weRefuse && (at(request, ['readOptions', 'readTime']) !== undefined || row?.number === 155),
  },
  'read-time-of-the-past-hour': {
    what: 'a `read_time` more than an hour ago',
    ours: 'FAILED_PRECONDITION',
    legacy: 'passed over',
    firestore: 'accepted up to seven days, though point-in-time recovery is not enabled',
    why: 'the API: the past hour, and more only with point-in-time recovery, which is not simulated',
    explains: ({ isCode, ourMessage }) => isCode('FAILED_PRECONDITION', 'OK') && /read_time/.test(ourMessage),
  },
  'read-masks-passed-over': {
    what: '`property_mask` of reads',
    ours: 'honoured in both modes, and checked',
    legacy: 'passed over',
    why: 'the API has it; the emulator is older',
    explains: ({ request, isAbout, weRefuse }) => has('propertyMask')(request) && (isAbout('entity') || weRefuse),
  },
  'retry-of-what-has-ended': {
    what: 'a read-only transaction that has ended, as `previous_transaction`',
    ours: 'INVALID_ARGUMENT, as one that is open',
    legacy: 'accepted: it is forgotten',
    why: 'there is nothing to retry; the Firestore emulator says so',
    explains: (look) =>
      look.method === 'BeginTransaction' &&
      look.weRefuse &&
      isReadOnly(look) &&
      (wasUsed(look, 'Commit') || wasUsed(look, 'Rollback') || wasRetried(look)),
  },
  'read-only-at-one-moment': {
    what: 'reads of a read-only transaction after a later write',
    ours: 'all of the moment of its first read',
    legacy: 'each entity group of the moment when it was read first',
    firestore: 'all of the moment when it was begun',
    why: 'what it reads is true together; which moment it is, is not documented',
    explains: (look) =>
      isReadOnly(look) &&
      /^(found|missing|results|entity|version of|create time of|update time of)/.test(look.aspect) &&
      look.before.some(({ method }, i) => method === 'Commit' && i > 0),
  },
  'refused-before-waiting': {
    what: 'a Commit that must wait for a lock, and has a mutation that the stored entities forbid',
    ours: 'NOT_FOUND or ALREADY_EXISTS at once',
    firestore: 'ABORTED after two seconds',
    why: 'the answer is known, and a retry would get it',
    explains: ({ method, isCode }) => method === 'Commit' && isCode(['NOT_FOUND', 'ALREADY_EXISTS'], 'ABORTED'),
  },
  'aborted-once-and-for-all': {
    what: 'a transaction after a call of it was ABORTED',
    ours: 'ABORTED',
    legacy: 'after a read that was ABORTED: OK, if it has no mutations',
    firestore: 'INVALID_ARGUMENT',
    why: 'it tells a client to try the whole transaction again',
    explains: (look) =>
      look.isCode('ABORTED', ['INVALID_ARGUMENT', 'OK']) &&
      hadCall(look, (_, i) => look.ourAnswers[i]?.code === 'ABORTED' && look.theirAnswers[i]?.code === 'ABORTED'),
  },
  'delete-of-nothing': {
    what: 'a delete of an entity that is not there, which another transaction has looked up',
    ours: 'OK at once',
    firestore: 'ABORTED after two seconds',
    why: 'it changes nothing that the other transaction has read',
    explains: ({ method, isCode, mutations, ourAnswers, index }) =>
      method === 'Commit' &&
      isCode('OK', 'ABORTED') &&
      mutations.length > 0 &&
      mutations.every(has('delete')) &&
      // Ours has changed no index row, so nothing was there.
      Number(ourAnswers[index]?.body['indexUpdates'] ?? 0) === 0,
  },
}

/** The transaction that a request is in, or retries. */
function tokenOf(request: Step['request']): unknown {
  return transactionOf(request) ?? previousOf(request)
}

function transactionOf(request: Step['request']): unknown {
  return request['transaction'] ?? at(request, ['readOptions', 'transaction'])
}

function previousOf(request: Step['request']): unknown {
  return at(request, ['transactionOptions', 'readWrite', 'previousTransaction'])
}

function hadCall({ before, request }: Look, fits: (step: Step, index: number) => boolean): boolean {
  return before.some((step, i) => fits(step, i) && isDeepStrictEqual(transactionOf(step.request), tokenOf(request)))
}

function wasUsed(look: Look, used: string): boolean {
  return hadCall(look, ({ method }) => method === used)
}

function isReadOnly({ case: { steps }, request }: Look): boolean {
  const from = at(tokenOf(request), ['$answer', 'from'])
  return typeof from === 'number' && at(steps[from]?.request, ['transactionOptions', 'readOnly']) !== undefined
}

/** Whether an earlier transaction was begun with it as the previous one. */
function wasRetried({ before, request: asked }: Look): boolean {
  return before.some(({ request }) => isDeepStrictEqual(previousOf(request), tokenOf(asked)))
}
