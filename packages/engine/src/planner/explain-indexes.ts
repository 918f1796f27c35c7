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
import type { IndexedProperty } from '../model/index-definition.ts'
import { keyProperty } from './filters.ts'
import { type Plan, type ScanNode, scansOf } from './plan-node.ts'

export interface IndexUsed {
  readonly queryScope: 'Collection group' | 'Includes ancestors'
  readonly properties: string
}

/** The indexes of all scans, each once, in the order of the plan. */
export function indexesUsed(plan: Plan): readonly IndexUsed[] {
  const used = new Map<string, IndexUsed>()
  for (const scan of scansOf(plan.source)) {
    const index = indexOf(plan, scan)
    used.set(`${index.queryScope} ${index.properties}`, index)
  }
  return [...used.values()]
}

function indexOf(plan: Plan, scan: ScanNode): IndexUsed {
  const properties = [...propertiesOf(plan, scan)]
  if (properties.at(-1)?.name !== keyProperty) properties.push({ name: keyProperty, direction: 'ascending' })
  const shown = properties.map(({ name, direction }) => {
    return `${name === keyProperty ? '__name__' : name} ${direction === 'ascending' ? 'ASC' : 'DESC'}`
  })
  const queryScope = scan.index?.ancestor ? 'Includes ancestors' : 'Collection group'
  return { queryScope, properties: `(${shown.join(', ')})` }
}

function propertiesOf({ columns }: Plan, { table, equalities, index }: ScanNode): readonly IndexedProperty[] {
  if (index !== undefined) return index.properties
  const name = equalities[0]?.property ?? columns[0]?.property ?? ''
  if (table === 'EntitiesByPropertyAsc') return [{ name, direction: 'ascending' }]
  if (table === 'EntitiesByPropertyDesc') return [{ name, direction: 'descending' }]
  const isByKey = table === 'Entities' || table === 'EntitiesByKind'
  invariant(isByKey, `a plan scans ${table}, which is no index that it could name`)
  return []
}
