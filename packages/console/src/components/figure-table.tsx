/** Figures by name: a table with one head of a row and numbers behind it. */
import type { ComponentChildren } from 'preact'

export interface FigureTableProps {
  /** Heads of the columns; the first is that of the names. */
  readonly columns: readonly string[]
  readonly rows: readonly FigureRow[]
  readonly class?: string
}

export interface FigureRow {
  readonly key: string
  /** Absent = the key. */
  readonly name?: ComponentChildren
  /** In words. */
  readonly figures: readonly string[]
}

export function FigureTable({ columns: [first, ...others], rows, class: style }: FigureTableProps) {
  return (
    <table class={style}>
      <thead>
        <tr>
          <th scope="col">{first}</th>
          {others.map((column, i) => (
            <th key={i} scope="col" class="number">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name = key, figures }) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            {figures.map((figure, i) => (
              <td key={i} class="number">
                {figure}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
