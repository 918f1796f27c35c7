/** The databases that the server knows, kept up to date: one of them to choose, or the fields that name one. */
import { useId } from 'preact/hooks'
import { databasesPath, readDatabases } from '../api/kinds.ts'
import type { DatabaseName } from '../model/scope.ts'
import { Select, Suggestions, TextField } from './controls.tsx'
import { useLoaded } from './use-server.ts'

interface DatabaseChoiceProps {
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
  const all = allLabel === undefined ? [] : [['', allLabel] as const]
  const choose = (name: string): void => {
    const found = known.find((one) => nameOf(one) === name)
    onChoose(found?.project, found?.database || undefined)
  }
  return (
    <Select
      label="Database"
      value={project === undefined ? '' : nameOf({ project, database })}
      options={[...all, ...known.map(nameOf)]}
      onChange={choose}
    />
  )
}

export interface DatabaseProps extends DatabaseName {
  readonly title: string
  /** `demo / (default)` */
  readonly name: string
}

function nameOf({ project, database }: DatabaseName): string {
  return database === '' ? project : `${project} / ${database}`
}

interface DatabaseFieldsProps {
  readonly value: DatabaseName
  readonly onChange: (value: DatabaseName) => void
  readonly hasDatabase?: boolean
}

/** The fields that name a database, also one that is not there yet; those that the server knows are suggestions. */
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

function useDatabases(): readonly DatabaseName[] {
  return useLoaded(databasesPath, { everyMs: 2000, read: readDatabases }).value ?? []
}
