/** The difference between two states of an entity, a line for each place that differs. */
import type { Difference } from '../model/entity-difference.ts'
import { LongText, safeText, useFirst } from './parts.tsx'
import { Table } from './table.tsx'

/** @param props - `before` and `after` are the names of the two states */
export function DifferenceList(props: Readonly<{ differences: readonly Difference[]; before: string; after: string }>) {
  const { differences, before, after } = props
  const { shown, rest } = useFirst(differences, 'differences')
  if (differences.length === 0) return <p class="muted">Both have the same properties.</p>
  const state = (Mark: 'del' | 'ins', text: string | undefined) =>
    text === undefined ? (
      <span class="muted">absent</span>
    ) : (
      <Mark class={Mark === 'del' ? 'bad' : 'good no-underline'}>
        <LongText text={text} />
      </Mark>
    )
  return (
    <div class="difference-list sideways breaks">
      <Table
        rows={shown}
        keyOf={({ path }) => path}
        columns={[
          { title: 'Property', cell: ({ path }) => safeText(path) },
          { title: before, cell: (one) => state('del', one.before) },
          { title: after, cell: (one) => state('ins', one.after) },
        ]}
      />
      {rest}
    </div>
  )
}
