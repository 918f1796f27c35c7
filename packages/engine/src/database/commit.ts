/**
 * The commit verb, top to bottom in `commitSteps`: from a request's mutations to its answer. For example put ToDo {owner: "ada"}:
 *
 *   prepare         the entity's bytes are checked; its key ToDo is incomplete, its index entry is owner="ada"
 *   complete keys   ToDo:4486024709931898
 *   commit          a turn of the log: read (none), fold (insert), record, append, apply        log/commit-log.ts
 *   answer          the key, the version 1795252843125000, four index updates
 *
 * The whole request is checked, and its keys are completed, before any evaluation. Atomic commits change all or nothing;
 * others stop at the first failure and keep earlier changes (measured).
 */
import type { RequestContext } from '../context.ts'
import { invalidArgument } from '../errors.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import { idCollisionError } from '../ids/id-errors.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import { andThen, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { Key } from '../model/key.ts'
import { forEachInSlices } from '../slices.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import { evaluateMutations, type PreparedMutation, refuseRepeatedKeys } from '../transactions/mutations.ts'
import { tooManyGroups } from '../transactions/transaction.ts'
import type { TransactionDatabase } from '../transactions/transactions.ts'
import type { CommitRequest, CommitResult, Mutation } from './api.ts'
import type { CallNotes } from './call-notes.ts'
import { groupsOf } from './groups.ts'
import { prepareMutation } from './prepare-mutation.ts'
import type { DatabaseSettings } from './settings.ts'
import type { NamedTransaction, TransactionVerbs } from './transaction-verbs.ts'

export interface CommitParts {
  readonly database: TransactionDatabase & {
    readonly projectId: string
    readonly databaseId: string
    readonly settings: DatabaseSettings
    readonly indexOptions: StoredIndexOptions
  }
  readonly ids: IdAllocator
  readonly transactions: TransactionVerbs
  readonly versions: Pick<CommitVersions, 'readTime'>
  readonly notes: CallNotes
  /** Called before the first write to the database. */
  record(): MaybePromise<void>
}

const noTransaction = new Uint8Array(0)

/** Applies mutations: all or nothing if transactional, else one after the other. */
export function commitMutations(
  parts: CommitParts,
  context: RequestContext,
  request: CommitRequest,
): MaybePromise<CommitResult> {
  return runSteps(commitSteps(parts, context, request))
}

function* commitSteps(
  parts: CommitParts,
  context: RequestContext,
  request: CommitRequest,
): Steps<MaybePromise<CommitResult>> {
  const { database, transactions, versions, notes } = parts
  const atomic = request.mode === 'transactional'
  // Each mutation is checked by itself and its key cut out; nothing is read.
  const prepared = yield* waitFor(prepareMutations(database, context, request))
  const isTransactional = request.transaction !== undefined
  if (!context.isUncounted) notes.noteCommit({ mutations: prepared, isTransactional })
  const transaction = request.transaction === undefined ? undefined : transactions.find(database, request.transaction)
  if (prepared.length === 0) {
    const nothing = { mutationResults: [], indexUpdates: 0 }
    return andThen(transaction?.end('committed'), () =>
      atomic ? { ...nothing, commitTime: versions.readTime() } : nothing,
    )
  }
  if (transaction?.readOnly)
    throw invalidArgument(
      `${transaction.name} is read-only; commit it without mutations`,
      'Cannot modify entities in a read-only transaction.',
    )
  if (transaction === undefined) yield* waitFor(refuseTogether(database, context, request.mode, prepared))
  // The first write to a database records its index rules.
  yield* waitFor(parts.record())
  yield* waitFor(completeKeys(parts, context, prepared))
  // Locks, turn, reading, folding, append and application are in transactions.ts and log/commit-log.ts.
  if (!atomic && transactions.commitsByGroup && prepared.length > 1) return commitByGroup(parts, context, prepared)
  return commitPrepared(parts, context, prepared, atomic, transaction)
}

/** The mutations of a request, each valid by itself. */
export function prepareMutations(
  database: CommitParts['database'],
  context: RequestContext,
  request: CommitRequest,
): MaybePromise<readonly PreparedMutation[]> {
  checkMode(request)
  const prepared: PreparedMutation[] = []
  const ready = forEachInSlices(context, request.mutations, workOfMutation, (mutation) => {
    prepared.push(prepareMutation(mutation, database, database.indexOptions))
  })
  return andThen(ready, () => prepared)
}

/** Refuses pairs of mutations that a commit outside of a transaction may not contain. */
export function refuseTogether(
  database: CommitParts['database'],
  context: RequestContext,
  mode: CommitRequest['mode'],
  prepared: readonly PreparedMutation[],
): MaybePromise<void> {
  if (mode === 'nonTransactional') return refuseRepeatedKeys(context, prepared)
  refuseGroups(prepared, database.settings.entityGroupsMax)
}

/** The work of one mutation (check, evaluation, rows) in rows read; each `bytesOfWork` bytes count as one more. */
const workOfOne = 16
const bytesOfWork = 256

function workOfMutation(mutation: Mutation): number {
  return workOfOne + (mutation.operation === 'delete' ? 0 : mutation.entity.length / bytesOfWork)
}

/**
 * Commits a non-atomic list group by group, side by side. If one group fails, its error is the answer, and the changes of all
 * other groups stay, later ones included.
 */
async function commitByGroup(
  parts: CommitParts,
  context: RequestContext,
  prepared: readonly PreparedMutation[],
): Promise<CommitResult> {
  const byGroup = new Map<string, number[]>()
  for (const [i, { key }] of prepared.entries()) {
    const [group = ''] = groupsOf([key])
    const places = byGroup.get(group)
    if (places === undefined) byGroup.set(group, [i])
    else places.push(i)
  }
  const mutationResults = new Array<CommitResult['mutationResults'][number]>(prepared.length)
  let indexUpdates = 0
  const commits = [...byGroup.values()].map(async (places) => {
    const own = places.map((place) => prepared[place] as PreparedMutation)
    const committed = await commitPrepared(parts, context, own, false, undefined)
    for (const [i, place] of places.entries()) {
      const result = committed.mutationResults[i]
      if (result !== undefined) mutationResults[place] = result
    }
    indexUpdates += committed.indexUpdates
  })
  for (const outcome of await Promise.allSettled(commits)) if (outcome.status === 'rejected') throw outcome.reason
  return { mutationResults, indexUpdates }
}

function commitPrepared(
  parts: CommitParts,
  context: RequestContext,
  mutations: readonly PreparedMutation[],
  atomic: boolean,
  transaction: NamedTransaction | undefined,
): MaybePromise<CommitResult> {
  const { database, ids, transactions } = parts
  const { mode, idCollisions, idPolicy } = database.settings
  const nextKey = (key: Key): MaybePromise<Key> => {
    if (idCollisions === 'fail') throw idCollisionError(key)
    return andThen(ids.completeKeys(context, [incompleteAgain(key)], idPolicy), ([next]) => next ?? key)
  }
  const rules = { context, atomic, pairs: pairsOf(mode), indexOptions: database.indexOptions, nextKey }
  const committed = transactions.commit(database, transaction, {
    context,
    database,
    transaction: transaction === undefined ? noTransaction : transaction.token,
    groups: () => groupsOf(mutations.map(({ key }) => key)),
    evaluate: (read, version) =>
      andThen(evaluateMutations(mutations, rules, read, version), (evaluated) => ({
        states: evaluated.states,
        result: evaluated,
      })),
    admit: undefined,
    recheck: undefined,
    alsoMoves: undefined,
  })
  return andThen(committed, ({ version, result, indexUpdates }) => {
    if (result.failure !== undefined) throw result.failure
    const committed = { mutationResults: result.outcomes, indexUpdates }
    return atomic ? { ...committed, commitTime: version } : committed
  })
}

export function pairsOf(mode: DatabaseSettings['mode']): 'refused' | 'sequential' {
  return mode === 'firestore' ? 'refused' : 'sequential'
}

function completeKeys(
  { database, ids }: CommitParts,
  context: RequestContext,
  prepared: readonly PreparedMutation[],
): MaybePromise<void> {
  const incomplete = prepared.filter(({ automaticId }) => automaticId)
  if (incomplete.length === 0) return
  const keys = incomplete.map(({ key }) => key)
  return andThen(ids.completeKeys(context, keys, database.settings.idPolicy), (completed) => {
    for (let i = 0; i < completed.length; i++) (incomplete[i] as PreparedMutation).key = completed[i] as Key
  })
}

/** A single-use transaction has read nothing: it touches only the groups that it writes. */
function refuseGroups(prepared: readonly PreparedMutation[], entityGroupsMax: number | undefined): void {
  if (entityGroupsMax === undefined || prepared.length <= entityGroupsMax) return
  const isNewGroup = ({ key, automaticId }: PreparedMutation): boolean => automaticId && key.path.length === 1
  const roots = prepared
    .filter((mutation) => !isNewGroup(mutation))
    .map(({ key }) => ({ partition: key.partition, path: key.path.slice(0, 1) }))
  const touched = groupsOf(roots).length + prepared.filter(isNewGroup).length
  if (touched > entityGroupsMax) {
    throw invalidArgument(
      `the transaction touches ${touched} entity groups; it may touch ${entityGroupsMax}`,
      tooManyGroups,
    )
  }
}

function incompleteAgain(key: Key): Key {
  const last = key.path.length - 1
  return {
    partition: key.partition,
    path: key.path.map((element, i) => (i === last ? { kind: element.kind } : element)),
  }
}

function checkMode(request: CommitRequest): void {
  const { mode, transaction, singleUse } = request
  if (mode === 'nonTransactional') {
    if (transaction !== undefined || singleUse !== undefined) {
      throw invalidArgument(
        'a non-transactional commit names a transaction; leave it out or use mode TRANSACTIONAL',
        'non-transaction commit cannot specify a transaction',
      )
    }
    return
  }
  if (transaction === undefined && singleUse === undefined) {
    throw invalidArgument(
      'begin one, give a single-use transaction, or set mode NON_TRANSACTIONAL',
      'transactional commit requires a transaction',
    )
  }
  if (singleUse?.mode === 'readOnly') {
    throw invalidArgument(
      'a single-use transaction that commits must be read-write',
      'single_use_transaction in a commit request must be READ_WRITE.',
    )
  }
}
