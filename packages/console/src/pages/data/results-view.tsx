/** The results of the query that was run, with what can be done with them. */

import { type AggregateStatement, printGql, type SelectStatement } from '@sixtables/gateway/browser'
import { useEffect, useState } from 'preact/hooks'
import { aggregate } from '../../api/datastore.ts'
import { ApiError, postJson } from '../../api/http.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { isShared } from '../../components/shared-store.tsx'
import { formatKeyPath } from '../../model/key-text.ts'
import { pageMax } from '../../model/paging.ts'
import { addressOf } from '../../model/route.ts'
import { addressOfEntity, type EntityScope, scopeQuery } from '../../model/scope.ts'
import { countIn, countOf, findsEntities } from '../../model/statements.ts'
import { type ApiKey, type ApiValue, valueWords } from '../../model/value-words.ts'
import { ColumnChooser, shownColumns } from './column-chooser.tsx'
import { useChanges } from './commits.ts'
import { rowsAsCsv, rowsAsJson } from './copied-rows.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { ExplainPanel, MissingIndex, type PlanReport } from './explain-panel.tsx'
import { type Results, useResults } from './results.ts'
import { ResultsTable } from './results-table.tsx'
import { type Selection, useSelection } from './selection.ts'

export interface ResultsViewProps {
  readonly scope: EntityScope
  readonly statement: SelectStatement
  /** The query above is no longer the one of these results. */
  readonly isChanged: boolean
  readonly columns: readonly string[] | undefined
  readonly isExplained: boolean
  readonly runs: number
  /** Properties that were met. */
  readonly onMet: (properties: readonly string[]) => void
  readonly onColumns: (columns: readonly string[] | undefined) => void
  readonly onExplain: (isExplained: boolean) => void
  readonly onSort: (property: string) => void
  readonly onOpen: (key: ApiKey) => void
  readonly onDuplicate: (key: ApiKey) => void
}

export function ResultsView(props: ResultsViewProps) {
  const { scope, statement, isExplained, runs, onMet } = props
  const gql = printGql(statement)
  const results = useResults(scope, gql)
  const { pages, columns } = results
  const shown = shownColumns(columns, props.columns)
  const selection = useSelection(JSON.stringify([scope, gql]))
  useEffect(() => onMet(columns.map(({ property }) => property)), [columns, onMet])
  // Nothing is in sight yet; the first rows are wanted all the same.
  useEffect(() => pages.want(0, 30), [pages])
  useEffect(() => {
    if (runs > 0) pages.invalidate()
  }, [runs])
  return (
    <div class={`results ${isExplained ? 'is-explained' : ''}`}>
      <div class="results-main">
        <ResultsBar {...props} results={results} selection={selection} shown={shown} />
        {pages.error instanceof Error && (
          <Refused scope={scope} gql={gql} error={pages.error} onRetry={() => pages.invalidate()} />
        )}
        {pages.count === 0 && pages.isComplete ? (
          <EmptyState title="No results">
            <p>
              The query finds nothing now.
              {isShared() ? '' : ' What is written later and matches appears here by itself.'}
            </p>
          </EmptyState>
        ) : (
          !(pages.isNew && pages.error !== undefined) && (
            <ResultsTable
              scope={scope}
              statement={statement}
              results={results}
              shown={shown}
              selection={selection}
              onSort={props.onSort}
              onOpen={props.onOpen}
            />
          )
        )}
      </div>
      {isExplained && <ExplainPanel scope={scope} gql={firstPageOf(statement)} runs={runs} />}
    </div>
  )
}

/** The query that the first page asks, which is what its plan costs. */
function firstPageOf(statement: SelectStatement): string {
  const most = Math.min(pageMax, countIn(statement.limit) ?? pageMax)
  return printGql({ ...statement, limit: [{ type: 'count', value: BigInt(most) }] })
}

type ResultsBarProps = ResultsViewProps & {
  readonly results: Results
  readonly selection: Selection
  readonly shown: readonly string[]
}

function ResultsBar(props: ResultsBarProps) {
  const { scope, statement, isChanged, results, selection, shown, onColumns } = props
  const [deleted, setDeleted] = useState<SelectStatement | readonly ApiKey[] | undefined>(undefined)
  const canDelete = findsEntities(statement)
  return (
    <div class="toolbar results-bar">
      <Count scope={scope} statement={statement} results={results} />
      <ColumnChooser met={results.columns} shown={shown} onChange={onColumns} />
      <ExplainButton {...props} />
      {selection.rows.length > 0 ? (
        <SelectionActions {...props} onDelete={canDelete ? setDeleted : undefined} />
      ) : (
        canDelete && (
          <Button label="Delete all found" look="danger" disabled={isChanged} onClick={() => setDeleted(statement)} />
        )
      )}
      {isChanged && <ResultsOf gql={printGql(statement)} />}
      {deleted !== undefined && (
        <DeleteDialog
          scope={scope}
          what={deleted}
          onClose={() => {
            setDeleted(undefined)
            selection.clear()
          }}
        />
      )}
    </div>
  )
}

/** The plan is that of the results: one that is shown can always be closed. */
function ExplainButton({
  isChanged,
  isExplained,
  onExplain,
}: Pick<ResultsViewProps, 'isChanged' | 'isExplained' | 'onExplain'>) {
  return (
    <Button
      label="Explain"
      aria-pressed={isExplained}
      disabled={isChanged && !isExplained}
      onClick={() => onExplain(!isExplained)}
    />
  )
}

/** The query that was run, while another one is being written above. */
function ResultsOf({ gql }: { readonly gql: string }) {
  return (
    <p class="results-of muted">
      Still the results of{' '}
      <code>
        <SafeText text={gql} />
      </code>
    </p>
  )
}

type SelectionActionsProps = ResultsBarProps & { readonly onDelete: ((keys: readonly ApiKey[]) => void) | undefined }

function SelectionActions({ scope, selection, shown, onDuplicate, onDelete }: SelectionActionsProps) {
  const { rows, clear } = selection
  const keys = rows.map(({ entity }) => entity.key)
  const [only] = keys.length === 1 ? keys : []
  return (
    <>
      <span>{rows.length.toLocaleString('en')} selected</span>
      <CopyButton text={rowsAsJson(rows)} label="Copy JSON" />
      <CopyButton text={rowsAsCsv(rows, shown)} label="Copy CSV" />
      {only !== undefined && (
        <>
          <Button label="Duplicate" onClick={() => onDuplicate(only)} />
          <a class="button" href={addressOfEntity(scope, formatKeyPath(only.path))}>
            Inside
          </a>
          <a class="button" href={addressOfTables(scope, only)}>
            Six tables
          </a>
        </>
      )}
      {onDelete !== undefined && <Button label="Delete selected" look="danger" onClick={() => onDelete(keys)} />}
      <Button label="Clear" look="quiet" onClick={clear} />
    </>
  )
}

/** The tables where the rows of an entity stand. */
function addressOfTables(scope: EntityScope, key: ApiKey): string {
  return addressOf('tables', [scope.project], { ...scopeQuery(scope), key: formatKeyPath(key.path) })
}

function Count({ scope, statement, results: { pages } }: Pick<ResultsBarProps, 'scope' | 'statement' | 'results'>) {
  const [total, setTotal] = useState<{ of: string; words: string } | undefined>(undefined)
  const of = JSON.stringify([scope, printGql(statement)])
  if (pages.isNew) return <span class="results-count muted">{pages.error === undefined ? 'Reading …' : ''}</span>
  if (pages.isComplete) return <span class="results-count">{counted(pages.count)}</span>
  const count = (): void => {
    setTotal({ of, words: 'counting …' })
    aggregate(scope, countOf(statement)).then(
      ({ n }) => setTotal({ of, words: totalWords(Number(n?.integerValue ?? 0)) }),
      (error: Error) => setTotal({ of, words: error.message }),
    )
  }
  return (
    <span class="results-count">
      {Math.max(0, pages.count - 1).toLocaleString('en')} read{' '}
      {total?.of === of ? <SafeText text={total.words} /> : <Button label="Count all" look="quiet" onClick={count} />}
    </span>
  )
}

/** A count is of its moment: the rows go on changing. */
function totalWords(count: number): string {
  return `of ${count.toLocaleString('en')} at ${new Date().toLocaleTimeString('en-GB')}`
}

function counted(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'result' : 'results'}`
}

interface RefusedProps {
  readonly scope: EntityScope
  readonly gql: string
  readonly error: Error
  readonly onRetry: () => void
}

/** A query that was refused; for want of an index, with its definition. */
function Refused({ scope, gql, error, onRetry }: RefusedProps) {
  const [missing, setMissing] = useState<PlanReport['missingIndex']>(undefined)
  const { project, database, namespace } = scope
  const isPrecondition = error instanceof ApiError && error.status === 'FAILED_PRECONDITION'
  useEffect(() => {
    setMissing(undefined)
    if (!isPrecondition) return
    postJson<PlanReport>('/emulator/explain', { project, database, namespace, gql }).then(
      ({ missingIndex }) => setMissing(missingIndex),
      () => undefined,
    )
  }, [project, database, namespace, gql, isPrecondition])
  return (
    <>
      <ErrorNote error={error} what="The query was refused" onRetry={onRetry} />
      {missing !== undefined && <MissingIndex {...missing} />}
    </>
  )
}

export interface AggregateViewProps {
  readonly scope: EntityScope
  readonly statement: AggregateStatement
  /** The query above is no longer the one of these figures. */
  readonly isChanged: boolean
  readonly isExplained: boolean
  readonly runs: number
  readonly onExplain: (isExplained: boolean) => void
}

/** The figures of an aggregation. */
export function AggregateView(props: AggregateViewProps) {
  const { scope, statement, isChanged, isExplained, runs } = props
  const gql = printGql(statement)
  const [figures, setFigures] = useState<Readonly<Record<string, ApiValue>>>({})
  const [error, setError] = useState<Error | undefined>(undefined)
  const [asked, setAsked] = useState(0)
  const { project, database, namespace } = scope
  useChanges(project, database, () => setAsked((count) => count + 1))
  useEffect(() => {
    const abort = new AbortController()
    aggregate({ project, database, namespace }, gql, { signal: abort.signal }).then(
      (found) => {
        setFigures(found)
        setError(undefined)
      },
      (reason: Error) => {
        if (!abort.signal.aborted) setError(reason)
      },
    )
    return () => abort.abort()
  }, [project, database, namespace, gql, asked, runs])
  return (
    <div class={`results ${isExplained ? 'is-explained' : ''}`}>
      <div class="results-main">
        <div class="toolbar results-bar">
          <ExplainButton {...props} />
          {isChanged && <ResultsOf gql={gql} />}
        </div>
        {error !== undefined && (
          <Refused scope={scope} gql={gql} error={error} onRetry={() => setAsked((count) => count + 1)} />
        )}
        <dl class="figures">
          {Object.entries(figures).map(([name, value]) => (
            <div key={name}>
              <dt>
                <SafeText text={name} />
              </dt>
              <dd>
                <SafeText text={valueWords(value).words} />
              </dd>
            </div>
          ))}
        </dl>
      </div>
      {isExplained && <ExplainPanel scope={scope} gql={gql} runs={runs} />}
    </div>
  )
}
