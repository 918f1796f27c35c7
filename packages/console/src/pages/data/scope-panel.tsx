/** The left side of Data: project, database, namespace and kinds, each with the number of its entities. */
import { useState } from 'preact/hooks'
import { countInWords } from '../../api/kinds.ts'
import { Select } from '../../components/controls.tsx'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { navigate } from '../../model/route.ts'
import { addressOfPlace, movedTo, type Place } from './address.ts'
import { type Catalog, useCount } from './catalog.ts'
import { type Changed, useChanges } from './commits.ts'

interface ScopePanelProps {
  readonly place: Place
  readonly catalog: Catalog
}

export function ScopePanel({ place, catalog }: ScopePanelProps) {
  const { databases, namespaces, error } = catalog
  const projects = databases.map(({ project }) => project)
  const ofProject = databases.filter(({ project }) => project === place.project).map(({ database }) => database)
  const choice = (label: string, value: string, names: readonly string[], to: (name: string) => Partial<Place>) => (
    <Select
      look="field"
      label={label}
      value={value}
      options={[...new Set(names)].map((name) => [name, name || '(default)'] as const)}
      onChange={(name) => navigate(addressOfPlace(movedTo(place, to(name))))}
    />
  )
  return (
    <aside class="data-scope column" aria-label="Database and kinds">
      {choice('Project', place.project, projects, (project) => ({ project, database: '', namespace: '' }))}
      {choice('Database', place.database, ['', ...ofProject], (database) => ({ database, namespace: '' }))}
      {choice('Namespace', place.namespace, ['', ...namespaces], (namespace) => ({ namespace }))}
      <ErrorNote error={error} what="The kinds could not be read" />
      <Kinds place={place} catalog={catalog} />
    </aside>
  )
}

const countedMax = 100

function Kinds({ place, catalog: { kinds, hasMoreKinds } }: ScopePanelProps) {
  const [wanted, setWanted] = useState('')
  const [changed, setChanged] = useState<Changed | undefined>(undefined)
  useChanges(place.project, place.database, (latest) => setChanged(() => latest))
  const shown = kinds.filter((kind) => kind.toLowerCase().includes(wanted.trim().toLowerCase()))
  return (
    <nav class="data-kinds column grow" aria-label="Kinds">
      <h2 class="small m-0">Kinds</h2>
      {kinds.length > 12 && (
        <input
          type="search"
          aria-label="Search kinds"
          placeholder="Search kinds"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <ul class="grow scrolls">
        {shown.map((kind, i) => (
          <li key={kind}>
            <a
              class="place text no-underline row"
              href={addressOfPlace(movedTo(place, { kind }))}
              aria-current={kind === place.kind ? 'true' : undefined}
            >
              <span class="grow cut">{safeText(kind)}</span>
              {i < countedMax && <Count {...{ place, kind, changed }} />}
            </a>
          </li>
        ))}
      </ul>
      {hasMoreKinds && <p class="muted">There are more kinds; name one in GQL.</p>}
    </nav>
  )
}

type CountProps = Readonly<{ place: Place; kind: string; changed: Changed | undefined }>

function Count({ place, kind, changed }: CountProps) {
  const { value, error } = useCount(place, kind, changed)
  const words = value === undefined ? '' : countInWords(value)
  return (
    <span class="small muted light" title={error?.message}>
      {error === undefined ? words : 'not counted'}
    </span>
  )
}
