/**
 * Tables of what is listed: a row for each item, the first cell of a row is its head.
 *
 *   <Table rows={snapshots} keyOf={({ name }) => name} columns={[
 *     { title: 'Snapshot', cell: ({ name }) => name },
 *     { title: 'Rows', isNumber: true, cell: ({ rows }) => counted(rows) },
 *   ]} />
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
}

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly class?: string | undefined
  readonly mark?: (row: Row) => object
  readonly none?: string
}

export function Table<Row>({ columns, rows, keyOf, class: style, mark, none }: TableProps<Row>) {
  return (
    <table class={style}>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }, i) => (
            <th key={i} scope="col" class={isNumber === true ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} {...mark?.(row)}>
            {columns.map(({ title, cell, isNumber }, i) =>
              i === 0 ? (
                <th key={i} scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={i} class={isNumber === true ? 'number' : undefined} data-label={title}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
        {rows.length === 0 && none !== undefined && (
          <tr>
            <td colSpan={columns.length}>{none}</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

interface FigureRow {
  readonly key: string
  /** Absent = the key. */
  readonly name?: ComponentChildren
  readonly figures: readonly string[]
}

interface FigureTableProps extends Pick<TableProps<FigureRow>, 'rows' | 'class'> {
  readonly columns: readonly string[]
}

/** Figures by name; the first column is that of the names. */
export function FigureTable({ columns: [first = '', ...others], ...rest }: FigureTableProps) {
  const figures = others.map((title, i): Column<FigureRow> => {
    return { title, isNumber: true, cell: (row) => row.figures[i] }
  })
  return (
    <Table
      keyOf={({ key }) => key}
      columns={[{ title: first, cell: ({ key, name = key }) => name }, ...figures]}
      {...rest}
    />
  )
}

type FoldedTableProps = Readonly<{ summary: string; label: string; table: () => FigureTableProps }>

export function FoldedTable({ summary, label, table }: FoldedTableProps) {
  return (
    <Folded summary={summary} class="small muted">
      {() => (
        <Scroll label={label}>
          <FigureTable {...table()} />
        </Scroll>
      )}
    </Folded>
  )
}

type FoldedProps = Readonly<{ summary: string; class: string; children: () => ComponentChildren }>

/** Figures that are put together only while they are unfolded: tables of all plots would be longer than the page. */
export function Folded({ summary, class: style, children }: FoldedProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class={style} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  )
}

type ScrollProps = Readonly<{ label: string; class?: string; children: ComponentChildren }>

/** A wide or long table in a box that scrolls, which the keyboard reaches. */
export function Scroll({ label, class: style = 'scroll', children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard.
    <section class={style} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
