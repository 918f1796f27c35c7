/**
 * Joins the pages of a report. A table of 2,500 rows is answered in pages of 1,000; an incomplete page has `next`, for a request with `after`, or
 * `previous`, for one with `before` (admin/emulator/inspection.ts). The joined report has each item once, in order.
 */
import type { Parameters } from '../../admin/emulator/inspection.ts'

type Ask = (what: string, parameters: Parameters) => Promise<unknown>
type Report = Readonly<Record<string, unknown>>

/** The whole answer to a question; for rows of a table, at most `limit` of them. */
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

/** Joins the lists of two pages; all other members are from the `newest` one. */
function joined(first: Report, second: Report, newest: Report): Report {
  const lists = Object.entries(newest).flatMap(([name, list]) => {
    if (!Array.isArray(list)) return []
    const both = [...(first[name] as { id: number }[]), ...(second[name] as { id: number }[])]
    // One tablet may end a page and begin the next.
    return [[name, name === 'tablets' ? [...new Map(both.map((tablet) => [tablet.id, tablet])).values()] : both]]
  })
  return { ...newest, ...Object.fromEntries(lists) }
}

/** Adds the pages of the log: a page with an entity's rows has only the first part of its log. */
async function withWholeLog(ask: Ask, report: Report, parameters: Parameters): Promise<Report> {
  const log = report['log'] as Report & { readonly records: readonly unknown[] }
  if (log['hasMore'] !== true) return report
  const before = log['previous'] as string | undefined
  const older = (await wholeReport(ask, 'log', { ...parameters, before })) as typeof log
  return { ...report, log: { ...older, records: [...older.records, ...log.records] } }
}
