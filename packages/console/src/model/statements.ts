/**
 * The statements that a view makes of the user's own: a page of its results, their count, their keys, another order.
 *
 *   SELECT * FROM Task WHERE done = FALSE
 *   ─▶ … LIMIT FIRST(@page_end, 100) OFFSET @page_start     with the cursors as bindings
 *
 * A page has the limit that was asked for, or what is left of the statement's own.
 */
import {
  type Order,
  parseGql,
  printGql,
  type ResultPosition,
  type SelectStatement,
  type Statement,
} from '@sixtables/gateway/browser'
import type { PageRequest } from './paging.ts'
import { given } from './scope.ts'

export function statementIn(gql: string): Statement {
  return parseGql(gql, { allowLiterals: true })
}

export function wholeKind(kind: string): SelectStatement {
  return {
    type: 'select',
    fields: [],
    distinct: false,
    kind: kind === '' ? undefined : kind,
    where: undefined,
    order: [],
    limit: [],
    offset: [],
  }
}

/** @param skipped - how many results of the OFFSET were passed over by reads before */
export function pageQuery(statement: SelectStatement, request: PageRequest, skipped = 0) {
  const { start, end, before } = request
  const most = countIn(statement.limit)
  const limit = most === undefined ? request.limit : Math.max(0, Math.min(request.limit, most - before))
  const count: ResultPosition = { type: 'count', value: BigInt(limit) }
  const skip: ResultPosition[] = []
  if (start !== undefined) skip.push({ type: 'binding', site: 'page_start' })
  const offset = start !== undefined && skipped === 0 ? 0 : Math.max(0, (countIn(statement.offset) ?? 0) - skipped)
  if (offset > 0) skip.push({ type: 'count', value: BigInt(offset) })
  const cursors = given({ page_start: start, page_end: end })
  return {
    queryString: printGql({
      ...statement,
      limit: end === undefined ? [count] : [{ type: 'binding', site: 'page_end' }, count],
      offset: skip,
    }),
    allowLiterals: true,
    namedBindings: Object.fromEntries(Object.entries(cursors).map(([name, cursor]) => [name, { cursor }])),
  }
}

/** The number in a LIMIT or OFFSET; `undefined` without one. */
export function countIn(positions: readonly ResultPosition[]): number | undefined {
  const count = positions.find((one) => one.type === 'count')
  return count?.type === 'count' ? Number(count.value) : undefined
}

/** How many results a query has. The order is of no account, and would need its index. */
export function countOf(statement: SelectStatement): Statement {
  const hasWindow = statement.limit.length + statement.offset.length > 0
  const over = hasWindow ? statement : { ...statement, order: [] }
  return { type: 'aggregate', aggregations: [{ operator: 'count', upTo: undefined, alias: 'n' }], over }
}

export function countUpTo(kind: string, most: number): Statement {
  const aggregations = [{ operator: 'count' as const, upTo: BigInt(most), alias: 'n' }]
  return { type: 'aggregate', aggregations, over: wholeKind(kind) }
}

export function keysOf(statement: SelectStatement): SelectStatement {
  return { ...statement, fields: ['__key__'], distinct: false }
}

export function findsEntities({ fields, distinct }: SelectStatement): boolean {
  return distinct === false && (fields.length === 0 || (fields.length === 1 && fields[0] === '__key__'))
}

/** The order that a click on a title gives: ascending, descending, none. */
export function sortedBy(statement: SelectStatement, property: string): SelectStatement {
  const [first, ...others] = statement.order
  const order: readonly Order[] =
    first?.property !== property || others.length > 0
      ? [{ property, direction: 'ascending' }]
      : first.direction === 'ascending'
        ? [{ property, direction: 'descending' }]
        : []
  return { ...statement, order }
}
