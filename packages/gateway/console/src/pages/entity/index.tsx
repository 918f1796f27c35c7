/** Entity, inside: the rows that one entity has in each of the tables. */
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { getJson } from '../../api/http.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import type { PageProps } from '../../model/route.ts'

interface RowsReport {
  readonly rows: readonly {
    readonly table: string
    readonly row: string
    readonly rowKey: string
    readonly value: string
  }[]
}

export default function EntityPage({ route }: PageProps) {
  const [project = '', key = ''] = route.parts
  const [report, setReport] = useState<RowsReport | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  const query = new URLSearchParams({
    project,
    database: route.query.get('database') ?? '',
    namespace: route.query.get('namespace') ?? '',
    key,
  }).toString()
  const current = epoch.value
  useEffect(() => {
    if (key === '') return
    const abort = new AbortController()
    setError(undefined)
    getJson<RowsReport>(`/emulator/inspect/rows?${query}`, { signal: abort.signal }).then(
      setReport,
      (reason: Error) => {
        if (!abort.signal.aborted) setError(reason)
      },
    )
    return () => abort.abort()
  }, [query, current])
  if (key === '') {
    return (
      <section class="page">
        <EmptyState title="No entity is chosen">Open one in Data.</EmptyState>
      </section>
    )
  }
  return (
    <section class="page">
      <h1>
        <SafeText text={key} />
      </h1>
      {error !== undefined && <ErrorNote error={error} what="The rows could not be read" />}
      {report?.rows.map(({ row, rowKey }) => (
        <p key={rowKey}>
          <SafeText text={row} />
        </p>
      ))}
    </section>
  )
}
