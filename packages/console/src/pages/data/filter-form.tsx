/** A query as a form: its filters, one a line, and a line with its limit, its order and its text. Without any of them it is empty. */
import type { ComparisonOperator, Order } from '@sixtables/gateway/browser'
import { Button, Check, Form, Select, Suggestions } from '../../components/controls.tsx'
import { safeLines, safeText } from '../../components/parts.tsx'
import { type Filter, type FilterType, filterTypes, type QueryForm, type WrongInput } from '../../model/query-form.ts'
import { type Column, type Types, typesOf } from './results.ts'

export interface FilterFormProps {
  readonly form: QueryForm
  /** Known properties of the kind, with their types. */
  readonly columns: readonly Column[]
  readonly text: string
  /** An input that makes no query. */
  readonly wrong: WrongInput | undefined
  readonly onChange: (form: QueryForm) => void
  readonly onRun: () => void
}

export function FilterForm({ form, columns, text, wrong, onChange, onRun }: FilterFormProps) {
  const types = typesOf(columns)
  const { filters, limit, keysOnly, order } = form
  return (
    <Form class="stack gap-1" onSubmit={onRun}>
      <Suggestions id="filter-properties" texts={[...columns.map(({ property }) => property), '__key__']} />
      {filters.map((filter, index) => (
        <FilterLine
          key={index}
          filter={filter}
          number={index + 1}
          types={types}
          wrong={wrong?.where === index ? wrong.message : undefined}
          onChange={(changed) => onChange({ ...form, filters: filters.with(index, changed) })}
          onRemove={() => onChange({ ...form, filters: filters.toSpliced(index, 1) })}
        />
      ))}
      {(filters.length > 0 || order.length > 0 || limit !== '' || keysOnly) && (
        <div class="toolbar">
          <label class="row">
            <span>Limit</span>
            <input
              inputMode="numeric"
              size={6}
              value={limit}
              aria-invalid={wrong?.where === 'limit'}
              onInput={(event) => onChange({ ...form, limit: event.currentTarget.value })}
            />
          </label>
          <Check label="Keys only" isOn={keysOnly} onSwitch={(isOn) => onChange({ ...form, keysOnly: isOn })} />
          {order.length > 0 && (
            <span class="muted">
              Sorted by {safeText(order.map(orderWords).join(', then '))}
              <Button
                label="Remove"
                look="quiet"
                aria-label="Remove the order"
                onClick={() => onChange({ ...form, order: [] })}
              />
            </span>
          )}
          {wrong?.where === 'limit' && <span class="field-problem small breaks bad-text">{wrong.message}</span>}
          {/* Enter in an input runs the query. */}
          <Button label="Run" class="visually-hidden" tabIndex={-1} />
          <code class="scrolls breaks muted" style={{ flex: '1 1 30ch', maxHeight: '5.4em', whiteSpace: 'pre-wrap' }}>
            {safeLines(text)}
          </code>
        </div>
      )}
    </Form>
  )
}

const orderWords = ({ property, direction }: Order): string =>
  direction === 'descending' ? `${property} descending` : property

export const emptyFilter: Filter = { property: '', operator: '=', value: { type: 'string', text: '' } }

const operators: readonly ComparisonOperator[] = ['=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'HAS ANCESTOR']

const hints: Partial<Record<FilterType, string>> = {
  integer: '42',
  double: '1.5',
  timestamp: '2030-01-31T23:59:59Z',
  blob: '3q2-7w',
  key: 'User:"ada"/ToDo:5',
  gql: "ARRAY(1, 'a')",
}

interface FilterLineProps {
  readonly filter: Filter
  readonly number: number
  readonly types: Types
  readonly wrong: string | undefined
  readonly onChange: (filter: Filter) => void
  readonly onRemove: () => void
}

function FilterLine({ filter, number, types, wrong, onChange, onRemove }: FilterLineProps) {
  const { property, operator, value } = filter
  const wrongId = `filter-wrong-${number}`
  return (
    <fieldset class="filter-line flex-wrap gap-1 row no-box">
      <legend class="visually-hidden">Filter {number}</legend>
      <input
        style={{ width: '16ch' }}
        aria-label="Property"
        placeholder="property"
        list="filter-properties"
        value={property}
        onInput={(event) => onChange(withProperty(filter, event.currentTarget.value, types))}
      />
      <Select
        look="bare"
        label="Operator"
        value={operator}
        options={operators}
        onChange={(one) => onChange(withOperator(filter, one))}
      />
      <Select
        look="bare"
        label="Type of the value"
        value={value.type}
        options={filterTypes.map((type) => [type, type === 'gql' ? 'GQL' : type] as const)}
        onChange={(type) => onChange({ ...filter, value: withType(value.text, type) })}
      />
      <ValueInput
        value={value}
        wrongId={wrong === undefined || property === '' ? undefined : wrongId}
        onChange={(changed) => onChange({ ...filter, value: changed })}
      />
      <Button label="Remove" look="quiet" aria-label={`Remove filter ${number}`} onClick={onRemove} />
      {wrong !== undefined && (
        <span class={property === '' ? 'muted' : 'field-problem small breaks bad-text whole'} id={wrongId}>
          {wrong}
        </span>
      )}
    </fieldset>
  )
}

interface ValueInputProps {
  readonly value: Filter['value']
  /** Element with the message, when the value is wrong. */
  readonly wrongId: string | undefined
  readonly onChange: (value: Filter['value']) => void
}

function ValueInput({ value: { type, text }, wrongId, onChange }: ValueInputProps) {
  if (type === 'boolean') {
    const set = (chosen: string): void => onChange({ type, text: chosen })
    return <Select look="bare" label="Value" value={text} options={['TRUE', 'FALSE']} onChange={set} />
  }
  return (
    <input
      style={{ flex: '1 1 12ch', maxWidth: '48ch', minWidth: '12ch' }}
      aria-label="Value"
      aria-invalid={wrongId !== undefined}
      aria-describedby={wrongId}
      disabled={type === 'null'}
      placeholder={hints[type] ?? ''}
      value={text}
      onInput={(event) => onChange({ type, text: event.currentTarget.value })}
    />
  )
}

/** A value that was not written yet gets the type that the property has in the entities that were read. */
function withProperty(filter: Filter, property: string, types: Types): Filter {
  const type = types.get(property)
  const isUntouched = filter.value.text === '' || filter.value.type === 'boolean'
  return type === undefined || type === 'null' || !isUntouched
    ? { ...filter, property }
    : { ...filter, property, value: withType(filter.value.text, type) }
}

/** A list is compared by IN, a key by HAS ANCESTOR. */
function withOperator(filter: Filter, operator: ComparisonOperator): Filter {
  const isEmpty = filter.value.text === ''
  if (operator.endsWith('IN') && isEmpty) return { ...filter, operator, value: { type: 'gql', text: 'ARRAY()' } }
  if (operator !== 'HAS ANCESTOR') return { ...filter, operator }
  return { property: '__key__', operator, value: isEmpty ? { type: 'key', text: '' } : filter.value }
}

function withType(text: string, type: FilterType): Filter['value'] {
  if (type === 'boolean') return { type, text: /^true$/i.test(text) ? 'TRUE' : 'FALSE' }
  return { type, text: type === 'null' ? '' : text }
}
