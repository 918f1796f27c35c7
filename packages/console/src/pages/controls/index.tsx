/** Controls of the server: snapshots and resets, faults, the clock, settings of a database, composite indexes. */
import type { ComponentType } from 'preact'
import { addressOf, type PageProps } from '../../model/route.ts'
import { ClockControl } from './clock.tsx'
import { type DatabaseProps, databaseSection } from './database-section.tsx'
import { FaultControl } from './faults.tsx'
import { Indexes } from './indexes.tsx'
import { DatabaseSettings } from './settings.tsx'
import { SnapshotControl } from './snapshots.tsx'

interface Section {
  /** Second part of its addresses. */
  readonly name: string
  readonly title: string
  readonly View: ComponentType<PageProps>
}

const section = (name: string, title: string, View: ComponentType<DatabaseProps>): Section => {
  return { name, title, View: databaseSection(name, title, View) }
}

const sections: readonly Section[] = [
  { name: 'snapshots', title: 'Snapshots and reset', View: SnapshotControl },
  { name: 'faults', title: 'Faults', View: FaultControl },
  { name: 'clock', title: 'Clock', View: ClockControl },
  section('settings', 'Settings of a database', DatabaseSettings),
  section('indexes', 'Composite indexes', Indexes),
]

export default function ControlsPage({ route }: PageProps) {
  const current = sections.find(({ name }) => name === route.parts[0]) ?? sections[0]
  if (current === undefined) return null
  const { View } = current
  return (
    <section class="page controls">
      <header class="page-head">
        <h1>Controls</h1>
        <nav aria-label="Controls" class="tabs">
          {sections.map(({ name, title }) => (
            <a
              key={name}
              href={addressOf('controls', [name])}
              aria-current={name === current.name ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </header>
      <View key={current.name} route={route} />
    </section>
  )
}
