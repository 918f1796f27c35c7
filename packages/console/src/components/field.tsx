/** A control of a form with its name above it, and a hint below. */
import type { ComponentChildren } from 'preact'
import { useWholeText } from './use-whole-text.ts'

export interface FieldProps {
  readonly label: string
  readonly hint?: string
  readonly children: ComponentChildren
}

export function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class="field">
      <span class="field-label">{label}</span>
      {children}
      {hint !== undefined && <span class="field-hint muted">{hint}</span>}
    </label>
  )
}

export interface TextFieldProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'number'
  readonly placeholder?: string
  /** Id of a list of suggestions. */
  readonly list?: string
  readonly isRequired?: boolean
  /** Tells of a change when it is complete, by Enter or on leaving the field, and not of each letter. */
  readonly isWhole?: boolean
}

export function TextField({
  label,
  hint,
  value,
  onChange,
  type = 'text',
  isRequired,
  isWhole,
  ...rest
}: TextFieldProps) {
  const whole = useWholeText(value, onChange)
  const byLetter = {
    value,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value),
  }
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        type={type}
        step="any"
        autocomplete="off"
        spellcheck={false}
        required={isRequired ?? false}
        {...(isWhole === true ? whole : byLetter)}
        {...rest}
      />
    </Field>
  )
}

export interface ChoiceFieldProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  /** Values with the words that stand for them. */
  readonly choices: readonly (readonly [value: string, words: string])[]
  readonly onChange: (value: string) => void
}

export function ChoiceField({ label, hint, value, choices, onChange }: ChoiceFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  )
}
