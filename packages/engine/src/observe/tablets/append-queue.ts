/**
 * The append queue of each entity group, for simulation: an append to the group's log takes time, and the next commit waits for
 * it. No rate is configured; a latency of 200 ms gives at most five commits a second.
 *
 *   wait until the log of every group is free, in row key order ─▶ still without conflict? ─▶ latency of the append ─▶ commit
 *
 * One commit at a time appends to a group, first come, first served. A commit queues for its groups in row key order, so
 * commits cannot deadlock. A commit that waits too long ends with ABORTED at the limit, or DEADLINE_EXCEEDED at its own earlier
 * deadline, and nothing is written. A transaction that has lost a conflict is refused at its turn, and takes no append time.
 *
 * Known: an append is a round of consensus between data centres, of 100 milliseconds and more ("Megastore"); Google advises
 * about one write a second per group. Ours: commits queue in order instead of racing for the position.
 */
import type { Scheduler } from '../../clock.ts'
import { checkAlive, type RequestContext } from '../../context.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { contention, DatastoreError } from '../../errors.ts'
import type { CommitGate } from '../../log/commit-log.ts'
import type { PendingRecord } from '../../log/pending.ts'
import { rowsOf } from '../../log/record-writes.ts'
import type { RowKey } from '../../storage/kv.ts'
import { entityRowOf } from '../../tables/entities.ts'
import { tableOfRow } from '../../tables/entity-rows.ts'
import type { GroupCode } from '../../tables/log-rows.ts'
import type { TableId } from '../../tables/table.ts'
import { leftMsOf } from './metering.ts'
import type { Tablets } from './tablets.ts'

export class AppendQueue implements CommitGate {
  readonly #tablets: Tablets
  readonly #scheduler: Scheduler
  /** The waiting commits of each group that has a commit under way. */
  readonly #waiting = new Map<GroupCode, (() => void)[]>()

  constructor(tablets: Tablets, scheduler: Scheduler) {
    this.#tablets = tablets
    this.#scheduler = scheduler
  }

  get isQueueing(): boolean {
    const { waits, commitLatencyMs } = this.#tablets.settings
    return waits && commitLatencyMs > 0
  }

  /** Called before a commit is written. @throws the refusal of the tablets (metering.ts); nothing is written then */
  admit(context: RequestContext, records: readonly PendingRecord[]): void {
    this.#tablets.metering.admit(context, rowsOfCommit(records))
  }

  /** Resolves at the turn of a commit in the queues of its groups; if they are empty, its append begins in this turn of the process. */
  async enter(context: RequestContext, groups: readonly GroupCode[], recheck: () => void): Promise<() => void> {
    const held: GroupCode[] = []
    const leave = (): void => {
      for (const group of held) this.#release(group)
    }
    try {
      for (const group of [...groups].sort()) {
        const turn = this.#take(context, group)
        if (turn !== undefined) await turn
        held.push(group)
      }
      checkAlive(context)
      recheck()
      await this.#scheduler
        .sleep(this.#tablets.settings.commitLatencyMs, context.signal, true)
        .catch(() => checkAlive(context))
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  #take(context: RequestContext, group: GroupCode): Promise<void> | undefined {
    const waiting = this.#waiting.get(group)
    if (waiting === undefined) {
      this.#waiting.set(group, [])
      return undefined
    }
    this.#tablets.contention('waited', [group])
    const { commitLatencyMs, groupWaitMsMax } = this.#tablets.settings
    const aheadMs = (waiting.length + 1) * commitLatencyMs
    const mostMs = Math.min(leftMsOf(context), groupWaitMsMax)
    if (aheadMs > mostMs) return this.#giveUp(context, group, mostMs)
    return new Promise((resolve) => {
      waiting.push(resolve)
    })
  }

  /** Waits as long as the commit would have, without a place in the queue. */
  async #giveUp(context: RequestContext, group: GroupCode, ms: number): Promise<never> {
    await this.#scheduler.sleep(Math.max(0, ms), context.signal, true).catch(() => undefined)
    checkAlive(context)
    const { groupWaitMsMax } = this.#tablets.settings
    if (ms < groupWaitMsMax) {
      throw new DatastoreError(
        'DEADLINE_EXCEEDED',
        `the deadline of the call passed while commits to ${words(group)} queued`,
      )
    }
    throw contention(
      `too many commits to the entity group of ${words(group)}: they queue for more than ${groupWaitMsMax} ms; ` +
        'try again with backoff, write to it less often, or put entities that need not be together into groups of their own',
      'transaction',
      'group',
    )
  }

  #release(group: GroupCode): void {
    const next = this.#waiting.get(group)?.shift()
    if (next === undefined) this.#waiting.delete(group)
    else next()
  }
}

/** The rows that a commit and its application write; the slowest one decides. */
function* rowsOfCommit(
  records: readonly PendingRecord[],
): Iterable<{ readonly table: TableId; readonly rowKey: RowKey }> {
  for (const { logRow, changes } of records) {
    yield { table: 'Log', rowKey: logRow }
    for (const change of changes)
      for (const { key } of rowsOf(change, 'AB')) yield { table: tableOfRow(key), rowKey: key }
  }
}

function words(group: GroupCode): string {
  return prettyRowKey(entityRowOf(group))
}
