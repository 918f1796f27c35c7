/** One table as what it is: sorted rows, with the boundaries of tablets between them. */

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { visibleText } from '../../model/visible-text.ts'
import { type Place, shortRow, valueText } from './row-text.ts'
import { hueOf, type LitRow, type StepName } from './steps.ts'
import type { RowWindow, TableRow, Tablet } from './table-window.ts'

export interface PaneProps {
  readonly table: string
  /** The step of a commit that writes it. */
  readonly step: StepName | undefined
  readonly about: string
  /** Why there is no row, if there is none. */
  readonly none: string | undefined
  readonly rows: RowWindow
  readonly lit: ReadonlyMap<string, LitRow> | undefined
  /** Rows of the entity that was asked for. */
  readonly marked: ReadonlySet<string>
  readonly form: 'words' | 'hex'
  readonly place: Place
  /** The row that is to be seen; a new object asks anew. */
  readonly wanted: { readonly rowKey: string } | undefined
  readonly isChosen: boolean
  /** The user scrolls. */
  readonly onScrolled: () => void
}

/** So near to an end more rows are read, in pixels. */
const nearEnd = 240

/** Drawn anew only when something of it is another: what happens in one table leaves the others alone. */
export function TablePane(props: PaneProps) {
  const { rows, lit, marked, form, place, wanted, isChosen } = props
  return useMemo(
    () => <Pane {...props} />,
    [rows, rows.revision, lit, marked, form, place.project, place.database, place.namespace, wanted, isChosen],
  )
}

function Pane(props: PaneProps) {
  const { table, step, about, none = '', rows, lit, marked, form, place, isChosen, onScrolled } = props
  const list = useRef<HTMLElement>(null)
  useStillRows(list, rows, props.wanted)
  const onScroll = (): void => {
    const element = list.current
    if (element === null) return
    if (element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd) void rows.next()
    if (element.scrollTop < nearEnd) void rows.previous()
  }
  const shown = withDeleted(rows.rows, lit)
  return (
    <div class={`table-pane clip grow ${isChosen ? 'is-chosen' : ''}`} data-table={table}>
      <PaneHead table={table} step={step} about={about} rows={rows} />
      <ErrorNote error={rows.error} onRetry={() => void rows.refresh()} />
      <section
        ref={list}
        class="table-rows relative small grow"
        aria-label={`Rows of ${table}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        tabIndex={0}
        onScroll={onScroll}
        onWheel={onScrolled}
        onPointerDown={onScrolled}
        onKeyDown={onScrolled}
      >
        {shown.length === 0 && (
          <p class="muted p-2">{rows.isLoaded && !rows.isReading ? `No row. ${none}` : 'Reading …'}</p>
        )}
        <ol>
          {shown.flatMap((row, i) => {
            const tablet = tabletBefore(rows.tablets, shown[i - 1]?.rowKey, row.rowKey)
            const line = (
              <Row
                key={row.rowKey}
                row={row}
                form={form}
                project={place.project}
                database={place.database}
                namespace={place.namespace}
                lit={lit?.get(row.rowKey)?.step}
                isDeleted={lit?.get(row.rowKey)?.isDeleted === true}
                isMarked={marked.has(row.rowKey)}
              />
            )
            if (tablet === undefined) return [line]
            const border = (
              <li key={`tablet ${tablet.id}`} class="tablet-line row muted nowrap">
                tablet {tablet.id} on server {tablet.server}
              </li>
            )
            return [border, line]
          })}
        </ol>
      </section>
    </div>
  )
}

function PaneHead({ table, step, about, rows }: Pick<PaneProps, 'table' | 'step' | 'about' | 'rows'>) {
  const beyond = `${rows.rows.at(-1)?.rowKey.slice(0, 2) ?? '00'} ff ff ff`
  return (
    <header class="table-pane-head line-below stack small">
      <h2>
        {step !== undefined && (
          <span class={`step-tag tiny ${hueOf[step]}`} title={step === 'log' ? about : `written by milestone ${step}`}>
            {step}
          </span>
        )}
        {table}
      </h2>
      <span class="muted cut" title={about}>
        {about}
      </span>
      <span class="table-pane-ends">
        <Button label="⤒" look="quiet" onClick={() => void rows.open()} aria-label={`First rows of ${table}`} />
        <Button
          label="⤓"
          look="quiet"
          disabled={rows.rows.length === 0}
          onClick={() => void rows.openEnd(beyond)}
          aria-label={`Last rows of ${table}`}
        />
      </span>
    </header>
  )
}

interface RowProps extends Place {
  readonly row: TableRow
  readonly form: 'words' | 'hex'
  readonly lit: StepName | undefined
  readonly isDeleted: boolean
  readonly isMarked: boolean
}

/** Drawn anew only when something of it is another: there are a thousand on the page. */
function Row({ row, form, lit, isDeleted, isMarked, project, database, namespace }: RowProps) {
  return useMemo(() => {
    const place = { project, database, namespace }
    const text = visibleText(form === 'hex' ? row.rowKey : shortRow(row.row, place))
    const value = visibleText(valueText(row.value))
    const classes = [
      'table-row line-below cut',
      lit === undefined ? '' : `is-lit ${hueOf[lit]}`,
      isMarked ? 'is-marked' : '',
    ]
    return (
      <li class={classes.join(' ')} data-row={row.rowKey} data-lit={lit} title={`${text}\n${value}`}>
        {lit !== undefined && (
          <span class={`step-tag tiny ${hueOf[lit]}`}>
            {lit}
            {isDeleted && ' deleted'}
          </span>
        )}
        {isMarked && <span class="visually-hidden">Row of the entity: </span>}
        <bdi class={`mono ${isDeleted ? 'is-deleted' : ''}`}>{text}</bdi>
        {value !== '' && <bdi class="muted ml-2">{value}</bdi>}
      </li>
    )
  }, [row.row, row.rowKey, row.value, form, lit, isDeleted, isMarked, project, database, namespace])
}

/** The tablet that begins between two rows; before the first row shown the one that it lies in. */
function tabletBefore(tablets: readonly Tablet[], before: string | undefined, row: string): Tablet | undefined {
  return tablets.findLast(({ start }) => start <= row && (before === undefined || start > before))
}

/** The rows with those among them that were just deleted. */
function withDeleted(rows: readonly TableRow[], lit: ReadonlyMap<string, LitRow> | undefined): readonly TableRow[] {
  const known = new Set(rows.map(({ rowKey }) => rowKey))
  const gone = [...(lit ?? [])].flatMap(([rowKey, { row, isDeleted }]) =>
    isDeleted && !known.has(rowKey) ? [{ row, rowKey, value: '' }] : [],
  )
  if (gone.length === 0) return rows
  return [...rows, ...gone].sort((a, b) => (a.rowKey < b.rowKey ? -1 : 1))
}

/** Keeps the rows that are seen in their place when rows come before them, and brings a row into sight that is wanted. */
function useStillRows(
  list: { readonly current: HTMLElement | null },
  rows: RowWindow,
  wanted: { readonly rowKey: string } | undefined,
): void {
  const anchor = useRef<{ readonly rowKey: string; readonly top: number } | undefined>(undefined)
  const seen = useRef<object | undefined>(undefined)
  const wasAtStart = useRef(true)
  // Before the new rows are drawn: which row is at the top, and where.
  const element = list.current
  if (element !== null) anchor.current = topRow(element)
  useLayoutEffect(() => {
    const region = list.current
    if (region === null) return
    const lines = region.querySelectorAll<HTMLElement>('[data-row]')
    const lineOf = (rowKey: string) => [...lines].find((line) => line.dataset['row'] === rowKey)
    if (wanted !== undefined && seen.current !== wanted) {
      const line = lineOf(wanted.rowKey)
      if (line !== undefined) {
        seen.current = wanted
        const isSeen =
          line.offsetTop >= region.scrollTop && line.offsetTop < region.scrollTop + region.clientHeight - 30
        if (!isSeen) region.scrollTop = Math.max(0, line.offsetTop - 60)
        return
      }
    }
    const line = anchor.current === undefined ? undefined : lineOf(anchor.current.rowKey)
    if (line !== undefined && anchor.current !== undefined) {
      const moved = line.offsetTop - region.scrollTop - anchor.current.top
      // At the start of a table a new first row is shown.
      if (moved !== 0 && (region.scrollTop > 0 || !wasAtStart.current)) region.scrollTop += moved
    }
    wasAtStart.current = rows.atStart
  }, [rows.rows, wanted])
}

function topRow(region: HTMLElement): { readonly rowKey: string; readonly top: number } | undefined {
  for (const line of region.querySelectorAll<HTMLElement>('[data-row]')) {
    if (line.offsetTop + line.offsetHeight <= region.scrollTop) continue
    return { rowKey: line.dataset['row'] ?? '', top: line.offsetTop - region.scrollTop }
  }
  return undefined
}
