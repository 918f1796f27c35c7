/** The difference between two states of an entity, a line for each place that differs. */

import type { Difference } from '../model/entity-difference.ts'
import { LongText, safeText, useFirst } from './parts.tsx'
import { Table } from './table.tsx'

interface DifferenceListProps {
  readonly differences: readonly Difference[]
  /** Names of the two states. */
  readonly before: string
  readonly after: string
}

export function DifferenceList({ differences, before, after }: DifferenceListProps) {
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
    <div class="difference-list sideways">
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
