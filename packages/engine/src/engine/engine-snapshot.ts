/**
 * Snapshots of a whole store in memory, and restoring them. A test suite can take one after its set-up and restore it
 * before each test, at a cost that does not depend on the number of entities: O(log records kept and pending).
 *
 *   snapshot   the root of the tree (storage/btree.ts), the pending records, and the kept log records
 *   restore    the root is set back; state in memory is read again from the rows
 *
 * S1  After restore every read answers what it would have answered when the snapshot was taken.
 *
 * Commit versions still rise, so that no version belongs to two states of an entity. Id counters return to their old values:
 * a repeated test gets the same ids. Transactions from before the restore have ended, since what they read is gone.
 *
 * Ours. The time between snapshot and restore is gone from the history: a read at such a time gives the snapshot.
 */
import type { LocalParts } from '../database/database-parts.ts'
import { type DatastoreError, invalidArgument, unimplemented } from '../errors.ts'
import type { LogState } from '../log/commit-log.ts'
import { andThen } from '../maybe-promise.ts'
import type { Kv, KvSnapshot, StoreState } from '../storage/kv.ts'
import type { EngineParts } from './engine-parts.ts'

/** The rows of a store at one moment. Close it after use: until then, writers copy the rows that it shares with the store. */
export interface EngineSnapshot {
  /** Rows of all tables, logs and counters together. */
  readonly rows: number
  close(): void
}

/** The contents of each snapshot. */
const contents = new WeakMap<EngineSnapshot, { readonly store: KvSnapshot; readonly log: LogState }>()

export async function takeSnapshot(parts: EngineParts, { kv, log }: LocalParts): Promise<EngineSnapshot> {
  mustRestore(kv)
  return await log.exclusive(async () => {
    await log.quiesce()
    // The rows of the counters tell which ids are free.
    await parts.ids.release(parts.context())
    const store = kv.snapshot()
    const snapshot: EngineSnapshot = {
      // After a deletion of ranges the store counts its rows one by one.
      get rows() {
        return store.size ?? 0
      },
      close: () => store.close(),
    }
    contents.set(snapshot, { store, log: log.state() })
    return snapshot
  })
}

/** @throws INVALID_ARGUMENT for anything but a snapshot of this store; UNAVAILABLE for a closed one */
export async function restoreSnapshot(
  { ids, indexes, databases }: EngineParts,
  { kv, log, versions, transactions }: LocalParts,
  snapshot: EngineSnapshot,
): Promise<void> {
  mustRestore(kv)
  const content = contents.get(snapshot)
  if (content === undefined) throw invalidArgument('restore() needs a snapshot that snapshot() of this store returned')
  // Strong reads apply records before this, or those of the snapshot after it.
  await log.alone(async () => {
    try {
      kv.restore?.(content.store)
    } catch (error) {
      throw error instanceof TypeError ? invalidArgument(error.message) : error
    }
    // Those that began while this waited have read what is gone, too.
    indexes.giveUp('')
    transactions.endAll('the store was set back to a snapshot; try again')
    ids.forget()
    // The row of the ceiling is old: versions continue above the newest one (log/commit-version.ts).
    versions.forgetCeiling()
    // All in one turn in memory, so that no read finds a store without its indexes.
    for (const database of databases.all()) database.forget()
    await andThen(databases.adoptMetadata(kv), () => log.restore(content.log))
  })
}

function mustRestore(kv: Kv): void {
  if (kv.restore === undefined) throw noSnapshots(kv, 'open one without a folder')
}

/** @param instead - the way to open a store in memory, for the message */
export function noSnapshots({ location }: StoreState, instead: string): DatastoreError {
  return unimplemented(
    `snapshots are for stores in memory, and this one is in ${location}: ${instead}, ` +
      'or export the entities and import them into an empty database',
  )
}
