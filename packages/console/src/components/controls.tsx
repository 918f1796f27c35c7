/**
 * Controls of forms.
 *
 *   <Button label="Restore" disabled={isBusy} onClick={restore} />        <Button label="Create" look="primary" />
 *   <TextField label="Kind" value={kind} onChange={setKind} />           <Select label="Unit" value={unit} options={units} onChange={setUnit} />
 *
 * A button without `onClick` submits the form that it stands in. A text field has its name above it, and a hint below; the name of a
 * select stands before it, unless it has the look of a field.
 */
import type { ComponentChildren, ComponentProps, TargetedEvent } from 'preact'
import { useState } from 'preact/hooks'
import { visibleText } from '../model/visible-text.ts'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'label' | 'type' | 'class'> {
  readonly label: ComponentChildren
  readonly look?: 'primary' | 'danger' | 'quiet' | undefined
  readonly class?: string
}

export function Button({ label, look, class: style, ...rest }: ButtonProps) {
  return (
    <button type={rest.onClick === undefined ? 'submit' : 'button'} class={style ?? look} {...rest}>
      {label}
    </button>
  )
}

interface SwitchProps {
  readonly label: ComponentChildren
  readonly isOn: boolean
  readonly onSwitch: (isOn: boolean) => void
  readonly disabled?: boolean
}

export function Switch({ isOn, onSwitch, ...rest }: SwitchProps) {
  return <Button aria-pressed={isOn} onClick={() => onSwitch(!isOn)} {...rest} />
}

export interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly children: ComponentChildren
}

export function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class="field">
      <span class="field-label small strong">{label}</span>
      {children}
      {hint !== undefined && <span class="small muted">{hint}</span>}
    </label>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'number'
  readonly min?: number
  readonly placeholder?: string
  readonly list?: string
  readonly required?: boolean
  /** Tells of a change when it is complete, by Enter or on leaving the field, and not of each letter. */
  readonly isWhole?: boolean
}

export function TextField({ label, hint, value, onChange, isWhole = false, ...rest }: TextFieldProps) {
  const whole = useWholeText(value, onChange)
  const byLetter = { value, onInput: (event: InputEventOf) => onChange(event.currentTarget.value) }
  return (
    <Field label={label} hint={hint}>
      <input type="text" step="any" autocomplete="off" spellcheck={false} {...(isWhole ? whole : byLetter)} {...rest} />
    </Field>
  )
}

export function Suggestions({ id, texts }: Readonly<{ id: string; texts: readonly string[] }>) {
  return (
    <datalist id={id}>
      {texts.map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>
  )
}

interface SelectProps<T extends string> {
  readonly label: string
  readonly value: T
  /** Values, or values with the words that stand for them, also as a record. A value that is none of them is offered, too. */
  readonly options: Readonly<Record<T, string>> | Iterable<T | readonly [value: T, words: string]>
  readonly onChange: (value: T) => void
  /** `line`: the name stands before it, the default; `bare`: for screen readers alone. */
  readonly look?: 'field' | 'line' | 'bare'
  readonly class?: string
}

export function Select<T extends string>(props: SelectProps<T>) {
  const { label, value, options, onChange, look = 'line', class: style } = props
  const all = Symbol.iterator in options ? options : (Object.entries(options) as [T, string][])
  const pairs = Array.from(all, (option) => (typeof option === 'string' ? ([option, option] as const) : option))
  const isKnown = value === '' || pairs.some(([one]) => one === value)
  const offered = isKnown ? pairs : [...pairs, [value, value] as const]
  const select = (
    <select
      aria-label={look === 'bare' ? label : undefined}
      class={look === 'line' ? undefined : style}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    >
      {offered.map(([one, words]) => (
        <option key={one} value={one}>
          {visibleText(words)}
        </option>
      ))}
    </select>
  )
  if (look === 'bare') return select
  if (look === 'field') return <Field label={label}>{select}</Field>
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the select.
    <label class={style}>
      {label} {select}
    </label>
  )
}

export function Check({ label, isOn, onSwitch, disabled = false }: SwitchProps) {
  return (
    <label>
      <input
        type="checkbox"
        style={{ marginRight: '6px' }}
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onSwitch(event.currentTarget.checked)}
      />
      {label}
    </label>
  )
}

export function Form({
  onSubmit,
  ...rest
}: Omit<ComponentProps<'form'>, 'onSubmit'> & { readonly onSubmit: () => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
      {...rest}
    />
  )
}

type InputEventOf = TargetedEvent<HTMLInputElement>

/**
 * Properties of an input that tells its text when it is complete: by Enter, or on leaving it. Letters that are typed stay in it until
 * then, however often the page is drawn meanwhile.
 */
export function useWholeText(value: string, onChange: (text: string) => void) {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  // The page has caught up with what was typed.
  if (typed === value) setTyped(undefined)
  return {
    value: typed ?? value,
    onInput: (event: InputEventOf) => setTyped(event.currentTarget.value),
    onChange: (event: InputEventOf) => onChange(event.currentTarget.value),
    onBlur: () => setTyped(undefined),
  }
}
