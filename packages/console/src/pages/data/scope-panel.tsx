/** The left side of Data: project, database, namespace and kinds. */
import { useMemo, useState } from 'preact/hooks'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { navigate } from '../../model/route.ts'
import { visibleText } from '../../model/visible-text.ts'
import { addressOfPlace, movedTo, type Place } from './address.ts'
import { type Catalog, countMax } from './catalog.ts'

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
    <aside class="data-scope" aria-label="Database and kinds">
      <Choice
        label="Project"
        value={place.project}
        options={projects}
        onChange={(project) => go({ project, database: '', namespace: '' })}
      />
      <Choice
        label="Database"
        value={place.database}
        options={[...new Set(['', ...ofProject, place.database])]}
        onChange={(database) => go({ database, namespace: '' })}
      />
      <Choice
        label="Namespace"
        value={place.namespace}
        options={[...new Set(['', ...namespaces, place.namespace])]}
        onChange={(namespace) => go({ namespace })}
      />
      {error !== undefined && <ErrorNote error={error} what="The kinds could not be read" />}
      <Kinds place={place} catalog={catalog} />
    </aside>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly string[]
  readonly onChange: (value: string) => void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label class="data-choice">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option === '' ? '(default)' : visibleText(option)}
          </option>
        ))}
      </select>
    </label>
  )
}

function Kinds({ place, catalog: { kinds, counts, hasMoreKinds } }: ScopePanelProps) {
  const [wanted, setWanted] = useState('')
  const shown = useMemo(
    () => kinds.filter((kind) => kind.toLowerCase().includes(wanted.trim().toLowerCase())),
    [kinds, wanted],
  )
  return (
    <nav class="data-kinds" aria-label="Kinds">
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
            <a href={addressOfPlace(movedTo(place, { kind }))} aria-current={kind === place.kind ? 'true' : undefined}>
              <span class="data-kind-name">
                <SafeText text={kind} />
              </span>
              <span class="data-kind-count">{countWords(counts.get(kind))}</span>
            </a>
          </li>
        ))}
      </ul>
      {hasMoreKinds && <p class="muted">There are more kinds; name one in GQL.</p>}
    </nav>
  )
}

function countWords(count: number | undefined): string {
  if (count === undefined) return ''
  return count >= countMax ? `${countMax.toLocaleString('en')}+` : count.toLocaleString('en')
}
