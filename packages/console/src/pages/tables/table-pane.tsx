/** One table as what it is: sorted rows, with the boundaries of tablets between them. */
import { Fragment } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { isShared } from '../../components/shared-store.tsx'
import { visibleText } from '../../model/visible-text.ts'
import { shortRow, valueText } from './row-text.ts'
import { hueOf, type LitRow } from './steps.ts'
import type { RowWindow, TableRow, Tablet } from './table-window.ts'
import type { LiveTables, TableDefinition, View } from './use-live-tables.ts'

interface PaneProps {
  readonly table: TableDefinition
  readonly view: View
  readonly live: LiveTables
}

const aboutSharedLog =
  'Here the record of a commit is a cell in the row of its entity group: the page of an entity shows those of its group.'

/** So near to an end more rows are read, in pixels. */
const nearEnd = 240

export function TablePane({ table, view: { place, form, chosen }, live }: PaneProps) {
  const { name } = table
  const { marked } = live
  const list = useRef<HTMLElement>(null)
  const rows = live.windows.get(name) as RowWindow
  const lit = live.shown?.lit.get(name)
  useStillRows(list, rows, live.wanted.get(name))
  const onScrolled = (): void => live.follow(false)
  const onScroll = (): void => {
    const element = list.current
    if (element === null) return
    if (element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd) void rows.next()
    if (element.scrollTop < nearEnd) void rows.previous()
  }
  // Drawn anew only when something of them is another: a step in one table leaves the others alone.
  const lines = useMemo(() => {
    const shown = withDeleted(rows.rows, lit)
    return shown.map((row, i) => {
      const tablet = tabletBefore(rows.tablets, shown[i - 1]?.rowKey, row.rowKey)
      return (
        <Fragment key={row.rowKey}>
          {tablet !== undefined && (
            <li class="tablet-line row muted nowrap">
              tablet {tablet.id} on server {tablet.server}
            </li>
          )}
          <Row {...{ row, form, place }} lit={lit?.get(row.rowKey)} isMarked={marked.has(row.rowKey)} />
        </Fragment>
      )
    })
  }, [rows, rows.revision, lit, marked, form, place])
  const none = name === 'Log' && isShared() ? aboutSharedLog : ''
  return (
    <div class={`table-pane box clip grow ${name === chosen ? 'is-chosen' : ''}`} data-table={name}>
      <PaneHead {...table} rows={rows} />
      <ErrorNote error={rows.error} onRetry={() => void rows.refresh()} />
      <section
        ref={list}
        class="table-rows relative small grow"
        aria-label={`Rows of ${name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        tabIndex={0}
        onScroll={onScroll}
        onWheel={onScrolled}
        onPointerDown={onScrolled}
        onKeyDown={onScrolled}
      >
        {lines.length === 0 && <p class="muted p-2">{rows.isLoaded ? `No row. ${none}` : 'Reading …'}</p>}
        <ol>{lines}</ol>
      </section>
    </div>
  )
}

function PaneHead({ name, step, about, rows }: TableDefinition & { readonly rows: RowWindow }) {
  const beyond = `${rows.rows.at(-1)?.rowKey.slice(0, 2) ?? '00'} ff ff ff`
  return (
    <header class="table-pane-head line-below stack small">
      <h2>
        {step !== undefined && (
          <span class={`step-tag tiny ${hueOf[step]}`} title={step === 'log' ? about : `written by milestone ${step}`}>
            {step}
          </span>
        )}
        {name}
      </h2>
      <span class="muted cut" title={about}>
        {about}
      </span>
      <span class="table-pane-ends">
        <Button label="⤒" look="quiet" onClick={() => void rows.open()} aria-label={`First rows of ${name}`} />
        <Button
          label="⤓"
          look="quiet"
          disabled={rows.rows.length === 0}
          onClick={() => void rows.openEnd(beyond)}
          aria-label={`Last rows of ${name}`}
        />
      </span>
    </header>
  )
}

interface RowProps extends Pick<View, 'form' | 'place'> {
  readonly row: TableRow
  readonly lit: LitRow | undefined
  readonly isMarked: boolean
}

/** Drawn anew only when something of it is another: there are a thousand on the page. */
function Row({ row: { row, rowKey, value }, form, place, lit, isMarked }: RowProps) {
  const { step, isDeleted } = lit ?? { step: undefined, isDeleted: false }
  return useMemo(() => {
    const text = visibleText(form === 'hex' ? rowKey : shortRow(row, place))
    const words = visibleText(valueText(value))
    const hue = step === undefined ? '' : hueOf[step]
    const state = `${step === undefined ? '' : `is-lit ${hue}`} ${isMarked ? 'is-marked' : ''}`
    return (
      <li class={`table-row line-below cut ${state}`} data-row={rowKey} data-lit={step} title={`${text}\n${words}`}>
        {step !== undefined && (
          <span class={`step-tag tiny ${hue}`}>
            {step}
            {isDeleted && ' deleted'}
          </span>
        )}
        {isMarked && <span class="visually-hidden">Row of the entity: </span>}
        <bdi class={`mono ${isDeleted ? 'is-deleted' : ''}`}>{text}</bdi>
        {words !== '' && <bdi class="muted ml-2">{words}</bdi>}
      </li>
    )
  }, [row, rowKey, value, form, place, step, isDeleted, isMarked])
}

/** The tablet that begins between two rows; before the first row shown the one that it lies in. */
function tabletBefore(tablets: readonly Tablet[], before: string | undefined, row: string): Tablet | undefined {
  return tablets.findLast(({ start }) => start <= row && (before === undefined || start > before))
}

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
  const seen = useRef<object | undefined>(undefined)
  const wasAtStart = useRef(true)
  // Before the new rows are drawn: which row is at the top, and where.
  const anchor = useMemo(() => (list.current === null ? undefined : topRow(list.current)), [rows.rows, wanted])
  useLayoutEffect(() => {
    const region = list.current
    if (region === null) return
    const lineOf = (rowKey = '') => region.querySelector<HTMLElement>(`[data-row="${rowKey}"]`)
    const target = wanted === seen.current ? null : lineOf(wanted?.rowKey)
    if (target !== null) {
      seen.current = wanted
      const { scrollTop, clientHeight } = region
      const isSeen = target.offsetTop >= scrollTop && target.offsetTop < scrollTop + clientHeight - 30
      if (!isSeen) region.scrollTop = Math.max(0, target.offsetTop - 60)
      return
    }
    const line = lineOf(anchor?.rowKey)
    if (line !== null && anchor !== undefined) {
      const moved = line.offsetTop - region.scrollTop - anchor.top
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
