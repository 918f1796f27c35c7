/** Six tables: the tables and the log side by side as what they are, sorted rows, and commits that light up the rows they write. */
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { Button, Check, Form, Select } from '../../components/controls.tsx'
import { putLine } from '../../components/copy-button.tsx'
import { DatabaseChoice } from '../../components/databases.tsx'
import { EmptyState, ErrorNote, Problem, safeText } from '../../components/parts.tsx'
import { CommitsUntold, isShared } from '../../components/shared-store.tsx'
import { caught } from '../../model/caught.ts'
import { isComplete, KeyTextError, parseKeyPath } from '../../model/key-text.ts'
import { counted } from '../../model/numbers.ts'
import { addressOf, type PageProps } from '../../model/route.ts'
import { hueOf, type Shown } from './steps.ts'
import { TablePane } from './table-pane.tsx'
import {
  type LiveTables,
  type TableDefinition,
  type Target,
  tables,
  useLiveTables,
  type View,
  viewOf,
} from './use-live-tables.ts'

export default function TablesPage({ route }: PageProps) {
  const view = useMemo(() => viewOf(route), [route])
  const live = useLiveTables(view.place, view.target)
  const [isWrapped, setWrapped] = useState(false)
  const isEmpty = [...live.windows.values()].every(({ isLoaded, rows }) => isLoaded && rows.length === 0)
  const paneOf = (table: TableDefinition) => <TablePane key={table.name} {...{ table, view, live }} />
  const log = addressOf('log', [live.project ?? ''], { database: view.place.database || undefined })
  return (
    <section class="page tables-page">
      <header class="page-head">
        <h1>Six tables</h1>
        <Tools {...{ view, live }}>
          <Check label="Long rows in full" isOn={isWrapped} onSwitch={setWrapped} />
        </Tools>
      </header>
      <CommitsUntold />
      <ErrorNote error={live.error} />
      {isEmpty && (
        <EmptyState title="The tables are empty">
          <p>
            Put an entity with your program, or from a terminal, and{' '}
            {isShared() ? 'read again' : 'watch its rows appear'}:{' '}
            <code>{putLine(live.project || (server.value?.project ?? 'demo'))}</code>
          </p>
        </EmptyState>
      )}
      <div class={`tables-grid stack ${isWrapped || view.form === 'hex' ? 'is-wrapped' : ''}`}>
        <div class="column" style={{ gridRow: 'span 2' }}>
          {!isShared() && <StepList shown={live.shown} log={log} />}
          {tables.slice(0, 1).map(paneOf)}
        </div>
        {tables.slice(1).map(paneOf)}
      </div>
    </section>
  )
}

type ToolsProps = Readonly<{ view: View; live: LiveTables; children: ComponentChildren }>

function Tools({ view, live, children }: ToolsProps) {
  const { place, target, form, chosen, go } = view
  return (
    <div class="toolbar">
      <DatabaseChoice
        project={place.project}
        database={place.database}
        allLabel="all, the whole store"
        onChoose={(to, database) => go({ database, namespace: undefined, kind: undefined, key: undefined }, to ?? '')}
      />
      <JumpForm target={target} onJump={({ kind, key }) => go({ kind, key }, live.project)} />
      <Check label="Follow commits" isOn={live.follows && !isShared()} disabled={isShared()} onSwitch={live.follow} />
      <Check label="Hexadecimal" isOn={form === 'hex'} onSwitch={(isOn) => go({ form: isOn ? 'hex' : undefined })} />
      {children}
      <Select
        class="narrow-only"
        label="Table"
        value={chosen}
        options={tables.map(({ name }) => name)}
        onChange={(table) => go({ table })}
      />
    </div>
  )
}

function JumpForm({ target, onJump }: { readonly target: Target; readonly onJump: (to: Target) => void }) {
  const [text, setText] = useState(target.key ?? target.kind ?? '')
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const submit = (): void => {
    const to = caught(KeyTextError, () => targetOf(text.trim()))
    setWrong(to instanceof KeyTextError ? to.message : undefined)
    if (!(to instanceof KeyTextError)) onJump(to)
  }
  return (
    <Form class="toolbar" onSubmit={submit}>
      <label>
        Go to{' '}
        <input
          type="search"
          style={{ width: '190px' }}
          value={text}
          placeholder="kind or key: ToDo:1"
          aria-invalid={wrong !== undefined}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <Button label="Go" />
      <Problem text={wrong} role="alert" class="whole" />
    </Form>
  )
}

function targetOf(text: string): Target {
  if (text === '') return { kind: undefined, key: undefined }
  const path = parseKeyPath(text)
  if (isComplete(path)) return { kind: undefined, key: text }
  if (path.length > 1)
    throw new KeyTextError('Give a kind alone, such as ToDo, or a whole key, such as User:"ada"/ToDo:5.')
  return { kind: path[0]?.kind, key: undefined }
}

/** What the steps of a commit write: shown until one comes. */
const atRest = [
  { step: 'log', words: 'Log: the record of the commit' },
  { step: 'A', words: 'Milestone A: the entity' },
  { step: 'B', words: 'Milestone B: its index rows' },
] as const

function StepList({ shown, log }: { readonly shown: Shown | undefined; readonly log: string }) {
  return (
    <section class="panel rigid scrolls py-2 px-3 breaks" aria-label="Latest commit" style={{ height: '212px' }}>
      <h2>Latest commit</h2>
      <div aria-live="polite">
        {shown === undefined ? (
          <p class="muted">Put an entity, and its rows light up in this order:</p>
        ) : (
          <p class="step-title my-2 strong">{safeText(shown.title)}</p>
        )}
        <ol>
          {(shown?.steps ?? atRest).map(({ step, words }) => (
            <li key={`${step} ${words}`} class={`step-line mb-1 ${hueOf[step]}`} data-step={shown && step}>
              {safeText(words)}
            </li>
          ))}
        </ol>
        {shown !== undefined && shown.passed > 0 && (
          <p class="muted">{counted(shown.passed, 'commit')} passed before it.</p>
        )}
        {shown?.isWaiting === true && (
          <p class="muted">
            It waits to be applied: <a href={log}>Log and apply</a>
          </p>
        )}
      </div>
    </section>
  )
}
