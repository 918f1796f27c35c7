/** A section of Controls about one database, which its address names: `#/controls/settings/demo?database=orders`. */
import type { ComponentType } from 'preact'
import { server } from '../../api/connection.ts'
import { DatabaseFields } from '../../components/databases.tsx'
import { addressOf, navigate, type PageProps } from '../../model/route.ts'
import type { DatabaseName } from '../../model/scope.ts'

export interface DatabaseProps extends DatabaseName {
  readonly title: string
  /** `demo / (default)` */
  readonly name: string
}

/** @param section - second part of the addresses */
export function databaseSection(section: string, title: string, View: ComponentType<DatabaseProps>) {
  return function DatabaseSection({ route: { parts, query } }: PageProps) {
    const [, project = server.value?.project ?? ''] = parts
    const database = query.get('database') ?? ''
    const name = `${project} / ${database || '(default)'}`
    const show = (to: DatabaseName): void =>
      navigate(addressOf('controls', [section, to.project], { database: to.database || undefined }), { replace: true })
    return (
      <>
        <div class="fields">
          <DatabaseFields value={{ project, database }} onChange={show} />
        </div>
        {project === '' ? (
          <p class="muted">Name a project.</p>
        ) : (
          <View key={name} {...{ title, project, database, name }} />
        )}
      </>
    )
  }
}
