/** The fields that name a database, also one that is not there yet; those that the server knows are suggestions. */

import { useId } from 'preact/hooks'
import type { DatabaseName } from '../model/scope.ts'
import { Suggestions, TextField } from './controls.tsx'
import { useDatabases } from './use-databases.ts'

export interface DatabaseFieldsProps {
  readonly value: DatabaseName
  readonly onChange: (value: DatabaseName) => void
  /** Default true: the database as well as the project. */
  readonly hasDatabase?: boolean
}

export function DatabaseFields({ value, onChange, hasDatabase = true }: DatabaseFieldsProps) {
  const databases = useDatabases()
  const id = useId()
  const projects = [...new Set(databases.map(({ project }) => project))]
  const names = databases.filter(({ project }) => project === value.project).map(({ database }) => database)
  return (
    <>
      <TextField
        label="Project"
        value={value.project}
        list={`${id}-projects`}
        required
        isWhole
        onChange={(project) => onChange({ ...value, project })}
      />
      {hasDatabase && (
        <TextField
          label="Database"
          value={value.database}
          placeholder="(default)"
          isWhole
          list={`${id}-databases`}
          onChange={(database) => onChange({ ...value, database: database === '(default)' ? '' : database })}
        />
      )}
      <Suggestions id={`${id}-projects`} texts={projects} />
      <Suggestions id={`${id}-databases`} texts={names.filter((name) => name !== '')} />
    </>
  )
}
