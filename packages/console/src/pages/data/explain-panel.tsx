/** The plan of the query that was run, and the rows it read of each table. */
import type { PlanReport } from '@sixtables/gateway/browser'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { PlanTree } from '../../components/plan-tree.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'

type ExplainPanelProps = Readonly<{ scope: EntityScope; gql: string; runs: number }>

/** @param runs - grows with each run; the plan is read anew */
export function ExplainPanel({ scope, gql, runs }: ExplainPanelProps) {
  const { project, database, namespace } = scope
  const body = { project, database, namespace, gql, analyze: true }
  const { value: report, error } = useLoaded<PlanReport>('/emulator/explain', { body, turn: runs })
  return (
    <aside class="panel explain-panel scrolls" aria-label="Explain" style={{ minHeight: '0' }}>
      <h2>Explain</h2>
      {report === undefined && error === undefined && <p class="muted">Reading the plan …</p>}
      <ErrorNote error={error} what="The query could not be explained" />
      {report?.missingIndex !== undefined && <p>The query has no plan: it needs a composite index.</p>}
      {report?.tree !== undefined && (
        <>
          <h3 class="mt-3 mb-1">Plan</h3>
          <PlanTree plan={report.tree} />
        </>
      )}
      {report?.stats !== undefined && <Stats stats={report.stats} />}
      {report !== undefined && report.indexesUsed.length > 0 && (
        <>
          <h3 class="mt-3 mb-1">Indexes used</h3>
          <ul class="bullets breaks">
            {report.indexesUsed.map(({ queryScope, properties }) => (
              <li key={properties}>
                <code>{safeText(properties)}</code>
                {queryScope === 'Includes ancestors' && ' with ancestors'}
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  )
}

function Stats({ stats }: { readonly stats: NonNullable<PlanReport['stats']> }) {
  const { rowsRead, billing, readOperations, resultsReturned, durationMs } = stats
  const figures = {
    ...rowsRead,
    Results: resultsReturned,
    'Documents billed': billing.documents,
    'Read operations billed': readOperations,
  }
  return (
    <>
      <h3 class="mt-3 mb-1">Rows read</h3>
      <table class="whole">
        <tbody>
          {Object.entries(figures).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{counted(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">For the first page of results, in {durationMs.toFixed(1)} ms.</p>
    </>
  )
}
