/** The results of the query that was run, with what can be done with them. */
import { type AggregateStatement, type PlanReport, printGql, type SelectStatement } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { aggregate, type EntityResult, readCount } from '../../api/datastore.ts'
import { ApiError, ServerGone } from '../../api/http.ts'
import { Button, Check } from '../../components/controls.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import type { OpenDialog } from '../../components/entity-dialogs.tsx'
import { Menu } from '../../components/menu.tsx'
import { MissingIndex, useCreateIndex } from '../../components/missing-index.tsx'
import { ActionNote, EmptyState, ErrorNote, safeText } from '../../components/parts.tsx'
import { isShared } from '../../components/shared-store.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import type { KeptQuery } from '../../model/kept-queries.ts'
import { counted, timeWords } from '../../model/numbers.ts'
import { pageMax } from '../../model/paging.ts'
import { otherTypes } from '../../model/query-form.ts'
import { addressOfEntity, addressOfRows, type EntityScope } from '../../model/scope.ts'
import { countIn, countOf, findsEntities } from '../../model/statements.ts'
import { valueWords } from '../../model/value-words.ts'
import type { Go, Place } from './address.ts'
import { useChanges } from './commits.ts'
import { rowsAsCsv, rowsAsJson } from './copied-rows.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { EditBar } from './edit-bar.tsx'
import { ExplainPanel } from './explain-panel.tsx'
import { KeptQueries } from './queries-menu.tsx'
import { type Column, keyTextOf, typesOf, useColumns, useResults, useSelection } from './results.ts'
import { ResultsTable, type ResultsTableProps } from './results-table.tsx'

interface ViewProps {
  readonly place: Place
  readonly query: Omit<KeptQuery, 'isKept'>
  /** The query above is no longer the one of these results. */
  readonly isChanged: boolean
  readonly runs: number
  readonly go: Go
  readonly onDialog: (dialog: OpenDialog) => void
}

interface ResultsViewProps extends ViewProps {
  readonly statement: SelectStatement
  readonly onMet: (columns: readonly Column[]) => void
  readonly onRun: (gql: string) => void
}

export function ResultsView(props: ResultsViewProps) {
  const { place: scope, statement, runs, go, onMet, onRun } = props
  const gql = printGql(statement)
  const results = useResults(scope, gql)
  const { pages, columns } = results
  const shown = scope.columns ?? columns.slice(0, shownMax).map(({ property }) => property)
  // What is open beside the results, and the choice of columns, leave them as they are.
  const name = JSON.stringify([scope.project, scope.database, scope.namespace, gql])
  const selection = useSelection(name, pages)
  const [deleted, setDeleted] = useState<SelectStatement | readonly EntityResult[] | undefined>(undefined)
  const deletion = findsEntities(statement) ? setDeleted : undefined
  const endDeletion = (): void => {
    setDeleted(undefined)
    selection.clear()
  }
  useEffect(() => onMet(columns), [columns, onMet])
  // Nothing is in sight yet; the first rows are wanted all the same.
  useEffect(() => pages.want(0, 30), [pages])
  useEffect(() => {
    if (runs > 0) pages.invalidate()
  }, [runs])
  const isRefused = pages.isNew && pages.error !== undefined
  const isEmpty = pages.count === 0 && pages.isComplete
  const known = useColumns(scope, (isEmpty && statement.kind) || '', columns)
  return (
    <>
      <View
        {...{ ...props, gql }}
        explained={firstPageOf(statement)}
        onDelete={deletion && (() => deletion(statement))}
        tools={
          <>
            {!props.isChanged && <Count key={name} {...{ scope, statement, results }} />}
            <ColumnChooser met={columns} {...{ shown, go }} />
          </>
        }
      >
        {pages.error instanceof Error && (
          <Refused scope={scope} gql={gql} error={pages.error} onRetry={() => pages.invalidate()} />
        )}
        {!isRefused && (!isEmpty || known.length > 0) && (
          <ResultsTable {...{ place: scope, statement, results, shown, selection, go, onRun }} />
        )}
        {isEmpty && <NoResults {...{ statement, known }} />}
        <EditBar scope={scope} />
        <SelectionActions {...{ ...props, selection, shown }} onDelete={deletion} />
      </View>
      {deleted !== undefined && <DeleteDialog scope={scope} what={deleted} onClose={endDeletion} />}
    </>
  )
}

interface FrameProps extends ViewProps, Pick<ToolsProps, 'onDelete'> {
  readonly gql: string
  readonly explained: string
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

function View({ gql, explained, tools, children, ...props }: FrameProps) {
  const { place, isChanged, runs, go } = props
  const { isExplained } = place
  return (
    <>
      <Tools {...props}>
        {isChanged && (
          <p class="m-0 cut muted" style={{ flex: '1 1 16ch', maxWidth: 'max-content' }} title={gql}>
            Still the results of <code>{safeText(gql)}</code>
          </p>
        )}
        {tools}
        {/* The plan is that of the results: one that is shown can always be closed. */}
        <Button
          label="Explain"
          aria-pressed={isExplained}
          disabled={isChanged && !isExplained}
          onClick={() => go({ isExplained: !isExplained }, { replace: true })}
        />
      </Tools>
      <div class={`results ${isExplained ? 'is-explained' : ''}`}>
        <div class="results-main column">{children}</div>
        {isExplained && <ExplainPanel scope={place} gql={explained} runs={runs} />}
      </div>
    </>
  )
}

/** The query that the first page asks, which is what its plan costs. */
function firstPageOf(statement: SelectStatement): string {
  const most = Math.min(pageMax, countIn(statement.limit) ?? pageMax)
  return printGql({ ...statement, limit: [{ type: 'count', value: BigInt(most) }] })
}

/** A filter of another type than the values that were read finds none of them. */
function NoResults({ statement, known }: Readonly<{ statement: SelectStatement; known: readonly Column[] }>) {
  return (
    <EmptyState title="No results">
      <p>
        The query finds nothing now.
        {isShared() ? '' : ' What is written later and matches appears here by itself.'}
      </p>
      {otherTypes(statement, typesOf(known)).map(({ property, type, asked }) => (
        <p key={property}>
          {safeText(property)} is {type} in the entities that were read, and the filter compares it with {asked}.
        </p>
      ))}
    </EmptyState>
  )
}

interface ToolsProps extends Pick<ViewProps, 'place' | 'query' | 'isChanged' | 'onDialog'> {
  readonly onDelete?: (() => void) | undefined
  readonly children?: ComponentChildren
}

export function Tools({ place, query, isChanged, onDialog, onDelete, children }: ToolsProps) {
  return (
    <div class="toolbar data-tools">
      {children}
      <Menu label="Queries">
        <KeptQueries scope={place} now={query} />
      </Menu>
      <Button label="New entity…" onClick={() => onDialog({ type: 'create' })} />
      <Menu label="More">
        <Button label="Import…" onClick={() => onDialog({ type: 'import' })} />
        <Button label="Export…" onClick={() => onDialog({ type: 'export' })} />
        {onDelete !== undefined && (
          <Button label="Delete all found…" look="danger" disabled={isChanged} onClick={onDelete} />
        )}
      </Menu>
    </div>
  )
}

interface SelectionActionsProps extends Pick<ResultsTableProps, 'place' | 'selection' | 'shown'> {
  readonly onDialog: ViewProps['onDialog']
  readonly onDelete: ((rows: readonly EntityResult[]) => void) | undefined
}

function SelectionActions({ place: scope, selection, shown, onDialog, onDelete }: SelectionActionsProps) {
  const { rows, clear } = selection
  if (rows.length === 0) return null
  const [only, ...others] = rows.map(keyTextOf)
  return (
    <div class="panel toolbar shade py-1 px-3">
      <span>{counted(rows.length)} selected</span>
      <CopyButton text={() => rowsAsJson(rows)} label="Copy JSON" />
      <CopyButton text={() => rowsAsCsv(rows, shown)} label="Copy CSV" />
      {only !== undefined && others.length === 0 && (
        <>
          <Button label="Duplicate" onClick={() => onDialog({ type: 'duplicate', key: only })} />
          <a class="button" href={addressOfEntity(scope, only)}>
            Inside
          </a>
          <a class="button" href={addressOfRows(scope, only)}>
            Six tables
          </a>
        </>
      )}
      {onDelete !== undefined && <Button label="Delete selected" look="danger" onClick={() => onDelete(rows)} />}
      <Button label="Clear" look="quiet" onClick={clear} />
    </div>
  )
}

type CountProps = Pick<ResultsTableProps, 'statement' | 'results'> & { readonly scope: EntityScope }

/** A count is of its moment: the rows go on changing. */
function Count({ scope, statement, results: { pages } }: CountProps) {
  const all = useAction(
    async () => `of ${counted(await readCount(scope, countOf(statement)))} at ${timeWords(Date.now())}`,
  )
  if (pages.isNew) return <span class="results-count nowrap muted">{pages.error === undefined ? 'Reading …' : ''}</span>
  if (pages.isComplete) return <span class="results-count nowrap">{counted(pages.count, 'result')}</span>
  const words = all.isBusy ? 'counting …' : (all.error?.message ?? all.done)
  return (
    <span class="results-count nowrap">
      {counted(Math.max(0, pages.count - 1))} read{' '}
      {words === undefined ? <Button label="Count all" look="quiet" onClick={() => all.run()} /> : safeText(words)}
    </span>
  )
}

type RefusedProps = Readonly<{ scope: EntityScope; gql: string; error: Error; onRetry: () => void }>

/** A query that was refused; for want of an index, with its definition. */
function Refused({ scope: { project, database, namespace }, gql, error, onRetry }: RefusedProps) {
  const status = error instanceof ApiError ? error.status : ''
  const { value } = useLoaded<PlanReport>(status === 'FAILED_PRECONDITION' ? '/emulator/explain' : undefined, {
    body: { project, database, namespace, gql },
  })
  const create = useCreateIndex({ project, database }, onRetry)
  const missing = value?.missingIndex
  const what = error instanceof ServerGone ? 'The server did not answer the query' : 'The query was refused'
  if (missing === undefined) return <ErrorNote {...{ error, what, onRetry }} />
  return (
    <MissingIndex words={missing.index} yaml={`indexes:\n${missing.yaml}`} create={create}>
      <p>
        <code>{status}</code> The query needs a composite index, {safeText(missing.index)}. Add it to{' '}
        <code>index.yaml</code>:
      </p>
      <ActionNote action={create} what="The index was not created" />
    </MissingIndex>
  )
}

export function AggregateView(props: ViewProps & { readonly statement: AggregateStatement }) {
  const { place: scope, statement, runs } = props
  const gql = printGql(statement)
  const { project, database, namespace } = scope
  const { value, error, reload } = useLoaded(JSON.stringify([project, database, namespace, gql]), {
    read: (_, options) => aggregate(scope, statement, options),
    turn: runs,
  })
  useChanges(project, database, reload)
  return (
    <View {...{ ...props, gql }} explained={gql}>
      {error !== undefined && <Refused scope={scope} gql={gql} error={error} onRetry={reload} />}
      <dl class="figures wrap gap-3">
        {Object.entries(value ?? {}).map(([name, figure]) => (
          <div key={name} class="panel">
            <dt class="small muted">{safeText(name)}</dt>
            <dd class="large">{safeText(valueWords(figure).words)}</dd>
          </div>
        ))}
      </dl>
    </View>
  )
}

const shownMax = 12

type ColumnChooserProps = Readonly<{ met: readonly Column[]; shown: readonly string[]; go: Go }>

function ColumnChooser({ met, shown, go }: ColumnChooserProps) {
  if (met.length === 0) return null
  const show = (columns: Place['columns']): void => go({ columns }, { replace: true })
  const toggle = (property: string): void =>
    show(shown.includes(property) ? shown.filter((one) => one !== property) : [...shown, property])
  const words = shown.length === met.length ? '' : `${shown.length} of ${met.length}`
  return (
    <Menu
      label={
        <>
          Columns <span class="muted">{words}</span>
        </>
      }
    >
      {met.map(({ property }) => (
        <Check
          key={property}
          label={safeText(property)}
          isOn={shown.includes(property)}
          onSwitch={() => toggle(property)}
        />
      ))}
      <Button label={`The first ${Math.min(shownMax, met.length)}`} look="quiet" onClick={() => show(undefined)} />
    </Menu>
  )
}
