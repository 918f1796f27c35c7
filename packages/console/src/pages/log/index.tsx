/** Log and apply: the records between commit and apply, their release step by step, and what queries answer meanwhile. */

import type { PendingReport } from '@sixtables/engine'
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { DatabaseChoice } from '../../components/databases.tsx'
import { CommitsUntold, isShared, NeedsOneProcess } from '../../components/shared-store.tsx'
import { useCommits, useLoaded } from '../../components/use-server.ts'
import { addressOf, navigate, type PageProps, type QueryMembers } from '../../model/route.ts'
import { type EntityScope, scopeIn } from '../../model/scope.ts'
import { PinnedQuery } from './pinned-query.tsx'
import { PolicyForm } from './policy-form.tsx'
import { pendingPath, WaitingRecords } from './waiting-records.tsx'

export default function LogPage({ route }: PageProps) {
  const place = scopeIn(route, server.value?.project)
  const go = (project: string, members: QueryMembers): void => {
    navigate(addressOf('log', [project], { ...Object.fromEntries(route.query), ...members }), { replace: true })
  }
  if (place.project === '') {
    return (
      <section class="page">
        <h1>Log and apply</h1>
      </section>
    )
  }
  return (
    <section class="page log-page">
      <header class="page-head">
        <h1>Log and apply</h1>
        <DatabaseChoice
          project={place.project}
          database={place.database}
          onChoose={(project = place.project, database = undefined) => go(project, { database })}
        />
      </header>
      <CommitsUntold />
      <p class="log-intro muted">
        A commit appends a record to the log of each entity group that it writes to. Applying the record writes the
        entity rows (milestone A), then the index rows (milestone B). Until then global queries do not see the commit.
      </p>
      <LogView
        key={`${place.project}/${place.database}`}
        place={place}
        queries={[route.query.get('q1') ?? '', route.query.get('q2') ?? '']}
        onQuery={(name, gql) => go(place.project, { [name]: gql === '' ? undefined : gql })}
      />
    </section>
  )
}

interface LogViewProps {
  readonly place: EntityScope
  readonly queries: readonly [string, string]
  readonly onQuery: (name: 'q1' | 'q2', gql: string) => void
}

function LogView({ place, queries, onQuery }: LogViewProps) {
  const { value, error, reload } = useLoaded<PendingReport>(pendingPath(place))
  const [turn, setTurn] = useState(0)
  const again = (): void => {
    reload()
    setTurn((count) => count + 1)
  }
  useCommits(String(new URLSearchParams({ project: place.project, database: place.database })), gatherMs, again)
  return (
    <div class="columns" style={{ '--column-widths': 'minmax(0, 2fr) minmax(0, 3fr)' }}>
      <div>
        <NeedsOneProcess why="each commit is applied at once, as a gateway that waits may be gone. For queries that lag behind use a store of one process.">
          <PolicyForm place={place} onChanged={again} />
          <WaitingRecords place={place} report={value} error={error} onReleased={again} />
        </NeedsOneProcess>
      </div>
      <section class="pinned-queries" aria-label="Pinned queries">
        <h2>Pinned queries</h2>
        <p class="muted">
          They run again {isShared() ? 'when you read again' : 'at each step of a commit'}, as your program would run
          them.
        </p>
        <PinnedQuery name="Query 1" place={place} gql={queries[0]} turn={turn} onRun={(gql) => onQuery('q1', gql)} />
        <PinnedQuery name="Query 2" place={place} gql={queries[1]} turn={turn} onRun={(gql) => onQuery('q2', gql)} />
      </section>
    </div>
  )
}

/** Steps nearer to each other than this are seen together. */
const gatherMs = 80
