/** The choice of a database among those of the server. */

import type { DatabaseName } from '../model/scope.ts'
import { Select } from './controls.tsx'
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

export function DatabaseChoice({ project, database = '', allLabel, onChoose }: DatabaseChoiceProps) {
  const known = useDatabases()
  const here = project === undefined ? '' : nameOf({ project, database })
  const names = known.map(nameOf)
  const choose = (name: string): void => {
    const found = known.find((one) => nameOf(one) === name)
    onChoose(found?.project, found?.database || undefined)
  }
  return (
    <Select
      label="Database"
      value={here}
      options={[...(allLabel === undefined ? [] : [['', allLabel] as const]), ...new Set([...names, here])].filter(
        (option) => option !== '',
      )}
      onChange={choose}
    />
  )
}

function nameOf({ project, database }: DatabaseName): string {
  return database === '' ? project : `${project} / ${database}`
}
