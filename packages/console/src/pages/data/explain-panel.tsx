/** The plan of the query that was run, the rows it read of each table, and the index that it lacks. */

import { useEffect, useState } from 'preact/hooks'
import { postJson } from '../../api/http.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeLines, SafeText } from '../../components/safe-text.tsx'
import type { EntityScope } from '../../model/scope.ts'

interface PlanStep {
  readonly type: string
  readonly words: string
  readonly table?: string
  readonly index?: string
  readonly inputs: readonly PlanStep[]
}

/** The answer of `POST /emulator/explain`. */
export interface PlanReport {
  readonly tree?: { readonly source: PlanStep; readonly results: readonly string[] }
  readonly indexesUsed: readonly { readonly queryScope: string; readonly properties: string }[]
  readonly stats?: {
    readonly resultsReturned: number
    readonly readOperations: number
    readonly rowsRead: Readonly<Record<string, number>>
    readonly billing: { readonly documents: number; readonly indexEntries: number }
    readonly durationMs: number
  }
  readonly missingIndex?: { readonly index: string; readonly yaml: string }
}

export interface ExplainPanelProps {
  readonly scope: EntityScope
  /** The query whose plan is shown, with the limit of a page. */
  readonly gql: string
  /** Grows with each run. */
  readonly runs: number
}

export function ExplainPanel({ scope, gql, runs }: ExplainPanelProps) {
  const { report, error } = usePlan(scope, gql, runs)
  return (
    <aside class="explain-panel" aria-label="Explain">
      <h2>Explain</h2>
      {error !== undefined && <ErrorNote error={error} what="The query could not be explained" />}
      {report?.missingIndex !== undefined && <MissingIndex {...report.missingIndex} />}
      {report?.tree !== undefined && (
        <>
          <h3>Plan</h3>
          <ul class="plan-tree">
            <Step step={report.tree.source} />
            {report.tree.results.map((words) => (
              <li key={words}>
                <SafeText text={words} />
              </li>
            ))}
          </ul>
        </>
      )}
      {report?.stats !== undefined && <Stats stats={report.stats} />}
      {report !== undefined && report.indexesUsed.length > 0 && (
        <>
          <h3>Indexes used</h3>
          <ul>
            {report.indexesUsed.map(({ queryScope, properties }) => (
              <li key={properties}>
                <code>
                  <SafeText text={properties} />
                </code>
                {queryScope === 'Includes ancestors' && ' with ancestors'}
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  )
}

function usePlan(scope: EntityScope, gql: string, runs: number): { report?: PlanReport; error?: Error } {
  const [state, setState] = useState<{ report?: PlanReport; error?: Error }>({})
  const { project, database, namespace } = scope
  useEffect(() => {
    const abort = new AbortController()
    const body = { project, database, namespace, gql, analyze: true }
    postJson<PlanReport>('/emulator/explain', body, { signal: abort.signal }).then(
      (report) => setState({ report }),
      (error: Error) => {
        if (!abort.signal.aborted) setState({ error })
      },
    )
    return () => abort.abort()
  }, [project, database, namespace, gql, runs])
  return state
}

function Step({ step: { words, table, index, inputs } }: { readonly step: PlanStep }) {
  return (
    <li>
      <SafeText text={words} />
      {table !== undefined && <span class="tag">{index === undefined ? 'built-in index' : 'composite index'}</span>}
      {inputs.length > 0 && (
        <ul>
          {inputs.map((input) => (
            <Step key={input.words} step={input} />
          ))}
        </ul>
      )}
    </li>
  )
}

function Stats({ stats }: { readonly stats: NonNullable<PlanReport['stats']> }) {
  const { rowsRead, billing, readOperations, resultsReturned, durationMs } = stats
  return (
    <>
      <h3>Rows read</h3>
      <table class="explain-rows">
        <tbody>
          {Object.entries(rowsRead).map(([table, rows]) => (
            <tr key={table}>
              <th scope="row">{table}</th>
              <td class="number">{rows.toLocaleString('en')}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">Results</th>
            <td class="number">{resultsReturned.toLocaleString('en')}</td>
          </tr>
          <tr>
            <th scope="row">Documents billed</th>
            <td class="number">{billing.documents.toLocaleString('en')}</td>
          </tr>
          <tr>
            <th scope="row">Read operations billed</th>
            <td class="number">{readOperations.toLocaleString('en')}</td>
          </tr>
        </tbody>
      </table>
      <p class="muted">For the first page of results, in {durationMs.toFixed(1)} ms.</p>
    </>
  )
}

export function MissingIndex({ index, yaml }: { readonly index: string; readonly yaml: string }) {
  return (
    <div class="missing-index">
      <p>
        The query needs a composite index, <SafeText text={index} />. Add it to <code>index.yaml</code>:
      </p>
      <pre>
        <SafeLines text={yaml} />
      </pre>
      <CopyButton text={yaml} label="Copy for index.yaml" />
    </div>
  )
}
