/**
 * Controls of the server: snapshots and resets, faults, the clock, settings of a database, composite indexes.
 *
 *   #/controls/settings/demo?database=orders        a section about one database, which its address names
 */
import type { ComponentType } from 'preact'
import { server } from '../../api/connection.ts'
import { DatabaseFields, type DatabaseProps } from '../../components/databases.tsx'
import { addressOf, navigate, type PageProps } from '../../model/route.ts'
import type { DatabaseName } from '../../model/scope.ts'
import { ClockControl } from './clock.tsx'
import { FaultControl } from './faults.tsx'
import { Indexes } from './indexes.tsx'
import { DatabaseSettings } from './settings.tsx'
import { SnapshotControl } from './snapshots.tsx'

type Section = readonly [title: string, View: ComponentType<DatabaseProps>, isOfDatabase?: true]

/** By the second part of their addresses. */
const sections: Readonly<Record<string, Section>> = {
  snapshots: ['Snapshots and reset', SnapshotControl],
  faults: ['Faults', FaultControl],
  clock: ['Clock', ClockControl],
  settings: ['Settings of a database', DatabaseSettings, true],
  indexes: ['Composite indexes', Indexes, true],
}

export default function ControlsPage({ route: { parts, query } }: PageProps) {
  const [asked = '', project = server.value?.project ?? ''] = parts
  const current = Object.hasOwn(sections, asked) ? asked : 'snapshots'
  const [title, View, isOfDatabase = false] = sections[current] as Section
  const database = query.get('database') ?? ''
  const name = `${project} / ${database || '(default)'}`
  const show = (to: DatabaseName): void =>
    navigate(addressOf('controls', [current, to.project], { database: to.database || undefined }), { replace: true })
  return (
    <section class="page controls">
      <header class="page-head">
        <h1>Controls</h1>
        <nav aria-label="Controls" class="tabs">
          {Object.entries(sections).map(([section, [words]]) => (
            <a
              key={section}
              href={addressOf('controls', [section])}
              aria-current={section === current ? 'page' : undefined}
            >
              {words}
            </a>
          ))}
        </nav>
      </header>
      {isOfDatabase && (
        <div key={current} class="fields">
          <DatabaseFields value={{ project, database }} onChange={show} />
        </div>
      )}
      {isOfDatabase && project === '' ? (
        <p class="muted">Name a project.</p>
      ) : (
        <View key={isOfDatabase ? `${current} ${name}` : current} {...{ title, project, database, name }} />
      )}
    </section>
  )
}
