/**
 * The state of Data that its address has.
 *
 *   #/data/{project}/{kind}?database=…&namespace=…&gql=…&columns=["a"]&explain=1&open={key}
 *
 * `placeOf(addressOfPlace(place))` is `place`.
 */
import { type ApiKey, formatKeyPath } from '../../model/key-text.ts'
import { addressOf, type Route } from '../../model/route.ts'
import { type EntityScope, scopeIn, scopeOfKey, scopeQuery } from '../../model/scope.ts'

export interface Place extends EntityScope {
  /** Empty: none is chosen, or the query names none. */
  readonly kind: string
  /** `undefined`: all entities of the kind. */
  readonly gql: string | undefined
  /** `undefined`: the properties that were met. */
  readonly columns: readonly string[] | undefined
  readonly isExplained: boolean
  readonly opened: string | undefined
}

/** Shows another place; `replace` leaves no step for Back. */
export type Go = (to: Partial<Place>, options?: { readonly replace: boolean }) => void

export function placeOf(route: Route): Place {
  const { parts, query } = route
  return {
    ...scopeIn(route),
    kind: parts[1] ?? '',
    gql: query.get('gql') ?? undefined,
    columns: columnsIn(query.get('columns')),
    isExplained: query.get('explain') === '1',
    opened: query.get('open') ?? undefined,
  }
}

export function addressOfPlace(place: Place): string {
  const { project, kind, gql, columns, isExplained, opened } = place
  return addressOf('data', project === '' ? [] : kind === '' ? [project] : [project, kind], {
    ...scopeQuery(place),
    gql,
    columns: columns === undefined ? undefined : JSON.stringify(columns),
    explain: isExplained ? '1' : undefined,
    open: opened,
  })
}

export function addressOfQuery(place: Place): string {
  return addressOfPlace({ ...place, isExplained: false, opened: undefined })
}

const nowhere = { kind: '', gql: undefined, columns: undefined, isExplained: false, opened: undefined }

/** An entity in the editor, among those of its kind. */
export function addressOfOpened(scope: EntityScope, key: ApiKey): string {
  const { project, database, namespace } = scopeOfKey(key, scope)
  const place = { ...nowhere, project, database, namespace, kind: key.path.at(-1)?.kind ?? '' }
  return addressOfPlace({ ...place, opened: formatKeyPath(key.path) })
}

/** Another kind, namespace or database: its columns and query are others. */
export function movedTo(place: Place, to: Partial<Place>): Place {
  return { ...place, kind: '', gql: undefined, columns: undefined, opened: undefined, ...to }
}

function columnsIn(text: string | null): readonly string[] | undefined {
  try {
    const columns: unknown = JSON.parse(text ?? '')
    return Array.isArray(columns) ? columns.filter((one): one is string => typeof one === 'string') : undefined
  } catch {
    return undefined
  }
}
