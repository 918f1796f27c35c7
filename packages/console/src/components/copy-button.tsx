/** Copies a text; says that it did. */
import { useState } from 'preact/hooks'

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [result, setResult] = useState('')
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setResult('Copied'),
      () => setResult('The browser did not allow it'),
    )
  }
  return (
    <span class="copy-button">
      <button type="button" onClick={copy} onBlur={() => setResult('')}>
        {label}
      </button>
      <span role="status" class="copy-result">
        {result}
      </span>
    </span>
  )
}
