/** A query as a form: its filters, one a line, and a line with its limit, its order and its text. Without any of them it is empty. */
import type { ComparisonOperator, Order } from '@sixtables/gateway/browser'
import { Button, Check, Form, Select, Suggestions } from '../../components/controls.tsx'
import { safeLines, safeText } from '../../components/parts.tsx'
import {
  type Filter,
  type FilterType,
  type FilterValue,
  filterTypes,
  type QueryForm,
  type WrongInput,
} from '../../model/query-form.ts'
import { type Column, type Types, typesOf } from './results.ts'

interface FilterFormProps {
  readonly form: QueryForm
  readonly columns: readonly Column[]
  readonly text: string
  readonly wrong: WrongInput | undefined
  readonly onChange: (form: QueryForm) => void
  readonly onRun: () => void
}

export function FilterForm(props: FilterFormProps) {
  const { form, columns, text, wrong, onChange, onRun } = props
  const { filters, limit, keysOnly, order } = form
  return (
    <Form class="stack gap-1" onSubmit={onRun}>
      <Suggestions id="filter-properties" texts={[...columns.map(({ property }) => property), '__key__']} />
      {filters.map((filter, index) => (
        <FilterLine key={index} {...{ ...props, filter, index }} />
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

function FilterLine({
  filter,
  index,
  ...props
}: FilterFormProps & { readonly filter: Filter; readonly index: number }) {
  const { form, columns } = props
  const { property, operator, value } = filter
  const wrong = props.wrong?.where === index ? props.wrong.message : undefined
  const wrongId = `filter-wrong-${index + 1}`
  const onChange = (changed: Filter): void => props.onChange({ ...form, filters: form.filters.with(index, changed) })
  const remove = (): void => props.onChange({ ...form, filters: form.filters.toSpliced(index, 1) })
  return (
    <fieldset class="filter-line flex-wrap gap-1 row no-box">
      <legend class="visually-hidden">Filter {index + 1}</legend>
      <input
        style={{ width: '16ch' }}
        aria-label="Property"
        placeholder="property"
        list="filter-properties"
        value={property}
        onInput={(event) => onChange(withProperty(filter, event.currentTarget.value, typesOf(columns)))}
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
      {valueInput(value, wrong === undefined || property === '' ? undefined : wrongId, (changed) =>
        onChange({ ...filter, value: changed }),
      )}
      <Button label="Remove" look="quiet" aria-label={`Remove filter ${index + 1}`} onClick={remove} />
      {wrong !== undefined && (
        <span class={property === '' ? 'muted' : 'field-problem small breaks bad-text whole'} id={wrongId}>
          {wrong}
        </span>
      )}
    </fieldset>
  )
}

/** @param wrongId - element with the message, when the value is wrong */
function valueInput({ type, text }: FilterValue, wrongId: string | undefined, onChange: (value: FilterValue) => void) {
  const set = (typed: string): void => onChange({ type, text: typed })
  if (type === 'boolean') {
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
      onInput={(event) => set(event.currentTarget.value)}
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

function withType(text: string, type: FilterType): FilterValue {
  if (type === 'boolean') return { type, text: /^true$/i.test(text) ? 'TRUE' : 'FALSE' }
  return { type, text: type === 'null' ? '' : text }
}
