/** The choice of a database among those of the server. */
import type { DatabaseName } from '../api/databases.ts'
import { visibleText } from '../model/visible-text.ts'
import { useDatabases } from './use-databases.ts'

export interface DatabaseChoiceProps {
  /** Absent = all of them. */
  readonly project: string | undefined
  readonly database: string | undefined
  /** The choice of the whole store; absent = there is none. */
  readonly allLabel?: string
  /** The default database is `undefined`. */
  readonly onChoose: (project: string | undefined, database: string | undefined) => void
}

export function DatabaseChoice({ project, database, allLabel, onChoose }: DatabaseChoiceProps) {
  const known = useDatabases()
  const here = project === undefined ? undefined : { project, database: database ?? '' }
  const isKnown = here === undefined || known.some((one) => nameOf(one) === nameOf(here))
  const all = isKnown || here === undefined ? known : [...known, here]
  return (
    <label>
      Database{' '}
      <select
        value={here === undefined ? '' : nameOf(here)}
        onChange={(event) => {
          const found = all.find((one) => nameOf(one) === event.currentTarget.value)
          onChoose(found?.project, found?.database || undefined)
        }}
      >
        {allLabel !== undefined && <option value="">{allLabel}</option>}
        {all.map((one) => (
          <option key={nameOf(one)} value={nameOf(one)}>
            {visibleText(nameOf(one))}
          </option>
        ))}
      </select>
    </label>
  )
}

function nameOf({ project, database }: DatabaseName): string {
  return database === '' ? project : `${project} / ${database}`
}
