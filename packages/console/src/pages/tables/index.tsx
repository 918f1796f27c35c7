/** Six tables: the tables and the log side by side as what they are, sorted rows, and commits that light up the rows they write. */
import { useState } from 'preact/hooks'
import { Check, Select } from '../../components/controls.tsx'
import { DatabaseChoice } from '../../components/databases.tsx'
import { EmptyState, ErrorNote, safeText } from '../../components/parts.tsx'
import { CommitsUntold, isShared } from '../../components/shared-store.tsx'
import { counted } from '../../model/numbers.ts'
import { addressOf, navigate, type PageProps, type QueryMembers, type Route } from '../../model/route.ts'
import { JumpForm } from './jump-form.tsx'
import type { Place } from './row-text.ts'
import { hueOf, type Shown } from './steps.ts'
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
          <Check
            label="Follow commits"
            isOn={live.follows && !isShared()}
            disabled={isShared()}
            onSwitch={live.follow}
          />
          <Check
            label="Hexadecimal"
            isOn={form === 'hex'}
            onSwitch={(isOn) => go(place.project, { form: isOn ? 'hex' : undefined })}
          />
          <Check label="Long rows in full" isOn={isWrapped} onSwitch={setWrapped} />
          <Select
            class="narrow-only"
            label="Table"
            value={chosen}
            options={tables.map(({ name }) => name)}
            onChange={(table) => go(place.project, { table })}
          />
        </div>
      </header>
      <CommitsUntold />
      <ErrorNote error={live.error} />
      {isEmpty && (
        <EmptyState title="The tables are empty">
          <p>
            Put an entity with your program, or from a terminal, and{' '}
            {isShared() ? 'read again' : 'watch its rows appear'}: <code>npx sixtables seed entities.json</code>
          </p>
        </EmptyState>
      )}
      <div class={`tables-grid stack ${isWrapped || form === 'hex' ? 'is-wrapped' : ''}`}>
        <div class="column" style={{ gridRow: 'span 2' }}>
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
        about={about}
        none={name === 'Log' && isShared() ? aboutSharedLog : undefined}
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

interface StepListProps {
  readonly shown: Shown | undefined
  readonly project: string | undefined
  readonly database: string
}

/** Until a commit comes: what its steps write. */
const atRest = [
  ['log', 'Log: the record of the commit'],
  ['A', 'Milestone A: the entity'],
  ['B', 'Milestone B: its index rows'],
] as const

/** The latest commit's steps in words, as they happen. */
function StepList({ shown, project = '', database }: StepListProps) {
  return (
    <section class="panel rigid scrolls py-2 px-3 breaks" aria-label="Latest commit" style={{ height: '212px' }}>
      <h2>Latest commit</h2>
      <div aria-live="polite">
        {shown === undefined ? (
          <>
            <p class="muted">Put an entity, and its rows light up in this order:</p>
            <ol>
              {atRest.map(([step, words]) => (
                <li key={step} class={`step-line mb-1 ${hueOf[step]}`}>
                  {words}
                </li>
              ))}
            </ol>
          </>
        ) : (
          <>
            <p class="step-title my-2 strong">{safeText(shown.title)}</p>
            <ol>
              {shown.steps.map(({ step, words }) => (
                <li key={`${step} ${words}`} class={`step-line mb-1 ${hueOf[step]}`} data-step={step}>
                  {safeText(words)}
                </li>
              ))}
            </ol>
            {shown.passed > 0 && <p class="muted">{counted(shown.passed, 'commit')} passed before it.</p>}
            {shown.isWaiting && (
              <p class="muted">
                It waits to be applied:{' '}
                <a href={addressOf('log', [project], { database: database || undefined })}>Log and apply</a>
              </p>
            )}
          </>
        )}
      </div>
    </section>
  )
}
