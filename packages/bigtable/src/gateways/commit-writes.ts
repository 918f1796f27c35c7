/**
 * The conditional writes of a commit, up to the point at which it is known to be committed or refused; what is left to do then runs in the
 * background. A commit is refused in all its groups before it leaves the list, if one of its records may have been sent.
 */
import type { GroupCode } from '@sixtables/engine/store'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { allInSlices } from './all-in-slices.ts'
import type { OwnCommit } from './clock-row.ts'
import {
  append,
  decide,
  encodeHead,
  type GroupRecord,
  type GroupRow,
  groupsAtOnce,
  isBelow,
  prepare,
  prepareHead,
} from './group-row.ts'
import { type DatabaseParts, type Prepared, workOfRecord } from './resolve.ts'
import { applyRecords } from './shared-apply.ts'
import { areReadsUnchanged, type CheckedReads } from './validate.ts'

/** Why a commit has not entered: another change was first, or an answer was lost, which says nothing about other commits. */
export type Missed = 'lost' | 'again'

export interface Entering {
  readonly commit: OwnCommit
  readonly record: GroupRecord
}

/**
 * Appends the records of commits of one group by one conditional write: all of them enter the log, or none.
 *
 * @param row - as it was read, with the head and the log that the records leave
 * @param entering - at least one, in the order of their stamps
 * @returns `undefined` if they entered
 */
export async function appendAll(
  database: DatabaseParts,
  row: GroupRow,
  entering: readonly [Entering, ...Entering[]],
): Promise<Missed | undefined> {
  const { store, clock, resolver } = database
  let appended: boolean
  let missed: Missed = 'lost'
  try {
    const records = entering.map(({ record }) => record)
    appended = await append(store, row, records)
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) {
      giveUp(database, ...entering.map(({ commit }) => commit))
      throw error
    }
    missed = 'again'
    const [{ commit }] = entering
    // All records enter or none; a refusal of the first one changes the head that all of them expect.
    const found = (): Promise<boolean> => resolver.outcome(commit, commit.stamp)
    appended = !store.isOff('fate') && (await store.persistently(found))
  }
  for (const { commit, record } of entering) {
    if (!appended) clock.finish(commit)
    else {
      store.inBackground(async () => {
        await applyRecords(store, clock, [record])
        clock.finish(commit)
      })
    }
  }
  return appended ? undefined : missed
}

export async function prepareAndDecide(
  database: DatabaseParts,
  commit: OwnCommit,
  rows: ReadonlyMap<GroupCode, GroupRow>,
  records: readonly GroupRecord[],
  reads: CheckedReads | undefined,
): Promise<'committed' | 'conflict' | Missed> {
  const { store, clock, resolver } = database
  let missed: Missed = 'lost'
  const isKnownDone = (change: Promise<boolean>): Promise<boolean> =>
    change.catch((error: unknown) => {
      if (!(error instanceof OutcomeUnknown)) throw error
      missed = 'again'
      return false
    })
  try {
    const tried = await allInSlices(store.context(), records, groupsAtOnce, workOfRecord, async (record) => {
      const row = rows.get(record.group) as GroupRow
      if (!isBelow(row, commit.stamp) || !(await isKnownDone(prepare(store, row, record)))) return undefined
      const head = prepareHead(row.head)
      return { row: { ...row, head, seen: encodeHead(head) }, record } satisfies Prepared
    })
    const [primary, ...others] = tried.filter((one) => one !== undefined)
    if (primary === undefined || 1 + others.length < tried.length) return await refused(database, commit, missed)
    if (reads !== undefined && !store.isOff('validation')) {
      if (!(await areReadsUnchanged(database, reads, commit))) return await refused(database, commit, 'conflict')
    }
    const { row, record } = primary
    const isDecided = await store.persistently(() => isKnownDone(decide(store, row, record)))
    if (!isDecided) return await refused(database, commit, missed)
    store.inBackground(async () => {
      await store.persistently(() => resolver.finishPrepared(commit, [primary, ...others]))
      clock.finish(commit)
    })
    return 'committed'
  } catch (error) {
    giveUp(database, commit)
    throw error
  }
}

/** Refuses commits everywhere, in the background, since a record may have been sent. */
function giveUp(database: DatabaseParts, ...commits: readonly OwnCommit[]): void {
  database.store.inBackground(async () => {
    for (const commit of commits) if (!commit.isDone) await refused(database, commit, undefined)
  })
}

/** Refuses a commit everywhere, unless it was committed by a write whose answer was lost. */
async function refused<T>({ clock, resolver }: DatabaseParts, commit: OwnCommit, outcome: T): Promise<T | 'committed'> {
  const isCommitted = await resolver.decideAndFinish(commit, commit.stamp)
  clock.finish(commit)
  return isCommitted ? 'committed' : outcome
}
