/** The table of a query's results: entities, keys, or the rows of a projection. */
import { printGql, type SelectStatement } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { EntityResult } from '../../api/datastore.ts'
import { ValueInputs } from '../../components/entity-editor/value-inputs.tsx'
import { safeText } from '../../components/parts.tsx'
import { type TableColumn, VirtualTable } from '../../components/virtual-table.tsx'
import { formatKeyPath } from '../../model/key-text.ts'
import { counted } from '../../model/numbers.ts'
import { addressOfChildren, type Filter, filterFor, withFilter } from '../../model/query-form.ts'
import { navigate } from '../../model/route.ts'
import { addressOfEntity, type EntityScope } from '../../model/scope.ts'
import { sortedBy } from '../../model/statements.ts'
import type { ValueForm } from '../../model/typed-json.ts'
import { problemIn } from '../../model/value-problems.ts'
import { type ApiValue, propertyOf, valueWords } from '../../model/value-words.ts'
import { addressOfOpened, type Go, type Place } from './address.ts'
import { editedValue, editOf, editProblemId, formOfCell, setCell } from './edits.ts'
import { type Column, decimalsOf, keyTextOf, type Results, type Selection } from './results.ts'

export interface ResultsTableProps {
  readonly place: Place
  readonly statement: SelectStatement
  readonly results: Results
  readonly shown: readonly string[]
  readonly selection: Selection
  readonly go: Go
  readonly onRun: (gql: string) => void
}

const unknown = { width: 12, type: 'null', filterType: 'null', decimals: 0 } as const

export function ResultsTable(props: ResultsTableProps) {
  const { place: scope, statement, results, selection, go, onRun } = props
  const { pages } = results
  const onView = useCallback((first: number, last: number) => pages.want(first, Math.max(first, last)), [pages])
  const [editing, setEditing] = useState<Editing | undefined>(undefined)
  const met = new Map(results.columns.map((column) => [column.property, column]))
  /** A cell of a whole entity is edited in its place, if it has room. */
  const open = (row: EntityResult, columnId: string): void => {
    const column = statement.fields.length === 0 ? met.get(columnId) : undefined
    if (column === undefined || formOfCell(row, column, scope) === undefined) go(openedIn(row))
    else setEditing({ key: keyTextOf(row), property: columnId, before: editOf(scope, row)?.forms.get(columnId) })
  }
  const onFilter = (filter: Filter): void => {
    const filtered = withFilter(statement, filter)
    if (filtered !== undefined) onRun(printGql(filtered))
  }
  const goOn = (key: string, { entity }: EntityResult, columnId: string): void => {
    const value = propertyOf(entity.properties, columnId)
    const filter = value === undefined ? undefined : filterFor(columnId, value, scope)
    if (key === 'f' && filter !== undefined) onFilter(filter)
    if (key === 'o' && value?.keyValue !== undefined) navigate(addressOfOpened(scope, value.keyValue))
    if (key === 'c') navigate(addressOfChildren(scope, formatKeyPath(entity.key.path)))
  }
  const cell = (row: EntityResult, column: Column) => (
    <PropertyCell {...{ scope, row, column, editing, onFilter }} onEdited={() => setEditing(undefined)} />
  )
  return (
    <VirtualTable
      label="Results"
      columns={columnsOf(props, met, cell)}
      list={pages}
      count={pages.count}
      isComplete={pages.isComplete}
      rowAt={(index) => pages.row(index)}
      onView={onView}
      onOpen={open}
      onKey={goOn}
      onSort={(property) => onRun(printGql(sortedBy(statement, property)))}
      isSelected={selection.has}
      onSelect={selection.toggle}
      onSelectAll={selection.toggleAll}
      isFresh={(row) => pages.fresh.has(keyTextOf(row))}
      shift={pages.shift}
    />
  )
}

const openedIn = (row: EntityResult) => ({ opened: keyTextOf(row) })

function columnsOf(
  { place: scope, statement, results: { pages, keyWidth }, shown, selection, go }: ResultsTableProps,
  met: ReadonlyMap<string, Column>,
  cell: (row: EntityResult, column: Column) => ComponentChildren,
): readonly TableColumn<EntityResult>[] {
  const [order] = statement.order
  const sortOf = (property: string) => (order?.property === property ? order.direction : 'none')
  return [
    {
      id: ' select',
      title: (
        <input
          type="checkbox"
          aria-label={`Select all that were read, ${counted(pages.rowsIn(0, pages.count).length)}`}
          checked={selection.areAll}
          onClick={selection.toggleAll}
        />
      ),
      width: '34px',
      cell: (row, index) => (
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${keyTextOf(row)}`}
          checked={selection.has(row)}
          onClick={({ shiftKey }) => selection.toggle(row, index, shiftKey)}
        />
      ),
    },
    {
      id: '__key__',
      title: 'key',
      width: `calc(${Math.max(12, keyWidth)}ch + 104px)`,
      sorted: sortOf('__key__'),
      cell: (row) => <KeyCell scope={scope} row={row} onOpen={() => go(openedIn(row))} />,
    },
    ...shown.map((property): TableColumn<EntityResult> => {
      const column = met.get(property) ?? { property, ...unknown }
      return {
        id: property,
        title: (
          <>
            {safeText(property)} <span class="data-type tiny muted light">{column.type}</span>
          </>
        ),
        width: `calc(${column.width}ch + 28px)`,
        isNumber: column.type === 'integer' || column.type === 'double',
        sorted: sortOf(property),
        cell: (row) => cell(row, column),
      }
    }),
  ]
}

type KeyCellProps = Readonly<{ scope: EntityScope; row: EntityResult; onOpen: () => void }>

function KeyCell({ scope, row, onOpen }: KeyCellProps) {
  const text = keyTextOf(row)
  return (
    <span class="data-key row">
      <button type="button" class="cell-button accent mono" tabIndex={-1} title={`Open ${text}`} onClick={onOpen}>
        {safeText(text)}
      </button>
      <span class="data-key-links small ml-auto">
        <a tabIndex={-1} href={addressOfChildren(scope, text)} title="Entities below this one (c)">
          children
        </a>{' '}
        <a tabIndex={-1} href={addressOfEntity(scope, text)} title="Rows, log and versions of this entity">
          inside
        </a>
      </span>
    </span>
  )
}

interface Editing {
  readonly key: string
  readonly property: string
  /** Its change before, to which Escape goes back. */
  readonly before: ValueForm | undefined
}

interface PropertyCellProps {
  readonly scope: EntityScope
  readonly row: EntityResult
  readonly column: Column
  readonly editing: Editing | undefined
  readonly onFilter: (filter: Filter) => void
  readonly onEdited: () => void
}

function PropertyCell(props: PropertyCellProps) {
  const { scope, row, column, editing, onFilter } = props
  const { property } = column
  const stored = propertyOf(row.entity.properties, property)
  const edit = editOf(scope, row)
  const isEditing = editing?.property === property && editing.key === keyTextOf(row)
  const form = isEditing ? (edit?.forms.get(property) ?? formOfCell(row, column, scope)) : undefined
  if (form !== undefined) return <CellEditor {...props} form={form} />
  const changed = editedValue(edit, property)
  if (changed !== undefined) {
    const before = stored === undefined ? 'no value' : valueWords(stored).words
    return (
      <span class="data-changed" title={`Not saved; before: ${before}`}>
        <ValueCell scope={scope} value={changed} column={column} />
      </span>
    )
  }
  if (stored === undefined) return <span class="visually-hidden">no value</span>
  const filter = filterFor(property, stored, scope)
  return (
    <>
      <ValueCell scope={scope} value={stored} column={column} />
      {filter !== undefined && (
        <button
          type="button"
          class="data-filter shade absolute small muted"
          tabIndex={-1}
          title={`Only entities with this ${property} (f)`}
          onClick={() => onFilter(filter)}
        >
          =
        </button>
      )}
    </>
  )
}

interface ValueCellProps extends Pick<PropertyCellProps, 'scope' | 'column'> {
  readonly value: ApiValue
}

/** The type stands in the head of the column; a value of another one has its own. A key leads to its entity. */
function ValueCell({ scope, value, column }: ValueCellProps) {
  const known = valueWords(value)
  const { type, words } = known
  const isOther = type !== column.type && type !== 'null'
  const isNumber = type === 'integer' || type === 'double'
  const behind = column.decimals - decimalsOf(known)
  const text = type === 'string' && words === '' ? <span class="muted">empty text</span> : safeText(words)
  return (
    <span
      class={`data-value ${isNumber ? 'mono' : ['null', 'boolean'].includes(type) ? 'muted' : ''}`}
      style={isNumber && behind > 0 ? { paddingRight: `${behind}ch` } : undefined}
      title={value.excludeFromIndexes === true ? 'not indexed' : undefined}
    >
      {isOther && <span class="data-type tiny muted light">{type}</span>}
      {value.keyValue === undefined ? (
        text
      ) : (
        <a tabIndex={-1} href={addressOfOpened(scope, value.keyValue)} title={`Open ${words} (o)`}>
          {text}
        </a>
      )}
      {value.excludeFromIndexes === true && <span class="ml-2 tiny muted">not indexed</span>}
    </span>
  )
}

/** A value edited in its cell: Enter, Tab and leaving it keep the change, Escape takes it back. */
function CellEditor({ form, ...props }: PropertyCellProps & { readonly form: ValueForm }) {
  const { scope, row, editing, onEdited } = props
  const { property: name } = props.column
  const box = useRef<HTMLSpanElement>(null)
  // The next key is for the value already: the grid has keys of its own.
  useLayoutEffect(() => {
    const input = box.current?.querySelector<HTMLInputElement>('input, select, textarea')
    input?.focus()
    input?.select?.()
  }, [])
  const onKeyDown = (event: KeyboardEvent): void => {
    const isEnd = event.key === 'Escape' || event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)
    // Enter may also end a word of an input method.
    if (!isEnd || event.isComposing || event.target instanceof HTMLButtonElement) return
    event.preventDefault()
    box.current?.closest<HTMLElement>('[role="grid"]')?.focus()
    if (event.key === 'Escape') setCell(scope, row, name, editing?.before)
    onEdited()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys and clicks of the control within end here
    <span
      ref={box}
      class="cell-editor ground shadow absolute"
      onKeyDown={onKeyDown}
      onDblClick={(event) => event.stopPropagation()}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && box.current?.contains(relatedTarget) === false) onEdited()
      }}
    >
      <ValueInputs
        value={form}
        name={name}
        home={scope}
        problemId={problemIn(form) && editProblemId}
        onChange={(part) => setCell(scope, row, name, { ...form, ...part })}
      />
    </span>
  )
}
