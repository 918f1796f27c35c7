/** A query that runs again at each step: its answer, and how that differs from what is committed. */
import type { StaleReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { Editor } from '../../components/editor/editor.tsx'
import { useNewValue } from '../../components/hooks.ts'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { Table } from '../../components/table.tsx'
import { useLoaded } from '../../components/use-server.ts'
import type { EntityScope } from '../../model/scope.ts'
import { staleWords, summaryOf } from './staleness.ts'

const example = 'SELECT * FROM ToDo WHERE done = false'

interface PinnedQueryProps {
  readonly name: string
  readonly place: EntityScope
  readonly gql: string
  readonly turn: number
  readonly onRun: (gql: string) => void
}

export function PinnedQuery({ name, place, gql, turn, onRun }: PinnedQueryProps) {
  const [text, setText] = useState(gql)
  const gives = useNewValue(gql, setText)
  const { project, database, namespace } = place
  const { value: report, error } = useLoaded<StaleReport>(gql === '' ? undefined : '/emulator/staleness', {
    body: { project, database, namespace, gql },
    turn,
  })
  // The example in the empty field looks like a query that is there.
  const run = (): void => {
    const given = text.trim() || (gql === '' ? example : '')
    if (text.trim() === '') setText(given)
    gives(given)
    onRun(given)
  }
  return (
    <section class="panel pinned-query mb-3" aria-label={name}>
      <div class="toolbar mb-2">
        <h3>{name}</h3>
        <Button label={gql === '' ? 'Pin and run' : 'Run'} look="primary" title="Ctrl+Enter" onClick={run} />
        {gql !== '' && <Button label="Unpin" onClick={() => onRun('')} />}
      </div>
      <Editor
        language="gql"
        label={`GQL of ${name}`}
        value={text}
        placeholder={example}
        onRun={run}
        onChange={setText}
      />
      <ErrorNote error={error} what="The query cannot run" />
      {report !== undefined && <Answer report={report} />}
    </section>
  )
}

function Answer({ report }: { readonly report: StaleReport }) {
  const { words, isStale } = summaryOf(report)
  const rows = [...report.results, ...report.missing.map((one) => ({ ...one, state: 'missing' as const }))]
  return (
    <>
      <p role="status" class={`my-2 tag ${isStale ? 'warn' : 'good'}`}>
        {words}
      </p>
      {rows.length > 0 && (
        <Table
          class="answer small breaks whole"
          rows={rows}
          keyOf={({ key, properties, state }) => `${state} ${key} ${properties}`}
          mark={({ state }) => ({ class: `answer-${state}`, 'data-state': state })}
          columns={[
            { title: 'Key', cell: ({ key }) => safeText(key) },
            { title: 'Properties', cell: ({ properties }) => safeText(properties) },
            { title: 'Compared with what is committed', cell: (row) => safeText(staleWords(row)) },
          ]}
        />
      )}
      {report.more && <p class="muted">There are more results; the first 100 are compared.</p>}
    </>
  )
}
