/** What writes would do: their preview, taken anew a moment after each change of them, in a few words and table by table. */
import type { CommitPreview } from '@sixtables/engine'
import { type KeyedWrite, previewWrites } from '../api/entities.ts'
import { counted } from '../model/numbers.ts'
import type { EntityScope } from '../model/scope.ts'
import { safeText } from './parts.tsx'
import { FigureTable } from './table.tsx'
import { useLoaded } from './use-server.ts'

const waitMs = 250

/** The preview, or the API's refusal, of the writes as they are now; neither until it is there, and without writes. */
export function usePreview(scope: EntityScope, writes: readonly KeyedWrite[] | undefined) {
  const { value, error } = useLoaded<CommitPreview>(writes && JSON.stringify(writes), {
    read: async (_, options) => {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      options.signal?.throwIfAborted()
      return previewWrites(scope, writes ?? [], options)
    },
  })
  return { preview: error === undefined ? value : undefined, refusal: error }
}

/** `Writes 6 rows, deletes 2`; the log's own record is not counted. */
export function tallyInWords({ tables }: CommitPreview): string {
  const six = Object.entries(tables).filter(([table]) => table !== 'Log')
  const written = six.reduce((sum, [, counts]) => sum + counts.written, 0)
  const deleted = six.reduce((sum, [, counts]) => sum + counts.deleted, 0)
  const rows = (count: number): string => counted(count, 'row')
  if (written === 0 && deleted === 0) return 'Writes nothing'
  if (written === 0) return `Deletes ${rows(deleted)}`
  return deleted === 0 ? `Writes ${rows(written)}` : `Writes ${rows(written)}, deletes ${counted(deleted)}`
}

export function RowTally({ preview, summary }: { readonly preview: CommitPreview; readonly summary: string }) {
  const { tables, rows, moreRows = 0 } = preview
  return (
    <details class="row-tally">
      <summary class="strong">{summary}</summary>
      <FigureTable
        columns={['Table', 'Written', 'Deleted']}
        rows={Object.entries(tables).map(([table, { written, deleted }]) => ({
          key: table,
          figures: [counted(written), counted(deleted)],
        }))}
      />
      <ul class="row-tally-rows my-2 breaks">
        {rows.map(({ row, rowKey, deleted: isDeleted }) => (
          <li key={rowKey + String(isDeleted)}>
            <span class={isDeleted ? 'tag bad' : 'tag good'}>{isDeleted ? 'deletes' : 'writes'}</span>{' '}
            <code>{safeText(row)}</code>
          </li>
        ))}
        {moreRows > 0 && <li class="muted">and {counted(moreRows)} more</li>}
      </ul>
    </details>
  )
}
