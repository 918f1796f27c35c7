/** The fields of a form: properties, their values, elements of arrays, properties of embedded entities, to any depth. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { typeWords } from '../../model/entity-difference.ts'
import { counted } from '../../model/numbers.ts'
import { emptyValue, type PropertyForm, type ValueForm, type ValueType, valueTypes } from '../../model/typed-json.ts'
import { converted } from '../../model/value-conversion.ts'
import { nameProblems, problemIn, problemsIn } from '../../model/value-problems.ts'
import { Button, Select } from '../controls.tsx'
import { Problem } from '../parts.tsx'
import type { EditorState } from './use-editor.ts'
import { ValueInputs } from './value-inputs.tsx'

interface FieldContext {
  /** The API's refusal, and the property that it is about. */
  readonly refused: EditorState['refused']
  readonly showsMeanings: boolean
  readonly home: ValueForm['partition']
}

interface ValueFieldProps {
  readonly value: ValueForm
  readonly name: string
  readonly problem: string | undefined
  readonly context: FieldContext
  readonly onChange: (value: ValueForm) => void
  readonly actions: ComponentChildren
  readonly isElement: boolean
}

function ValueField({ value, name, problem, context, onChange, actions, isElement }: ValueFieldProps) {
  const problemId = useId()
  const change = (part: Partial<ValueForm>): void => onChange({ ...value, ...part })
  return (
    <div class="value-field">
      <div class="value-line items-start gap-2 wrap">
        <TypeSelect {...{ value, name, context, onChange, isElement }} />
        <ValueInputs {...{ value, name }} home={context.home} problemId={problem && problemId} onChange={change} />
        <IndexFlag {...{ value, name, onChange }} />
        {context.showsMeanings && value.type !== 'array' && value.type !== 'vector' && (
          <label class="value-meaning muted nowrap pt-1">
            meaning{' '}
            <input
              aria-label={`Meaning of ${name}`}
              value={value.meaning}
              size={4}
              onInput={(event) => change({ meaning: event.currentTarget.value })}
            />
          </label>
        )}
        {actions}
      </div>
      <Problem text={problem} id={problemId} />
      {value.type === 'entity' && (
        <div class="value-nested">
          <PropertyFields
            properties={value.properties}
            within={name}
            context={context}
            onChange={(properties) => change({ properties })}
          />
        </div>
      )}
      {value.type === 'array' && (
        <PropertyFields
          properties={value.elements.map((element) => ({ name: '', value: element }))}
          within={name}
          context={context}
          areElements
          onChange={(items) => change({ elements: items.map((item) => item.value) })}
        />
      )}
    </div>
  )
}

/** The type; another one takes over of the value what makes sense. */
function TypeSelect({ value, name, context, onChange, isElement }: Omit<ValueFieldProps, 'actions' | 'problem'>) {
  const isOffered = (type: ValueType): boolean => type !== 'other' && !(isElement && ['array', 'vector'].includes(type))
  const change = (type: ValueType): void => {
    const form = converted(value, type, () => new Date())
    const isNewKey = form.type === 'key' && value.type !== 'key'
    onChange(isNewKey ? { ...form, partition: context.home } : form)
  }
  const types = valueTypes.filter((type) => isOffered(type) || type === value.type)
  const options = types.map((type) => [type, typeWords(type)] as const)
  return <Select look="bare" label={`Type of ${name}`} value={value.type} options={options} onChange={change} />
}

/** Whether the value is indexed; for an array, its elements. */
function IndexFlag({ value, name, onChange }: Pick<ValueFieldProps, 'value' | 'name' | 'onChange'>) {
  if (value.type === 'vector' || (value.type === 'array' && value.elements.length === 0)) return null
  const isIndexed = value.type === 'array' ? value.elements.some((one) => !one.isExcluded) : !value.isExcluded
  const toggle = (): void => {
    const isExcluded = isIndexed
    if (value.type !== 'array') onChange({ ...value, isExcluded })
    else onChange({ ...value, elements: value.elements.map((one) => ({ ...one, isExcluded })) })
  }
  return (
    <label class="muted nowrap pt-1">
      <input type="checkbox" aria-label={`Index ${name}`} checked={isIndexed} onChange={toggle} /> indexed
    </label>
  )
}

function elementLike(last: ValueForm | undefined): ValueForm {
  if (last === undefined || last.type === 'other') return emptyValue
  const text = last.type === 'boolean' || last.type === 'timestamp' ? last.text : ''
  return { ...emptyValue, type: last.type, text, isExcluded: last.isExcluded }
}

interface PropertyFieldsProps {
  readonly properties: readonly PropertyForm[]
  /** The property that holds them; empty for those of the entity itself. */
  readonly within: string
  readonly context: FieldContext
  /** They are the elements of an array, without names and in an order. */
  readonly areElements?: boolean
  readonly onChange: (properties: readonly PropertyForm[]) => void
}

export function PropertyFields(props: PropertyFieldsProps) {
  const { properties, within, context, areElements = false, onChange } = props
  const ofNames = areElements ? [] : nameProblems(properties)
  const refusalOf = (name: string) =>
    within === '' && context.refused?.property === name ? context.refused.message : undefined
  const isWrong = ({ name, value }: PropertyForm, i: number): boolean =>
    (refusalOf(name) ?? ofNames[i] ?? problemsIn(value)[0]) !== undefined
  const { drawn, more, showAdded } = useShownFields(
    properties.length,
    properties.findLastIndex(isWrong) + 1,
    areElements,
  )
  const List = areElements ? 'ol' : 'ul'
  const replace = (i: number, property: PropertyForm): void => onChange(properties.with(i, property))
  const add = (): void => {
    const value = areElements ? elementLike(properties.at(-1)?.value) : emptyValue
    onChange([...properties, { name: '', value: { ...value, partition: context.home } }])
    showAdded()
  }
  const to = within === '' ? '' : ` to ${within}`
  return (
    <List
      class={areElements ? 'value-nested value-elements stack' : 'property-fields stack'}
      aria-label={areElements ? `Elements of ${within}` : `Properties of the ${within || 'entity'}`}
    >
      {properties.slice(0, drawn).map(({ name, value }, i) => (
        <li key={i} class={`line-above pt-2 ${areElements ? '' : 'property-field items-start stack'}`}>
          {!areElements && (
            <input
              class="property-name mono"
              aria-label={`Name of property ${i + 1}${within === '' ? '' : ` of ${within}`}`}
              value={name}
              placeholder="name"
              spellcheck={false}
              onInput={(event) => replace(i, { name: event.currentTarget.value, value })}
            />
          )}
          <ValueField
            value={value}
            name={labelOf(name, i, props)}
            problem={refusalOf(name) ?? problemIn(value) ?? ofNames[i]}
            context={context}
            isElement={areElements}
            onChange={(changed) => replace(i, { name, value: changed })}
            actions={<FieldActions {...props} at={i} />}
          />
        </li>
      ))}
      <li class={areElements ? 'toolbar line-above pt-2' : 'toolbar'}>
        {more}
        <Button label={areElements ? `Add an element${to}` : `Add a property${to}`} onClick={add} />
      </li>
    </List>
  )
}

/** `title`, `address.zip`, `tags[2]` */
function labelOf(name: string, i: number, { within, areElements = false }: PropertyFieldsProps): string {
  if (areElements) return `${within}[${i}]`
  return name === '' ? `property ${i + 1}` : [within, name].filter(Boolean).join('.')
}

function FieldActions(props: PropertyFieldsProps & { readonly at: number }) {
  const { properties, areElements = false, at, onChange } = props
  const label = labelOf(properties[at]?.name ?? '', at, props)
  const move = (words: string, sign: string, to: number) => (
    <Button
      label={sign}
      aria-label={`Move ${label} ${words}`}
      disabled={to < 0 || to === properties.length}
      onClick={() => onChange(properties.toSpliced(at, 1).toSpliced(to, 0, ...properties.slice(at, at + 1)))}
    />
  )
  return (
    <span class="value-actions">
      {areElements && move('up', '↑', at - 1)}
      {areElements && move('down', '↓', at + 1)}
      <Button label="×" aria-label={`Remove ${label}`} onClick={() => onChange(properties.toSpliced(at, 1))} />
    </span>
  )
}

/** Fields that are shown at first, and with each further step. */
const shownAtFirst = 100
const shownMore = 200

/** Fields that are drawn in one frame: many of them at once would stop the page. */
const fieldsAtOnce = 25

/**
 * How many fields of a long list are shown: an entity may have thousands of properties, and an array as many elements. A field with a
 * problem, the last of which is `needed`, or one that is added, is shown with all before it.
 */
function useShownFields(count: number, needed: number, areElements: boolean) {
  const [wanted, setWanted] = useState(shownAtFirst)
  const [drawn, setDrawn] = useState(fieldsAtOnce)
  // They stay when the problem is mended.
  if (needed > wanted) setWanted(needed)
  const shown = Math.min(count, wanted)
  useEffect(() => {
    if (drawn >= shown) return
    const frame = requestAnimationFrame(() => setDrawn(drawn + fieldsAtOnce))
    return () => cancelAnimationFrame(frame)
  }, [drawn, shown])
  const words = `Show more of ${counted(count)} ${areElements ? 'elements' : 'properties'}`
  const more = <Button label={words} onClick={() => setWanted(shown + shownMore)} />
  return { drawn: Math.min(drawn, shown), more: shown < count ? more : null, showAdded: () => setWanted(count + 1) }
}
