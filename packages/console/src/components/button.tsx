/**
 * Buttons of all pages.
 *
 *   <Button label="Restore" disabled={isBusy} onClick={restore} />        <Button label="Create" look="primary" />
 *
 * A button without `onClick` submits the form that it stands in.
 */
import type { ComponentChildren, ComponentProps } from 'preact'

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'label' | 'type' | 'class'> {
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

export interface SwitchProps {
  readonly label: string
  readonly isOn: boolean
  readonly onSwitch: (isOn: boolean) => void
  readonly disabled?: boolean
}

/** A button that stays pressed. */
export function Switch({ isOn, onSwitch, ...rest }: SwitchProps) {
  return <Button aria-pressed={isOn} onClick={() => onSwitch(!isOn)} {...rest} />
}
