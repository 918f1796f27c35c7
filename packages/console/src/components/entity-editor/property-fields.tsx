/** The fields of a form: properties, their values, elements of arrays, properties of embedded entities, to any depth. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { typeWords } from '../../model/entity-difference.ts'
import { counted } from '../../model/numbers.ts'
import { emptyValue, type PropertyForm, type ValueForm, type ValueType, valueTypes } from '../../model/typed-json.ts'
import { converted } from '../../model/value-conversion.ts'
import { Button, Select } from '../controls.tsx'
import { Problem } from '../parts.tsx'
import { type FieldContext, ValueInputs } from './value-inputs.tsx'

interface ValueFieldProps {
  readonly value: ValueForm
  /** In labels: `title`, `tags[2]`. */
  readonly name: string
  readonly path: readonly number[]
  readonly context: FieldContext
  readonly onChange: (value: ValueForm) => void
  /** Buttons at the end of its first line. */
  readonly actions: ComponentChildren
  readonly isElement?: boolean
}

function ValueField({ value, name, path, context, onChange, actions, isElement = false }: ValueFieldProps) {
  const problem = context.problems.get(path.join('.'))
  const problemId = `problem-${path.join('-')}`
  const change = (part: Partial<ValueForm>): void => onChange({ ...value, ...part })
  return (
    <div class="value-field">
      <div class="value-line items-start gap-2 wrap">
        <TypeSelect value={value} name={name} context={context} onChange={onChange} isElement={isElement} />
        <ValueInputs value={value} name={name} context={context} problemId={problem && problemId} onChange={change} />
        <IndexFlag value={value} name={name} onChange={onChange} />
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
            path={path}
            context={context}
            onChange={(properties) => change({ properties })}
          />
        </div>
      )}
      {value.type === 'array' && (
        <Elements value={value} name={name} path={path} context={context} onChange={onChange} />
      )}
    </div>
  )
}

/** The type; another one takes over of the value what makes sense. */
function TypeSelect({ value, name, context, onChange, isElement }: Omit<ValueFieldProps, 'actions' | 'path'>) {
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

function Elements({ value, name, path, context, onChange }: Omit<ValueFieldProps, 'actions'>) {
  const { elements } = value
  const { drawn, more, showAdded } = useShownFields(elements.length, 'elements', path, context)
  const set = (changed: readonly ValueForm[]): void => onChange({ ...value, elements: changed })
  const move = (i: number, by: -1 | 1): void => {
    set(elements.toSpliced(i, 1).toSpliced(i + by, 0, ...elements.slice(i, i + 1)))
  }
  return (
    <ol class="value-nested value-elements stack" aria-label={`Elements of ${name}`}>
      {elements.slice(0, drawn).map((element, i) => {
        const label = `${name}[${i}]`
        return (
          <li key={i} class="line-above pt-2">
            <ValueField
              value={element}
              name={label}
              path={[...path, i]}
              context={context}
              isElement
              onChange={(changed) => set(elements.with(i, changed))}
              actions={
                <span class="value-actions">
                  <Button label="↑" aria-label={`Move ${label} up`} disabled={i === 0} onClick={() => move(i, -1)} />
                  <Button
                    label="↓"
                    aria-label={`Move ${label} down`}
                    disabled={i === elements.length - 1}
                    onClick={() => move(i, 1)}
                  />
                  <Button label="×" aria-label={`Remove ${label}`} onClick={() => set(elements.toSpliced(i, 1))} />
                </span>
              }
            />
          </li>
        )
      })}
      <li class="toolbar line-above pt-2">
        {more}
        <Button
          label={`Add an element to ${name}`}
          onClick={() => {
            set([...elements, { ...elementLike(elements.at(-1)), partition: context.home }])
            showAdded()
          }}
        />
      </li>
    </ol>
  )
}

/** An empty element of the type of the one before it. */
function elementLike(last: ValueForm | undefined): ValueForm {
  if (last === undefined || last.type === 'other') return emptyValue
  const text = last.type === 'boolean' || last.type === 'timestamp' ? last.text : ''
  return { ...emptyValue, type: last.type, text, isExcluded: last.isExcluded }
}

interface PropertyFieldsProps {
  readonly properties: readonly PropertyForm[]
  /** The property that holds them; empty for those of the entity itself. */
  readonly within: string
  readonly path: readonly number[]
  readonly context: FieldContext
  readonly onChange: (properties: readonly PropertyForm[]) => void
}

export function PropertyFields({ properties, within, path, context, onChange }: PropertyFieldsProps) {
  const replace = (i: number, property: PropertyForm): void => onChange(properties.with(i, property))
  const { drawn, more, showAdded } = useShownFields(properties.length, 'properties', path, context)
  const place = within === '' ? 'entity' : within
  return (
    <ul class="property-fields stack" aria-label={`Properties of the ${place}`}>
      {properties.slice(0, drawn).map(({ name, value }, i) => {
        const label = within === '' ? name : `${within}.${name}`
        const shown = name === '' ? `property ${i + 1}` : label
        return (
          <li key={i} class="property-field items-start line-above pt-2 stack">
            <input
              class="property-name mono"
              aria-label={`Name of property ${i + 1}${within === '' ? '' : ` of ${within}`}`}
              value={name}
              placeholder="name"
              spellcheck={false}
              onInput={(event) => replace(i, { name: event.currentTarget.value, value })}
            />
            <ValueField
              value={value}
              name={shown}
              path={[...path, i]}
              context={context}
              onChange={(changed) => replace(i, { name, value: changed })}
              actions={
                <span class="value-actions">
                  <Button
                    label="×"
                    aria-label={`Remove ${shown}`}
                    onClick={() => onChange(properties.toSpliced(i, 1))}
                  />
                </span>
              }
            />
          </li>
        )
      })}
      <li class="toolbar">
        {more}
        <Button
          label={`Add a property${within === '' ? '' : ` to ${within}`}`}
          onClick={() => {
            onChange([...properties, { name: '', value: { ...emptyValue, partition: context.home } }])
            showAdded()
          }}
        />
      </li>
    </ul>
  )
}

/** Fields that are shown at first, and with each further step. */
const shownAtFirst = 100
const shownMore = 200

/** Fields that are drawn in one frame: many of them at once would stop the page. */
const fieldsAtOnce = 25

/**
 * How many fields of a long list are shown: an entity may have thousands of properties, and an array as many elements. A field with a
 * problem, or one that is added, is shown with all before it.
 *
 * @param path - place of the list, as in the places of problems
 */
function useShownFields(count: number, noun: string, path: readonly number[], { problems }: FieldContext) {
  const [wanted, setWanted] = useState(shownAtFirst)
  const [drawn, setDrawn] = useState(fieldsAtOnce)
  // They stay when the problem is mended.
  const needed = withProblem(path, problems)
  if (needed > wanted) setWanted(needed)
  const shown = Math.min(count, wanted)
  useEffect(() => {
    if (drawn >= shown) return
    const frame = requestAnimationFrame(() => setDrawn(drawn + fieldsAtOnce))
    return () => cancelAnimationFrame(frame)
  }, [drawn, shown])
  const more = <Button label={`Show more of ${counted(count)} ${noun}`} onClick={() => setWanted(shown + shownMore)} />
  return { drawn: Math.min(drawn, shown), more: shown < count ? more : null, showAdded: () => setWanted(count + 1) }
}

/** The number of fields up to the last one with a problem. */
function withProblem(path: readonly number[], problems: ReadonlyMap<string, string>): number {
  const above = path.map((place) => `${place}.`).join('')
  const inside = [...problems.keys()].filter((place) => place.startsWith(above))
  return Math.max(0, ...inside.map((place) => Number.parseInt(place.slice(above.length), 10) + 1))
}
