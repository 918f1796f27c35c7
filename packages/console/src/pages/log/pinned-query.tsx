/** A query that runs again at each step: its answer, and how that differs from what is committed. */
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { postJson, ServerGone } from '../../api/http.ts'
import { Editor } from '../../components/editor/editor.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { useNewValue } from '../../components/use-new-value.ts'
import type { Place } from './pending-api.ts'
import { type StaleReport, staleWords, summaryOf } from './staleness.ts'

const example = 'SELECT * FROM ToDo WHERE done = false'

export interface PinnedQueryProps {
  readonly name: string
  readonly place: Place
  /** The query that runs; empty = none. */
  readonly gql: string
  /** Grows at each step. */
  readonly turn: number
  readonly onRun: (gql: string) => void
}

export function PinnedQuery({ name, place, gql, turn, onRun }: PinnedQueryProps) {
  const [text, setText] = useState(gql)
  const gives = useNewValue(gql, setText)
  const { report, error } = useAnswer(place, gql, turn)
  // The example in the empty field looks like a query that is there.
  const run = (): void => {
    const given = text.trim() || (gql === '' ? example : '')
    if (text.trim() === '') setText(given)
    gives(given)
    onRun(given)
  }
  return (
    <section class="panel pinned-query" aria-label={name}>
      <div class="toolbar">
        <h3>{name}</h3>
        <button type="button" class="primary" title="Ctrl+Enter" onClick={run}>
          {gql === '' ? 'Pin and run' : 'Run'}
        </button>
        {gql !== '' && (
          <button type="button" onClick={() => onRun('')}>
            Unpin
          </button>
        )}
      </div>
      <Editor
        language="gql"
        label={`GQL of ${name}`}
        value={text}
        placeholder={example}
        onRun={run}
        onChange={setText}
      />
      {error !== undefined && gql !== '' && <ErrorNote error={error} what="The query cannot run" />}
      {report !== undefined && gql !== '' && <Answer report={report} />}
    </section>
  )
}

function Answer({ report }: { readonly report: StaleReport }) {
  const { words, isStale } = summaryOf(report)
  return (
    <>
      <p role="status" class={`answer-summary tag ${isStale ? 'warn' : 'good'}`}>
        {words}
      </p>
      {report.results.length + report.missing.length > 0 && (
        <table class="answer">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Properties</th>
              <th scope="col">Compared with what is committed</th>
            </tr>
          </thead>
          <tbody>
            {report.results.map((result) => (
              <tr key={`${result.key} ${result.properties}`} class={`answer-${result.state}`} data-state={result.state}>
                <th scope="row">
                  <SafeText text={result.key} />
                </th>
                <td>
                  <SafeText text={result.properties} />
                </td>
                <td>
                  <SafeText text={staleWords(result)} />
                </td>
              </tr>
            ))}
            {report.missing.map(({ key, properties }) => (
              <tr key={`missing ${key} ${properties}`} class="answer-missing" data-state="missing">
                <th scope="row">
                  <SafeText text={key} />
                </th>
                <td>
                  <SafeText text={properties} />
                </td>
                <td>missing: it is committed and matches, but its index rows are not written yet</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {report.more && <p class="muted">There are more results; the first 100 are compared.</p>}
    </>
  )
}

/** The answer at this turn. While it is asked for the one before stays; turns that come meanwhile are asked for together. */
function useAnswer(place: Place, gql: string, turn: number) {
  const [answer, setAnswer] = useState<{ readonly report?: StaleReport; readonly error?: Error }>({})
  const { project, database, namespace } = place
  const current = epoch.value
  useEffect(() => setAnswer({}), [project, database, namespace, gql, current])
  useEffect(() => {
    if (gql === '') return
    const abort = new AbortController()
    const body = { project, database, namespace, gql }
    postJson<StaleReport>('/emulator/staleness', body, { signal: abort.signal }).then(
      (report) => setAnswer({ report }),
      (error: Error) => {
        if (!abort.signal.aborted && !(error instanceof ServerGone)) setAnswer({ error })
      },
    )
    return () => abort.abort()
  }, [project, database, namespace, gql, turn, current])
  return { report: answer.report, error: answer.error }
}
