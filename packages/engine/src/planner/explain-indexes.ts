/**
 * The indexes that a plan reads, as the API's PlanSummary names them:
 *
 *   { query_scope: "Collection group", properties: "(owner ASC, __name__ ASC)" }
 *
 *   Entities, EntitiesByKind              (__name__ ASC)
 *   EntitiesByProperty…, EntitiesByComposite…   the columns, then the key
 *
 * Directions are those of the index, not of the scan: a query that reads backwards uses the same index.
 *
 * Known: the two names, `__name__` for the key, and the scope in Datastore mode (production's page on Query Explain). Ours:
 * the scope of an index with ancestors.
 */
import { invariant } from '../invariant.ts'
import type { IndexDefinition } from '../model/index-definition.ts'
import { keyProperty } from './filters.ts'
import { type Plan, type ScanNode, scansOf } from './plan-node.ts'

export interface IndexUsed {
  readonly queryScope: 'Collection group' | 'Includes ancestors'
  readonly properties: string
}

const shownKey = '__name__'

/** The indexes of all scans of a plan, each once, in the order of the plan. */
export function indexesUsed(plan: Plan): readonly IndexUsed[] {
  const used = new Map<string, IndexUsed>()
  for (const scan of scansOf(plan.source)) {
    const index = indexOf(plan, scan)
    used.set(`${index.queryScope} ${index.properties}`, index)
  }
  return [...used.values()]
}

function indexOf({ columns }: Plan, { table, equalities, index }: ScanNode): IndexUsed {
  if (index !== undefined) return composite(index)
  const property = equalities[0]?.property ?? columns[0]?.property
  const builtIn = (...named: readonly string[]): IndexUsed => {
    return { queryScope: 'Collection group', properties: propertiesText(named) }
  }
  if (table === 'EntitiesByPropertyAsc') return builtIn(`${property} ASC`)
  if (table === 'EntitiesByPropertyDesc') return builtIn(`${property} DESC`)
  const isByKey = table === 'Entities' || table === 'EntitiesByKind'
  invariant(isByKey, `a plan scans ${table}, which is no index that it could name`)
  return builtIn()
}

function composite({ ancestor, properties }: IndexDefinition): IndexUsed {
  const columns = properties.map(({ name, direction }) => {
    const shown = name === keyProperty ? shownKey : name
    return `${shown} ${direction === 'ascending' ? 'ASC' : 'DESC'}`
  })
  const hasKey = properties.at(-1)?.name === keyProperty
  return {
    queryScope: ancestor ? 'Includes ancestors' : 'Collection group',
    properties: hasKey ? `(${columns.join(', ')})` : propertiesText(columns),
  }
}

function propertiesText(columns: readonly string[]): string {
  return `(${[...columns, `${shownKey} ASC`].join(', ')})`
}
