/**
 * The queries that this browser keeps: the latest that were run, and those that the user keeps.
 *
 *   run A, run B, keep A, 30 others ─▶ the newest 20 of the others, and A
 */
import { keepText, keptText } from './kept-text.ts'

export interface KeptQuery {
  /** Names it: a query of another database or with other columns is another one. */
  readonly address: string
  readonly gql: string
  readonly isKept: boolean
}

const name = 'sixtables-queries'
const latestMax = 20

/** Newest first. What another version of the console wrote gives what can be read of it. */
export function keptQueries(): readonly KeptQuery[] {
  try {
    const found: unknown = JSON.parse(keptText(name) ?? '[]')
    return (found as readonly unknown[]).filter(isKeptQuery)
  } catch {
    return []
  }
}

function isKeptQuery(found: unknown): found is KeptQuery {
  const { address, gql } = (found ?? {}) as { readonly address?: unknown; readonly gql?: unknown }
  return typeof address === 'string' && address.startsWith('#/data/') && typeof gql === 'string' && gql !== ''
}

/** A query that was run goes to the front; one that is kept or let go keeps its place. */
export function noteQuery({ address, gql, isKept }: Omit<KeptQuery, 'isKept'> & Partial<KeptQuery>): void {
  const before = keptQueries()
  const at = before.findIndex((one) => one.address === address)
  const query = { address, gql, isKept: isKept ?? before[at]?.isKept ?? false }
  const others = before.filter((one) => one.address !== address)
  const next = isKept === undefined || at < 0 ? [query, ...others] : before.with(at, query)
  const latest = next.filter((one) => !one.isKept).slice(0, latestMax)
  keepText(name, JSON.stringify(next.filter((one) => one.isKept || latest.includes(one))))
}
