/** Reports of log records: one record, or page by page those between commit and apply. */
import type { RequestContext } from '../../context.ts'
import { hexOf } from '../../encoding/bytes.ts'
import { partitionOfCode } from '../../encoding/key-codec.ts'
import { prettyRowKey } from '../../encoding/pretty.ts'
import { invalidArgument } from '../../errors.ts'
import { getOrInsert } from '../../get-or-insert.ts'
import type { EntityChange } from '../../log/log-record.ts'
import type { PendingRecord, PendingRecords } from '../../log/pending.ts'
import { isInScope, type PartitionScope } from '../../model/key.ts'
import { giveWay } from '../../slices.ts'
import { ReportPage } from './report-page.ts'
import type { LogRecordReport, PendingRecordReport, PendingReport } from './reports.ts'
import { changeInWords, committedAt, groupInWords } from './row-words.ts'

export interface PendingOptions extends PartitionScope {
  /** Maximum number of records; default: unlimited. */
  readonly limit?: number | undefined
  /** Maximum length of the words of a change, default unlimited. If given, a record has at most {@link changesShown} changes. */
  readonly words?: number | undefined
  /** The place to continue after: `next` of the page before. */
  readonly after?: string | undefined
}

/** Maximum number of changes of a record if words are limited. */
const changesShown = 10
/** Groups that are skipped or counted before other calls run. */
const groupsPerLook = 1024

/** Groups come in the order in which they began to wait. A place has the number of a group in this order, and a version. */
export async function waitingReport(
  pending: PendingRecords,
  { limit = Number.POSITIVE_INFINITY, words, after, ...scope }: PendingOptions,
  context: RequestContext,
): Promise<PendingReport> {
  const page = new ReportPage(context)
  const shown: PendingRecordReport[] = []
  const [firstNumber, version] = placeOf(after)
  const isIn = scopeTest(scope)
  const isFull = (): boolean => shown.length >= limit || page.isFull
  let next: string | undefined
  let more = 0
  let seen = 0
  for (const waiting of pending.waiting()) {
    if (++seen % groupsPerLook === 0) await giveWay(context, groupsPerLook / 8)
    const { number } = waiting
    if (number < firstNumber || !isIn(waiting.oldest?.partition)) continue
    if (number > firstNumber && isFull()) {
      more += waiting.count
      continue
    }
    const records = waiting.records.filter((record) => number > firstNumber || record.version > version)
    for (const [i, record] of records.entries()) {
      if (isFull()) {
        more += records.length - i
        break
      }
      shown.push(await pendingReport(page, record, words))
      next = `${number}-${record.version}`
    }
  }
  const rest = more === 0 ? {} : { more, ...(next === undefined ? {} : { next }) }
  return { pending: shown, ...rest }
}

/** A test whether a partition code is in a scope; it keeps its answers, as most groups share few partitions. */
function scopeTest(scope: PartitionScope): (partition: string | undefined) => boolean {
  const known = new Map<string, boolean>()
  return (partition) =>
    partition !== undefined && getOrInsert(known, partition, () => isInScope(partitionOfCode(partition), scope))
}

function placeOf(after: string | undefined): readonly [number, bigint] {
  if (after === undefined) return [0, 0n]
  const [, number, version] = /^(\d{1,15})-(\d{1,19})$/.exec(after) ?? []
  if (number !== undefined && version !== undefined) return [Number(number), BigInt(version)]
  throw invalidArgument(`after is the member next of an answer to this question, not "${after}"`)
}

async function pendingReport(
  page: ReportPage,
  record: PendingRecord,
  words: number | undefined,
): Promise<PendingRecordReport> {
  const { projectId, databaseId, namespaceId } = partitionOfCode(record.partition)
  const changes = words === undefined ? record.changes : record.changes.slice(0, changesShown)
  const rest = record.changes.length - changes.length
  return {
    ...(await recordReport(page, { ...record, changes }, record.milestone, words)),
    project: projectId,
    database: databaseId,
    namespace: namespaceId,
    held: record.held === true,
    ...(rest > 0 ? { moreChanges: rest } : {}),
  }
}

/** The words of a record may have many megabytes, so they are made change by change. */
export async function recordReport(
  page: ReportPage,
  record: Pick<PendingRecord, 'group' | 'partition' | 'version' | 'logRow'> & {
    readonly changes: readonly EntityChange[]
  },
  state: LogRecordReport['state'],
  max?: number,
): Promise<LogRecordReport> {
  const report = {
    group: groupInWords(record.group),
    row: prettyRowKey(record.logRow),
    rowKey: hexOf(record.logRow),
    version: record.version.toString(),
    committedAt: committedAt(record.version),
    state,
  }
  await page.add(...Object.values(report))
  const changes: string[] = []
  for (const change of record.changes) {
    const words = changeInWords(change, max)
    changes.push(words)
    await page.add(words)
  }
  return { ...report, changes }
}
