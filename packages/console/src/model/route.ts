/**
 * The address of a view, behind the `#`: what can be shared, and what Back goes through.
 *
 *   #/data/demo/ToDo?gql=SELECT…     page "data", parts ["demo", "ToDo"], query gql=SELECT…
 *
 * A1  `readAddress(addressOf(page, parts, query))` gives page, parts and query back, whatever they are.        route.test.ts
 */
export interface Route {
  /** Name of the page; empty for an address without one. */
  readonly page: string
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

export interface PageProps {
  readonly route: Route
}

/** A query's members; those without a value are left out. */
export type QueryMembers = Readonly<Record<string, string | undefined>>

export function queryText(members: QueryMembers): string {
  const present = Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return new URLSearchParams(present).toString()
}

export function addressOf(page: string, parts: readonly string[] = [], query: QueryMembers = {}): string {
  const path = [page, ...parts].map(encodeURIComponent).join('/')
  const text = queryText(query)
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

/** @param hash - as `location.hash` has it; one that this console did not write gives what can be read of it */
export function readAddress(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '')
  const at = text.indexOf('?')
  const [page = '', ...parts] = (at < 0 ? text : text.slice(0, at)).split('/').map(decoded)
  return { page, parts, query: new URLSearchParams(at < 0 ? '' : text.slice(at + 1)) }
}

/** Goes to a view; `replace` leaves no step for Back. */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) location.replace(address)
  else location.assign(address)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
