/** Entities as links to their pages, each with its first properties. */

import type { FirstEntities } from '../../api/entities.ts'
import { Panel, safeText } from '../../components/parts.tsx'
import { formatKeyPath } from '../../model/key-text.ts'
import { entitiesInWords } from '../../model/numbers.ts'
import { addressOfChildren } from '../../model/query-form.ts'
import { addressOfEntity, type EntityScope } from '../../model/scope.ts'
import { valueWords } from '../../model/value-words.ts'

const propertiesShown = 3

export interface EntityListProps {
  readonly scope: EntityScope
  readonly entities: FirstEntities['entities']
  /** Elements at the begin of each path that are not shown. */
  readonly depth?: number
}

export function EntityList({ scope, entities, depth = 0 }: EntityListProps) {
  return (
    <ul>
      {entities.map(({ key: { path }, properties = {} }) => (
        <li key={formatKeyPath(path)} class="cut" style={{ paddingBlock: '3px' }}>
          <a href={addressOfEntity(scope, formatKeyPath(path))}>{safeText(formatKeyPath(path.slice(depth)))}</a>{' '}
          <span class="muted small ml-2">
            {safeText(
              Object.entries(properties)
                .slice(0, propertiesShown)
                .map(([name, value]) => `${name}: ${valueWords(value).words}`)
                .join(', '),
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** So many of the entities below one are listed. */
export const childrenMax = 50

export interface ChildrenProps extends Pick<EntityListProps, 'scope'> {
  readonly first: FirstEntities
  readonly entityKey: string
  readonly depth: number
}

export function ChildrenSection({ scope, entityKey, first, depth }: ChildrenProps) {
  const { entities, hasMore } = first
  const count = entitiesInWords(entities.length)
  return (
    <Panel
      title="Children"
      more={
        <>
          <span class="muted">{hasMore ? `the first ${count}` : entities.length === 0 ? 'none' : count}</span>
          {entities.length > 0 && <a href={addressOfChildren(scope, entityKey)}>All in Data</a>}
        </>
      }
    >
      {entities.length === 0 ? (
        <p class="muted">Entities whose key begins with this one are its children. They are in its entity group.</p>
      ) : (
        <EntityList scope={scope} entities={entities} depth={depth} />
      )}
    </Panel>
  )
}
