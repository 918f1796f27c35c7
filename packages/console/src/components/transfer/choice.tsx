/** A choice between a few ways, as radio buttons. */
import { useId } from 'preact/hooks'

export interface ChoiceProps<T extends string> {
  readonly legend: string
  readonly value: T
  readonly options: Readonly<Record<T, string>>
  readonly onChange: (value: T) => void
}

export function Choice<T extends string>({ legend, value, options, onChange }: ChoiceProps<T>) {
  const name = useId()
  return (
    <fieldset class="transfer-choice">
      <legend>{legend}</legend>
      {(Object.entries(options) as [T, string][]).map(([option, words]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} /> {words}
        </label>
      ))}
    </fieldset>
  )
}
