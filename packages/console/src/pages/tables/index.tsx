/** Six tables: the tables and the log side by side as what they are, sorted rows, and commits that light up the rows they write. */
import { useState } from 'preact/hooks'
import { DatabaseChoice } from '../../components/database-choice.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { CommitsUntold, isShared } from '../../components/shared-store.tsx'
import { addressOf, navigate, type PageProps, type QueryMembers, type Route } from '../../model/route.ts'
import { JumpForm } from './jump-form.tsx'
import type { Place } from './row-text.ts'
import { StepList } from './step-list.tsx'
import { tables } from './table-names.ts'
import { TablePane } from './table-pane.tsx'
import { useLiveTables } from './use-live-tables.ts'

const aboutSharedLog =
  'Here the record of a commit is a cell in the row of its entity group: the page of an entity shows those of its group.'

/** The part of the store that the address names; without a project all of it. */
function placeOf({ parts: [project], query }: Route): Place {
  if (project === undefined || project === '') return {}
  return { project, database: query.get('database') ?? '', namespace: query.get('namespace') ?? undefined }
}

export default function TablesPage({ route }: PageProps) {
  const place = placeOf(route)
  const target = { kind: route.query.get('kind') ?? undefined, key: route.query.get('key') ?? undefined }
  const form = route.query.get('form') === 'hex' ? 'hex' : 'words'
  const chosen = tables.find(({ name }) => name === route.query.get('table'))?.name ?? 'Entities'
  const [isWrapped, setWrapped] = useState(false)
  const live = useLiveTables(place, target)
  const go = (project: string | undefined, members: QueryMembers): void => {
    const query = { ...Object.fromEntries(route.query), ...members }
    navigate(addressOf('tables', project === undefined ? [] : [project], query), { replace: true })
  }
  const isEmpty = live.isLoaded && tables.every(({ name }) => live.windowOf(name).rows.length === 0)
  return (
    <section class="page tables-page">
      <header class="page-head">
        <h1>Six tables</h1>
        <div class="toolbar">
          <DatabaseChoice
            project={place.project}
            database={place.database}
            allLabel="all, the whole store"
            onChoose={(project, database) =>
              go(project, { database, namespace: undefined, kind: undefined, key: undefined })
            }
          />
          <JumpForm target={target} onJump={(to) => go(place.project ?? live.projectDefault, { ...to })} />
          <label class="check">
            <input
              type="checkbox"
              checked={live.follows && !isShared()}
              disabled={isShared()}
              onChange={(event) => live.follow(event.currentTarget.checked)}
            />
            Follow commits
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={form === 'hex'}
              onChange={(event) => go(place.project, { form: event.currentTarget.checked ? 'hex' : undefined })}
            />
            Hexadecimal
          </label>
          <label class="check">
            <input type="checkbox" checked={isWrapped} onChange={(event) => setWrapped(event.currentTarget.checked)} />
            Long rows in full
          </label>
          <label class="table-choice">
            Table{' '}
            <select value={chosen} onChange={(event) => go(place.project, { table: event.currentTarget.value })}>
              {tables.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </div>
      </header>
      <CommitsUntold />
      {live.error !== undefined && <ErrorNote error={live.error} />}
      {isEmpty && (
        <EmptyState title="The tables are empty">
          <p>
            Put an entity with your program, or from a terminal, and{' '}
            {isShared() ? 'read again' : 'watch its rows appear'}: <code>npx sixtables seed entities.json</code>
          </p>
        </EmptyState>
      )}
      <div class={`tables-grid ${isWrapped || form === 'hex' ? 'is-wrapped' : ''}`}>
        <div class="log-column">
          {!isShared() && (
            <StepList
              shown={live.shown}
              project={place.project ?? live.projectDefault}
              database={place.database ?? ''}
            />
          )}
          {tables.filter(({ name }) => name === 'Log').map(paneOf)}
        </div>
        {tables.filter(({ name }) => name !== 'Log').map(paneOf)}
      </div>
    </section>
  )

  function paneOf({ name, step, about }: (typeof tables)[number]) {
    return (
      <TablePane
        key={name}
        table={name}
        step={step}
        about={name === 'Log' && isShared() ? aboutSharedLog : about}
        rows={live.windowOf(name)}
        lit={live.shown?.lit.get(name)}
        marked={live.marked}
        form={form}
        place={place}
        wanted={live.wanted.get(name)}
        isChosen={name === chosen}
        onScrolled={() => live.follow(false)}
      />
    )
  }
}
