/**
 * The preview of a commit: the rows that it would write and delete now. It writes nothing and leaves no trace: no row, id,
 * version, finding or load.
 *
 *   put ToDo:1 {owner: "ada"}     the Entities row, a row of the kind and two rows of `owner`, and one log record
 *
 * The id of a new entity is not known before its commit, so a stand-in takes its place in the rows. The commit may have two
 * rows more, or fewer, for each such entity: whether an entity has a scatter value follows from its key.
 *
 * PV1  The same commit right after its preview has the same rows, conflicts and index updates, or the same error.   preview.test.ts
 */
import type { RequestContext } from '../../context.ts'
import type { CommitRequest } from '../../database/api.ts'
import { prepareMutations, refuseTogether } from '../../database/prepare-commit.ts'
import type { VerbParts } from '../../database/verb-parts.ts'
import { invalidArgument } from '../../errors.ts'
import { checkCompositeRows } from '../../indexes/row-limit.ts'
import type { CommitLog } from '../../log/commit-log.ts'
import type { CommittedReader } from '../../log/log-database.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import { type Key, withId } from '../../model/key.ts'
import { runInSlices } from '../../slices.ts'
import type { KvReader } from '../../storage/kv.ts'
import { EntityRows, RowProducer } from '../../tables/entity-rows.ts'
import { groupOf } from '../../tables/log-rows.ts'
import { type Evaluated, evaluateMutations } from '../../transactions/mutations.ts'
import { ListedRows } from './commit-feed.ts'
import type { CommitReport } from './feed-reports.ts'

export interface PreviewParts extends Pick<VerbParts, 'database' | 'versions'> {
  /** Absent where several processes share the store. */
  readonly log: CommitLog | undefined
  readonly kv: KvReader
}

/** The rows are described like those of a commit; the log has one record for each entity group that changes. */
export interface CommitPreview extends Pick<CommitReport, 'rows' | 'moreRows' | 'tables'> {
  /** Index rows that are added or removed, as the answer of a commit counts them. */
  readonly indexUpdates: number
  /** One per mutation, in order: whether the stored version or update time differs from the expected one. */
  readonly conflicts: readonly boolean[]
}

const previewRowsMax = 200

/** @throws DatastoreError as the commit would */
export function previewMutations(
  { database, versions, log, kv }: PreviewParts,
  context: RequestContext,
  request: CommitRequest,
): MaybePromise<CommitPreview> {
  if (request.transaction !== undefined) {
    throw invalidArgument(
      'a preview is of no transaction: leave the transaction out, or use mode NON_TRANSACTIONAL or a single-use transaction',
    )
  }
  const rules = {
    context,
    atomic: request.mode === 'transactional',
    pairs: database.settings.mode === 'firestore' ? ('refused' as const) : ('sequential' as const),
    indexOptions: database.indexOptions,
    nextKey: (key: Key): Key => withId(key, (key.path.at(-1)?.id ?? 0n) + BigInt(request.mutations.length)),
  }
  return andThen(prepareMutations(database, context, request), (prepared) =>
    andThen(refuseTogether(database, context, request.mode, prepared), () => {
      for (const [i, mutation] of prepared.entries())
        if (mutation.automaticId) mutation.key = withId(mutation.key, BigInt(i + 1))
      const read: CommittedReader = (codes, row) => (log === undefined ? kv.get(row) : log.readCommitted(codes, row))
      const evaluate = (): MaybePromise<Evaluated> => evaluateMutations(prepared, rules, read, versions.readTime())
      return andThen(log === undefined ? evaluate() : log.exclusive(evaluate), (evaluated) =>
        runInSlices(context, previewOf(evaluated, database)),
      )
    }),
  )
}

/** In steps that yield their work. */
function* previewOf(
  { states, outcomes, failure }: Evaluated,
  database: VerbParts['database'],
): Generator<number, CommitPreview> {
  if (failure !== undefined) throw failure
  const rows = new ListedRows(previewRowsMax)
  const producer = new RowProducer(rows)
  let indexUpdates = 0
  const groups = new Set<string>()
  for (const state of states) {
    checkCompositeRows(state, database)
    const change = new EntityRows(state, database)
    yield* rows.add(change, 'A', producer)
    yield* rows.add(change, 'B', producer)
    indexUpdates += change.updates
    groups.add(groupOf(state.codes.partition, state.codes.path))
    yield change.updates
  }
  const report = rows.report()
  if (groups.size > 0) rows.tally.Log = { written: groups.size, deleted: 0 }
  return { ...report, indexUpdates, conflicts: outcomes.map(({ conflictDetected }) => conflictDetected) }
}
