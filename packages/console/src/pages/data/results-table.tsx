/** The table of a query's results: entities, keys, or the rows of a projection. */
import type { SelectStatement } from '@sixtables/gateway/browser'
import { useCallback } from 'preact/hooks'
import type { EntityResult } from '../../api/datastore.ts'
import { SafeText } from '../../components/text.tsx'
import { type TableColumn, VirtualTable } from '../../components/virtual-table.tsx'
import { counted } from '../../model/numbers.ts'
import { addressOfEntity, type EntityScope } from '../../model/scope.ts'
import { type ApiKey, type ApiValue, propertyOf, valueWords } from '../../model/value-words.ts'
import { type Column, decimalsOf, type Results } from './results.ts'
import { keyTextOf, type Selection } from './selection.ts'

export interface ResultsTableProps {
  readonly scope: EntityScope
  readonly statement: SelectStatement
  readonly results: Results
  /** Properties that are shown, in their order. */
  readonly shown: readonly string[]
  readonly selection: Selection
  readonly onSort: (property: string) => void
  readonly onOpen: (key: ApiKey) => void
}

const unknown = { width: 12, type: 'null', filterType: 'null', decimals: 0 } as const

export function ResultsTable({ scope, statement, results, shown, selection, onSort, onOpen }: ResultsTableProps) {
  const { pages } = results
  const onView = useCallback((first: number, last: number) => pages.want(first, Math.max(first, last)), [pages])
  const sortOf = (property: string): 'ascending' | 'descending' | 'none' => {
    const [first] = statement.order
    return first?.property === property ? first.direction : 'none'
  }
  const met = new Map(results.columns.map((column) => [column.property, column]))
  const columns: TableColumn<EntityResult>[] = [
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
      width: `calc(${Math.max(12, results.keyWidth)}ch + 56px)`,
      sorted: sortOf('__key__'),
      cell: (row) => <KeyCell scope={scope} row={row} onOpen={onOpen} />,
    },
    ...shown.map((property): TableColumn<EntityResult> => {
      const column = met.get(property) ?? { property, ...unknown }
      const isNumber = column.type === 'integer' || column.type === 'double'
      return {
        id: property,
        title: (
          <>
            <SafeText text={property} /> <span class="data-type">{column.type}</span>
          </>
        ),
        width: `calc(${column.width}ch + 28px)`,
        isNumber,
        sorted: sortOf(property),
        cell: ({ entity }) => <ValueCell value={propertyOf(entity.properties, property)} column={column} />,
      }
    }),
  ]
  return (
    <VirtualTable
      label="Results"
      columns={columns}
      list={pages}
      count={pages.count}
      isComplete={pages.isComplete}
      rowAt={(index) => pages.row(index)}
      onView={onView}
      onOpen={({ entity }) => onOpen(entity.key)}
      onSort={onSort}
      isSelected={selection.has}
      onSelect={selection.toggle}
      onSelectAll={selection.toggleAll}
      isFresh={(row) => pages.fresh.has(keyTextOf(row))}
      shift={pages.shift}
    />
  )
}

interface KeyCellProps {
  readonly scope: EntityScope
  readonly row: EntityResult
  readonly onOpen: (key: ApiKey) => void
}

function KeyCell({ scope, row, onOpen }: KeyCellProps) {
  const text = keyTextOf(row)
  return (
    <span class="data-key">
      <button
        type="button"
        class="data-key-open mono"
        tabIndex={-1}
        title={`Open ${text}`}
        onClick={() => onOpen(row.entity.key)}
      >
        <SafeText text={text} />
      </button>
      <a
        class="data-key-inside"
        tabIndex={-1}
        href={addressOfEntity(scope, text)}
        title="Rows, log and versions of this entity"
      >
        inside
      </a>
    </span>
  )
}

/** The type stands in the head of the column; a value of another one has its own. */
function ValueCell({ value, column }: { readonly value: ApiValue | undefined; readonly column: Column }) {
  if (value === undefined) return <span class="visually-hidden">no value</span>
  const known = valueWords(value)
  const { type, words } = known
  const isOther = type !== column.type && type !== 'null'
  const isNumber = type === 'integer' || type === 'double'
  const behind = column.decimals - decimalsOf(known)
  return (
    <span
      class={`data-value is-${isNumber ? 'number' : type.replace(' ', '-')}`}
      style={isNumber && behind > 0 ? { paddingRight: `${behind}ch` } : undefined}
      title={value.excludeFromIndexes === true ? 'not indexed' : undefined}
    >
      {isOther && <span class="data-type">{type}</span>}
      {type === 'string' && words === '' ? <span class="muted">empty text</span> : <SafeText text={words} />}
      {value.excludeFromIndexes === true && <span class="data-unindexed">not indexed</span>}
    </span>
  )
}
