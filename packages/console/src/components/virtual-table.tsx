/**
 * A table of any length: only the rows in sight are in the document. A grid for keyboard and screen readers.
 *
 *   arrows        the active row and column          Enter, F2, double click   opens the cell (or a click)
 *   PageUp/Down   a viewport of rows                 Space                     selects the row
 *   Home, End     the first and the last row         Ctrl+A                    selects all rows
 *   Shift with Space, ArrowUp and ArrowDown: the rows from the one that was selected last
 *
 * The grid itself has the focus and names its active cell; Tab leaves it. When rows come above the viewport (`shift`), the rows in sight
 * stay where they are, and so does the active one. Another list begins at its top, however far the one before was scrolled. A shade on the
 * right edge tells of columns beyond it.
 */
// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one are not laid out as a table, and then lose its roles
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active cell
import type { ComponentChildren, TargetedEvent, TargetedKeyboardEvent } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { rowWindow, scrollTopFor } from '../model/row-window.ts'

export interface TableColumn<Row> {
  readonly id: string
  readonly title: ComponentChildren
  /** A track of a CSS grid: `12ch`, `minmax(20ch, 1fr)`. */
  readonly width: string
  /** It is left out of a table narrower than so many pixels. */
  readonly widthMin?: number
  readonly cell: (row: Row, index: number) => ComponentChildren
  readonly isNumber?: boolean
  /** Present where a click on the title sorts. */
  readonly sorted?: 'ascending' | 'descending' | 'none'
}

interface VirtualTableProps<Row> {
  readonly label: string
  readonly columns: readonly TableColumn<Row>[]
  /** Names the list: with another name it is another list. */
  readonly list: unknown
  readonly count: number
  /** `false` while more rows than `count` may follow. */
  readonly isComplete?: boolean
  /** `undefined` while the row is being read. */
  readonly rowAt: (index: number) => Row | undefined
  readonly onView?: (first: number, last: number) => void
  readonly onOpen?: (row: Row, columnId: string) => void
  readonly isOpenedByClick?: boolean
  readonly onKey?: (key: string, row: Row, columnId: string) => void
  readonly onSort?: (columnId: string) => void
  readonly isSelected?: (row: Row) => boolean
  /** @param isRange - with the rows from the one that was selected last */
  readonly onSelect?: (row: Row, index: number, isRange: boolean) => void
  readonly onSelectAll?: () => void
  readonly isFresh?: (row: Row) => boolean
  /** Rows that came above the viewport less those that went, since the begin. */
  readonly shift?: number
}

const rowHeight = 30
const headHeight = 32

/** In pixels, and whether columns are beyond the right edge. */
const firstPlace = { scrollTop: 0, height: 600, width: 0, hasMore: false }
type Place = Readonly<typeof firstPlace>

interface Active {
  readonly row: number
  readonly column: number
}

export function VirtualTable<Row>({ columns: all, ...given }: VirtualTableProps<Row>) {
  const { list, count, isComplete = true, onView, shift = 0 } = given
  const element = useRef<HTMLDivElement>(null)
  const id = useId()
  const [place, setPlace] = useState<Place>(firstPlace)
  const columns = all.filter(({ widthMin = 0 }) => place.width >= widthMin)
  const props = { ...given, columns }
  const [active, setActive] = useState<Active>({ row: 0, column: 0 })
  const viewport = { ...place, count, rowHeight }
  const { first, last, top, contentHeight } = rowWindow(viewport)
  usePlace(element, setPlace)
  useShift(element, { list, shift }, setActive)
  useEffect(() => onView?.(first, last), [first, last, onView])
  const activeRow = Math.min(active.row, count - 1)
  const move = (row: number, column: number): void => {
    const within = (place: number, length: number): number => Math.max(0, Math.min(place, length - 1))
    const next = { row: within(row, count), column: within(column, columns.length) }
    setActive(next)
    if (element.current !== null) element.current.scrollTop = scrollTopFor(next.row, viewport)
    requestAnimationFrame(() => showColumn(element.current, next.column))
  }
  const page = Math.max(1, Math.floor(place.height / rowHeight) - 1)
  const cellId = (row: number, column: number): string => `${id}-${row}-${column}`
  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
  const isInSight = activeRow >= first && activeRow <= last
  return (
    <div
      ref={element}
      class={`virtual-table box grow scrolls relative ${place.hasMore ? 'has-more' : ''}`}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={isComplete ? count + 1 : -1}
      aria-colcount={columns.length}
      aria-multiselectable={props.onSelect === undefined ? undefined : true}
      aria-activedescendant={isInSight ? cellId(activeRow, active.column) : undefined}
      style={{ '--columns': columns.map(({ width }) => width).join(' ') }}
      onKeyDown={(event) => onKey(event, props, { row: activeRow, column: active.column }, page, move)}
    >
      <Head {...props} />
      <div
        class="virtual-table-body relative"
        role="rowgroup"
        style={{ height: `${contentHeight}px`, minWidth: 'max-content' }}
      >
        {indexes.map((index, i) => (
          <TableRow
            key={index}
            props={props}
            index={index}
            top={top + i * rowHeight}
            activeColumn={index === activeRow ? active.column : undefined}
            cellId={cellId}
            onActivate={(column) => setActive({ row: index, column })}
          />
        ))}
      </div>
    </div>
  )
}

function onKey<Row>(
  event: TargetedKeyboardEvent<HTMLDivElement>,
  props: VirtualTableProps<Row>,
  { row, column }: Active,
  page: number,
  move: (row: number, column: number) => void,
): void {
  // Controls in cells and in the head have keys of their own.
  if (event.target !== event.currentTarget || event.altKey) return
  const { columns, rowAt, onOpen, onKey: onOther, onSelect, onSelectAll } = props
  const id = columns[column]?.id ?? ''
  const withRow = (index: number, action: (row: Row, index: number) => void): void => {
    const found = rowAt(index)
    if (found !== undefined) action(found, index)
  }
  const step = (by: number): void => {
    move(row + by, column)
    if (event.shiftKey) withRow(row + by, (one, index) => onSelect?.(one, index, true))
  }
  const open = (): void => withRow(row, (one) => onOpen?.(one, id))
  const plain: Readonly<Record<string, () => void>> = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    PageDown: () => move(row + page, column),
    PageUp: () => move(row - page, column),
    Home: () => move(0, column),
    End: () => move(props.count - 1, column),
    ArrowRight: () => move(row, column + 1),
    ArrowLeft: () => move(row, column - 1),
    Enter: open,
    F2: open,
    ' ': () => withRow(row, (one, index) => onSelect?.(one, index, event.shiftKey)),
  }
  const isCommand = event.ctrlKey || event.metaKey
  const action = isCommand ? (event.key === 'a' ? onSelectAll : undefined) : plain[event.key]
  if (action !== undefined) {
    event.preventDefault()
    action()
  } else if (!isCommand) withRow(row, (one) => onOther?.(event.key, one, id))
}

function showColumn(element: HTMLDivElement | null, column: number): void {
  element
    ?.querySelector(`[role="columnheader"]:nth-child(${column + 1})`)
    ?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
}

function usePlace(element: { current: HTMLDivElement | null }, setPlace: (place: Place) => void): void {
  useLayoutEffect(() => {
    const grid = element.current
    if (grid === null) return
    const read = (): void =>
      setPlace({
        scrollTop: grid.scrollTop,
        height: Math.max(rowHeight, grid.clientHeight - headHeight),
        width: grid.clientWidth,
        hasMore: grid.scrollLeft + grid.clientWidth < grid.scrollWidth - 1,
      })
    const observer = new ResizeObserver(read)
    observer.observe(grid)
    // The head is as wide as its columns.
    if (grid.firstElementChild !== null) observer.observe(grid.firstElementChild)
    grid.addEventListener('scroll', read, { passive: true })
    read()
    return () => {
      observer.disconnect()
      grid.removeEventListener('scroll', read)
    }
  }, [])
}

function useShift(
  element: { current: HTMLDivElement | null },
  now: { readonly list: unknown; readonly shift: number },
  setActive: (change: (active: Active) => Active) => void,
): void {
  const last = useRef(now)
  useLayoutEffect(() => {
    const isAnother = now.list !== last.current.list
    const by = now.shift - last.current.shift
    last.current = now
    if (element.current === null) return
    if (isAnother) {
      element.current.scrollTop = 0
      setActive(({ column }) => ({ row: 0, column }))
    } else if (by !== 0) {
      element.current.scrollTop += by * rowHeight
      setActive(({ row, column }) => ({ row: Math.max(0, row + by), column }))
    }
  }, [now.list, now.shift])
}

function Head<Row>({ columns, onSort }: VirtualTableProps<Row>) {
  return (
    <div class="virtual-table-head shade line-below" role="rowgroup">
      <div role="row" aria-rowindex={1} class="virtual-table-row">
        {columns.map(({ id, title, sorted, isNumber }, i) => (
          <div
            key={id}
            role="columnheader"
            aria-colindex={i + 1}
            aria-sort={sorted}
            class={`virtual-table-cell cut muted strong ${isNumber === true ? 'number' : ''}`}
          >
            {sorted === undefined ? (
              title
            ) : (
              <button type="button" class="virtual-table-sort cell-button" onClick={() => onSort?.(id)}>
                {title}
                <span aria-hidden="true" class="tiny">
                  {sorted === 'none' ? '' : sorted === 'ascending' ? ' ▲' : ' ▼'}
                </span>
              </button>
            )}
          </div>
        ))}
      </div>
    </div>
  )
}

interface RowProps<Row> {
  readonly props: VirtualTableProps<Row>
  readonly index: number
  readonly top: number
  readonly activeColumn: number | undefined
  readonly cellId: (row: number, column: number) => string
  readonly onActivate: (column: number) => void
}

function TableRow<Row>({ props, index, top, activeColumn, cellId, onActivate }: RowProps<Row>) {
  const { columns, rowAt, isFresh, isSelected, onOpen, isOpenedByClick = false } = props
  const row = rowAt(index)
  const state = [
    activeColumn === undefined ? '' : 'is-active',
    row === undefined ? 'is-absent' : isFresh?.(row) === true ? 'is-fresh' : '',
  ]
  const columnOf = ({ target }: TargetedEvent<HTMLDivElement>): number => {
    const cell = target instanceof Element ? target.closest('[role="gridcell"]') : null
    return Math.max(0, Number(cell?.getAttribute('aria-colindex') ?? 1) - 1)
  }
  const open = (event: TargetedEvent<HTMLDivElement>): void => {
    if (row !== undefined) onOpen?.(row, columns[columnOf(event)]?.id ?? '')
  }
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={row === undefined ? undefined : isSelected?.(row)}
      aria-busy={row === undefined ? true : undefined}
      class={`virtual-table-row absolute line-below ${state.join(' ')}`}
      style={{ transform: `translateY(${top}px)` }}
      onMouseDown={(event) => onActivate(columnOf(event))}
      {...{ [isOpenedByClick ? 'onClick' : 'onDblClick']: open }}
    >
      {columns.map((column, i) => (
        <div
          key={column.id}
          id={cellId(index, i)}
          role="gridcell"
          aria-colindex={i + 1}
          class={`virtual-table-cell relative cut ${column.isNumber === true ? 'number' : ''} ${activeColumn === i ? 'is-active' : ''}`}
        >
          {row === undefined ? i === 0 ? <span class="muted">…</span> : null : column.cell(row, index)}
        </div>
      ))}
    </div>
  )
}
