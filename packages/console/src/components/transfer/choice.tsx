/** Choices of the dialogs of import and export. */

import type { FixtureFormat } from '@sixtables/gateway/browser'
import { useId } from 'preact/hooks'
import { Button, Select } from '../controls.tsx'

export interface ChoiceProps<T extends string> {
  readonly legend: string
  readonly value: T
  readonly options: Readonly<Record<T, string>>
  readonly onChange: (value: T) => void
}

/** A choice between a few ways, as radio buttons. */
export function Choice<T extends string>({ legend, value, options, onChange }: ChoiceProps<T>) {
  const name = useId()
  return (
    <fieldset class="transfer-choice no-box">
      <legend>{legend}</legend>
      {(Object.entries(options) as [T, string][]).map(([option, words]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} /> {words}
        </label>
      ))}
    </fieldset>
  )
}

export const formats: readonly FixtureFormat[] = ['yaml', 'json', 'csv']

export function FormatChoice(props: Readonly<{ value: FixtureFormat; onChange: (format: FixtureFormat) => void }>) {
  return <Select label="Format" options={formats.map((one) => [one, one.toUpperCase()] as const)} {...props} />
}

export interface StartProps {
  readonly label: string
  readonly isBusy: boolean
  readonly disabled?: boolean
  readonly onCancel: () => void
}

/** The button that begins, and while it runs the one that cancels. */
export function Start({ label, isBusy, disabled = false, onCancel }: StartProps) {
  return (
    <>
      <Button label={label} look="primary" disabled={disabled || isBusy} />
      {isBusy && <Button label="Cancel" onClick={onCancel} />}
    </>
  )
}
