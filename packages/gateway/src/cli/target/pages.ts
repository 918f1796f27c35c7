/**
 * The pages of a report, one after the other, put together: an answer that is not whole has `next`, to go on `after`, or `previous`, to go
 * on `before` (admin/emulator/inspection.ts).
 *
 * PA1  The whole has each item of the pages once, in their order.            pages.test.ts
 */
import type { Parameters } from '../../admin/emulator/inspection.ts'
import type { Target } from './target.ts'

type Ask = Target['ask']
type Report = Readonly<Record<string, unknown>>

/** The whole answer to a question; of rows of a table as many as `limit` asks for. */
export async function wholeReport(ask: Ask, what: string, parameters: Parameters): Promise<unknown> {
  const { limit, ...others } = parameters
  let whole = (await ask(what, parameters)) as Report
  for (let left = leftOf(limit, whole); left > 0; left = leftOf(limit, whole)) {
    const { next, previous } = whole
    const place = next === undefined ? { before: previous } : { after: next }
    if (next === undefined && previous === undefined) break
    const page = await ask(what, {
      ...others,
      ...(limit === undefined ? {} : { limit: `${left}` }),
      ...place,
    } as Parameters)
    whole =
      next === undefined ? joined(page as Report, whole, page as Report) : joined(whole, page as Report, page as Report)
  }
  return what === 'rows' ? await withWholeLog(ask, whole, parameters) : whole
}

function leftOf(limit: string | undefined, { rows }: Report): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit) - (rows as readonly unknown[]).length
}

/** The lists of two pages behind each other; all else is that of the `newest` one. */
function joined(first: Report, second: Report, newest: Report): Report {
  const lists = Object.entries(newest).flatMap(([name, list]) => {
    if (!Array.isArray(list)) return []
    const both = [...(first[name] as unknown[]), ...(second[name] as unknown[])]
    return [[name, name === 'tablets' ? distinct(both as readonly { readonly id: number }[]) : both]]
  })
  return { ...newest, ...Object.fromEntries(lists) }
}

/** The tablet in which one page ends is mostly that in which the next one begins. */
function distinct<T extends { readonly id: number }>(tablets: readonly T[]): readonly T[] {
  return [...new Map(tablets.map((tablet) => [tablet.id, tablet])).values()]
}

/** The rows of an entity come with as much of the log as there is room for. */
async function withWholeLog(ask: Ask, report: Report, parameters: Parameters): Promise<Report> {
  const log = report['log'] as Report & { readonly records: readonly unknown[] }
  if (log['hasMore'] !== true) return report
  const before = log['previous'] as string | undefined
  const older = (await wholeReport(ask, 'log', { ...parameters, before })) as typeof log
  return { ...report, log: { ...older, records: [...older.records, ...log.records] } }
}
