/** The table of a query's results: entities, keys, or the rows of a projection. */

import type { SelectStatement } from '@sixtables/gateway/browser'
import { useCallback } from 'preact/hooks'
import type { EntityResult } from '../../api/datastore.ts'
import { SafeText } from '../../components/text.tsx'
import { type TableColumn, VirtualTable } from '../../components/virtual-table.tsx'
import { formatKeyPath } from '../../model/key-text.ts'
import { addressOfEntity, type EntityScope } from '../../model/scope.ts'
import { type ApiKey, type ApiValue, propertyOf, valueWords } from '../../model/value-words.ts'
import type { Results } from './results.ts'
import type { Selection } from './selection.ts'

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

export function ResultsTable({ scope, statement, results, shown, selection, onSort, onOpen }: ResultsTableProps) {
  const { pages } = results
  const onView = useCallback((first: number, last: number) => pages.want(first, Math.max(first, last)), [pages])
  const sortOf = (property: string): 'ascending' | 'descending' | 'none' => {
    const [first] = statement.order
    return first?.property === property ? first.direction : 'none'
  }
  const widths = new Map(results.columns.map(({ property, width }) => [property, width]))
  const columns: TableColumn<EntityResult>[] = [
    {
      id: ' select',
      title: <span class="visually-hidden">Selected</span>,
      width: '34px',
      cell: (row) => (
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${formatKeyPath(row.entity.key.path)}`}
          checked={selection.has(row)}
          onClick={() => selection.toggle(row)}
        />
      ),
    },
    {
      id: '__key__',
      title: 'key',
      width: `calc(${Math.max(12, results.keyWidth)}ch + 56px)`,
      sorted: sortOf('__key__'),
      cell: ({ entity }) => <KeyCell scope={scope} apiKey={entity.key} onOpen={onOpen} />,
    },
    ...shown.map(
      (property): TableColumn<EntityResult> => ({
        id: property,
        title: <SafeText text={property} />,
        width: `calc(${widths.get(property) ?? 12}ch + 20px)`,
        sorted: sortOf(property),
        cell: ({ entity }) => <ValueCell value={propertyOf(entity.properties, property)} />,
      }),
    ),
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
      isFresh={(row) => pages.fresh.has(selection.idOf(row))}
      shift={pages.shift}
    />
  )
}

interface KeyCellProps {
  readonly scope: EntityScope
  readonly apiKey: ApiKey
  readonly onOpen: (key: ApiKey) => void
}

function KeyCell({ scope, apiKey, onOpen }: KeyCellProps) {
  const text = formatKeyPath(apiKey.path)
  return (
    <span class="data-key">
      <button
        type="button"
        class="data-key-open mono"
        tabIndex={-1}
        title={`Open ${text}`}
        onClick={() => onOpen(apiKey)}
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

function ValueCell({ value }: { readonly value: ApiValue | undefined }) {
  if (value === undefined) return <span class="visually-hidden">no value</span>
  const { type, words } = valueWords(value)
  const isBare = type === 'string' || type === 'integer' || type === 'double'
  return (
    <span
      class={`data-value is-${type.replace(' ', '-')}`}
      title={value.excludeFromIndexes === true ? 'not indexed' : undefined}
    >
      {!isBare && type !== 'boolean' && type !== 'null' && <span class="data-type">{type}</span>}
      {type === 'string' && words === '' ? <span class="muted">empty text</span> : <SafeText text={words} />}
      {value.excludeFromIndexes === true && <span class="data-unindexed">not indexed</span>}
    </span>
  )
}
