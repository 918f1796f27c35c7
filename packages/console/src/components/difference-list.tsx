/** The difference between two states of an entity, a line for each place that differs. */

import type { Difference } from '../model/entity-difference.ts'
import { LongText, SafeText, useFirst } from './parts.tsx'
import { Table } from './table.tsx'

export interface DifferenceListProps {
  readonly differences: readonly Difference[]
  /** Names of the two states. */
  readonly before: string
  readonly after: string
}

export function DifferenceList({ differences, before, after }: DifferenceListProps) {
  const { shown, rest } = useFirst(differences, 'differences')
  if (differences.length === 0) return <p class="muted">Both have the same properties.</p>
  return (
    <div class="difference-list">
      <Table
        rows={shown}
        keyOf={({ path }) => path}
        columns={[
          { title: 'Property', cell: ({ path }) => <SafeText text={path} /> },
          { title: before, cell: (one) => <State text={one.before} Mark="del" /> },
          { title: after, cell: (one) => <State text={one.after} Mark="ins" /> },
        ]}
      />
      {rest}
    </div>
  )
}

function State({ text, Mark }: Readonly<{ text: string | undefined; Mark: 'del' | 'ins' }>) {
  if (text === undefined) return <span class="muted">absent</span>
  return (
    <Mark>
      <LongText text={text} />
    </Mark>
  )
}
