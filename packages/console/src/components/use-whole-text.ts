/**
 * An input that tells its text when it is complete: by Enter, or on leaving it.
 *
 * Letters that are typed stay in the input until then, however often the page is drawn meanwhile.
 *
 *   <input {...useWholeText(value, onChange)} />
 */
import { useState } from 'preact/hooks'

export interface InputEventOf {
  readonly currentTarget: HTMLInputElement
}

export interface WholeText {
  readonly value: string
  readonly onInput: (event: InputEventOf) => void
  readonly onChange: (event: InputEventOf) => void
  readonly onBlur: () => void
}

export function useWholeText(value: string, onChange: (text: string) => void): WholeText {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  // The page has caught up with what was typed.
  if (typed === value) setTyped(undefined)
  return {
    value: typed ?? value,
    onInput: (event) => setTyped(event.currentTarget.value),
    onChange: (event) => onChange(event.currentTarget.value),
    onBlur: () => setTyped(undefined),
  }
}
