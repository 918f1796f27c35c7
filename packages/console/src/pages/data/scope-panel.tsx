/** The left side of Data: project, database, namespace and kinds. */

import { useMemo, useState } from 'preact/hooks'
import { countMax } from '../../api/kinds.ts'
import { Select } from '../../components/controls.tsx'
import { ErrorNote, SafeText } from '../../components/parts.tsx'
import { counted } from '../../model/numbers.ts'
import { navigate } from '../../model/route.ts'
import { addressOfPlace, movedTo, type Place } from './address.ts'
import type { Catalog } from './catalog.ts'

export interface ScopePanelProps {
  readonly place: Place
  readonly catalog: Catalog
}

export function ScopePanel({ place, catalog }: ScopePanelProps) {
  const { databases, namespaces, error } = catalog
  const projects = [...new Set([...databases.map(({ project }) => project), place.project])].filter((one) => one !== '')
  const ofProject = databases.filter(({ project }) => project === place.project).map(({ database }) => database)
  const go = (to: Partial<Place>): void => navigate(addressOfPlace(movedTo(place, to)))
  return (
    <aside class="data-scope column" aria-label="Database and kinds">
      <Select
        look="field"
        label="Project"
        value={place.project}
        options={projects}
        onChange={(project) => go({ project, database: '', namespace: '' })}
      />
      <Select
        look="field"
        label="Database"
        value={place.database}
        options={[...new Set(['', ...ofProject, place.database])].map(named)}
        onChange={(database) => go({ database, namespace: '' })}
      />
      <Select
        look="field"
        label="Namespace"
        value={place.namespace}
        options={[...new Set(['', ...namespaces, place.namespace])].map(named)}
        onChange={(namespace) => go({ namespace })}
      />
      {error !== undefined && <ErrorNote error={error} what="The kinds could not be read" />}
      <Kinds place={place} catalog={catalog} />
    </aside>
  )
}

function Kinds({ place, catalog: { kinds, counts, hasMoreKinds } }: ScopePanelProps) {
  const [wanted, setWanted] = useState('')
  const shown = useMemo(
    () => kinds.filter((kind) => kind.toLowerCase().includes(wanted.trim().toLowerCase())),
    [kinds, wanted],
  )
  return (
    <nav class="data-kinds grow" aria-label="Kinds">
      <h2>Kinds</h2>
      {kinds.length > 12 && (
        <input
          type="search"
          aria-label="Search kinds"
          placeholder="Search kinds"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <ul>
        {shown.map((kind) => (
          <li key={kind}>
            <a
              class="place"
              href={addressOfPlace(movedTo(place, { kind }))}
              aria-current={kind === place.kind ? 'true' : undefined}
            >
              <span class="grow cut">
                <SafeText text={kind} />
              </span>
              <span class="small muted light">{countWords(counts.get(kind))}</span>
            </a>
          </li>
        ))}
      </ul>
      {hasMoreKinds && <p class="muted">There are more kinds; name one in GQL.</p>}
    </nav>
  )
}

const named = (name: string) => [name, name || '(default)'] as const

function countWords(count: number | undefined): string {
  if (count === undefined) return ''
  return count >= countMax ? `${counted(countMax)}+` : counted(count)
}
