/** The difference between two states of an entity, a line for each place that differs. */
import type { Difference } from '../model/entity-difference.ts'
import { SafeText } from './safe-text.tsx'
import { LongText, useFirst } from './shortened.tsx'

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
      <table>
        <thead>
          <tr>
            <th scope="col">Property</th>
            <th scope="col">{before}</th>
            <th scope="col">{after}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one.path}>
              <th scope="row">
                <SafeText text={one.path} />
              </th>
              <td>
                {one.before === undefined ? (
                  <span class="muted">absent</span>
                ) : (
                  <del>
                    <LongText text={one.before} />
                  </del>
                )}
              </td>
              <td>
                {one.after === undefined ? (
                  <span class="muted">absent</span>
                ) : (
                  <ins>
                    <LongText text={one.after} />
                  </ins>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest}
    </div>
  )
}
