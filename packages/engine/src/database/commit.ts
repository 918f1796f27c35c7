/**
 * The commit verb, top to bottom: from a request's mutations to its answer. For example put ToDo {owner: "ada"}:
 *
 *   commitSteps     the call
 *     prepare         the entity's bytes are checked; its key ToDo is incomplete, its index entry is owner="ada"
 *     complete keys   ToDo:4486024709931898
 *     commitHere      again after each wait for a lock of another transaction
 *     answer          the key, the version 1795252843125000, three index updates
 *   commitInTurn    one commit at a time
 *     read and fold   no entity before, {owner: "ada"} after
 *     records         one log record, with one row in Entities and three in indexes: of the kind, owner up, owner down
 *     admission       guard: no open transaction has read these rows; gate: simulated tablets have room for them
 *     append          the commit point; rows are applied now or later
 *
 * The whole request is checked, and its keys are completed, before anything is read. Atomic commits change all or nothing;
 * others stop at the first failure and keep earlier changes (measured). A store that several processes share has its own
 * `commit` instead of `commitHere` (engine/store-port.ts).
 */
import { checkAlive, type RequestContext } from '../context.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { invalidArgument } from '../errors.ts'
import { idCollisionError } from '../ids/allocator.ts'
import { noFootprint, RecordsFootprint } from '../log/footprint.ts'
import { Superseded } from '../log/log-database.ts'
import { indexUpdatesOf, recordsOf } from '../log/new-records.ts'
import { tallyOf } from '../log/record-writes.ts'
import { andThen, type MaybePromise, runSteps, type Steps, waitFor, whenFails } from '../maybe-promise.ts'
import { type Key, kindOf } from '../model/key.ts'
import { giveWay } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import type { CommitInput, Committed } from '../transactions/commit-input.ts'
import { Blocked } from '../transactions/lock-table.ts'
import { type EvaluationRules, evaluateMutations, type PreparedMutation } from '../transactions/mutations.ts'
import type { Transaction } from '../transactions/transaction.ts'
import type { CommitGuard } from '../transactions/transactions.ts'
import type { CommitRequest, CommitResult } from './api.ts'
import type { LocalParts } from './database-parts.ts'
import { groupsOf } from './groups.ts'
import { prepareMutations, refuseTogether } from './prepare-commit.ts'
import type { VerbParts } from './verb-parts.ts'

const noTransaction = new Uint8Array(0)

/** Applies mutations: all or nothing if transactional, else one after the other. */
export function* commitSteps(parts: VerbParts, context: RequestContext, request: CommitRequest): Steps<CommitResult> {
  const { database, transactions, versions, ids } = parts
  const atomic = request.mode === 'transactional'
  // Each mutation is checked by itself and its key cut out; nothing is read.
  const mutations = yield* waitFor(prepareMutations(database, context, request))
  context.ledger.fact = { call: 'commit', mutations, isTransactional: request.transaction !== undefined }
  const transaction = request.transaction && transactions.find(database, request.transaction)
  if (mutations.length === 0) {
    yield* waitFor(transaction?.end('committed'))
    return { mutationResults: [], indexUpdates: 0, commitTime: atomic ? versions.readTime() : undefined }
  }
  if (transaction?.readOnly)
    throw invalidArgument(
      `${transaction.name} is read-only; commit it without mutations`,
      'Cannot modify entities in a read-only transaction.',
    )
  if (transaction === undefined && mutations.length > 1)
    yield* waitFor(refuseTogether(database, context, request.mode, mutations))
  yield* waitFor(parts.keepIndexRules())
  if (mutations.some(({ automaticId }) => automaticId)) yield* waitFor(completeKeys(parts, context, mutations))
  const { mode, idCollisions, idPolicy } = database.settings
  const nextKey = (key: Key): MaybePromise<Key> => {
    if (idCollisions === 'fail') throw idCollisionError(key)
    return andThen(
      ids.completeKeys(
        context,
        [{ partition: key.partition, path: [...key.path.slice(0, -1), { kind: kindOf(key) }] }],
        idPolicy,
      ),
      ([next]) => next ?? key,
    )
  }
  const pairs = mode === 'firestore' ? 'refused' : 'sequential'
  const rules: EvaluationRules = { context, atomic, pairs, indexOptions: database.indexOptions, nextKey }
  const groups = () => groupsOf(mutations.map(({ key }) => key))
  const input = { context, database, transaction: transaction?.token ?? noTransaction, mutations, rules, groups }
  // In a store of one process this is commitHere, below.
  const { version, outcomes, failure, indexUpdates } = yield* waitFor(parts.commits.commit(input, transaction))
  if (failure !== undefined) throw failure
  return { mutationResults: outcomes, indexUpdates, commitTime: atomic ? version : undefined }
}

/**
 * Commits to the store of this process. While any transaction is open, and in a simulation, a commit has a guard: it waits for locks of
 * other transactions, and is then repeated. A commit without a guard is repeated with one if a transaction has locked its rows
 * meanwhile (Blocked).
 */
export function commitHere(
  parts: LocalParts,
  input: CommitInput,
  transaction: Transaction | undefined,
): MaybePromise<Committed> {
  const guard = parts.transactions.guard(transaction, input)
  if (guard !== undefined) return runSteps(commitGuarded(parts, input, guard))
  return whenFails(
    () => runSteps(commitInTurn(parts, input, undefined)),
    (error) => {
      if (!(error instanceof Blocked)) throw error
      return runSteps(commitGuarded(parts, input, parts.transactions.guardAgainst(transaction, input)))
    },
  )
}

function* commitGuarded(parts: LocalParts, input: CommitInput, guard: CommitGuard): Steps<Committed> {
  try {
    for (;;) {
      try {
        const committed = yield* commitInQueue(parts, input, guard)
        guard.committed()
        return committed
      } catch (error) {
        yield* waitFor(guard.blocked(error))
      }
    }
  } catch (error) {
    throw guard.failed(error)
  }
}

/** In a simulation, a commit first waits for the appends of earlier commits to its groups, and then as long as its own takes. */
function* commitInQueue(parts: LocalParts, input: CommitInput, guard: CommitGuard): Steps<Committed> {
  const { gate } = parts.log
  const { context, groups } = input
  if (gate?.isQueueing !== true || groups === undefined) return yield* commitInTurn(parts, input, guard)
  const leave = yield* waitFor(gate.enter(context, groups(), () => guard.recheck()))
  try {
    return yield* commitInTurn(parts, input, guard)
  } finally {
    leave()
  }
}

/** Takes the turn of the log, gives it on after the append, and answers when the store has the commit (commit-log/L3, commit-log/L5). */
function* commitInTurn(
  { log, versions, recent, transactions }: LocalParts,
  { context, database, transaction, mutations, rules }: CommitInput,
  guard: CommitGuard | undefined,
): Steps<Committed> {
  const turn = log.turns.enter()
  if (turn !== undefined) yield turn
  const version = versions.next()
  // When the store has the commit, and all that it read; rejects for a refused one.
  let written: MaybePromise<void>
  let committed!: Committed
  try {
    // Read the entities, and fold the mutations over them: images before and after.
    const read = (codes: KeyCodes, row: RowKey): MaybePromise<Uint8Array | undefined> =>
      andThen(log.readCommitted(codes, row), (cell) => {
        context.ledger.charge('Entities', 'get', row, 1, cell?.length ?? 0)
        return cell
      })
    const { states, outcomes, failure } = yield* waitFor(evaluateMutations(mutations, rules, read, version))
    committed = { version, outcomes, failure, indexUpdates: 0 }
    if (states.length === 0) {
      guard?.admit(noFootprint)
      versions.settle(version)
      written = log.written()
    } else {
      // One record for each group, with the index rows to write and delete.
      const made = yield* waitFor(recordsOf(context, states, database, { transaction, groups: [] }))
      const records = log.appendsOf(context, database, made, version)
      yield* waitFor(giveWay(context, records.length))
      const isApplied = yield* waitFor(log.readyFor(database, records))
      // Admission: the last moment at which the commit can end without a trace. From here to the append nothing waits.
      checkAlive(context)
      // A reset has deleted this database meanwhile: the caller begins again with the one that follows it.
      if (database.successor !== undefined) throw new Superseded()
      const footprint = new RecordsFootprint(records)
      const admission = guard ?? transactions
      admission.admit(footprint)
      log.gate?.admit(context, records)
      committed = { ...committed, indexUpdates: indexUpdatesOf(records) }
      // Append, and tell: the log its observers when the store has the commit, the transactions now.
      written = log.append(context, database, records, isApplied)
      context.trace?.committed(tallyOf(records))
      recent.add({ footprint, groupsRead: guard?.groupsRead ?? [], transaction, written: written ?? undefined })
      // Until the store has them, later commits read these images from memory.
      const kept = log.keepInFlight(records, isApplied, written)
      if (kept !== undefined) yield kept
    }
  } catch (error) {
    versions.settle(version)
    written = log.refusal(error)
  } finally {
    log.turns.leave()
  }
  yield* waitFor(written)
  return committed
}

function completeKeys(
  { database, ids }: VerbParts,
  context: RequestContext,
  prepared: readonly PreparedMutation[],
): MaybePromise<void> {
  const incomplete = prepared.filter(({ automaticId }) => automaticId)
  const keys = incomplete.map(({ key }) => key)
  return andThen(ids.completeKeys(context, keys, database.settings.idPolicy), (completed) => {
    for (let i = 0; i < completed.length; i++) (incomplete[i] as PreparedMutation).key = completed[i] as Key
  })
}
